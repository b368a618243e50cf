import type { Dim } from '../dims/dim.ts';

/** The key of the metadata that holds the {@link IndexCheck}s of an executable, as JSON. */
export const INDEX_CHECKS = 'indices';

/**
 * A demand on indices that come in with a call: `lower <= index < below`, element by
 * element. Bounds are one for all elements, or one for each place along the last axis.
 */
export interface IndexCheck {
  readonly function: string;
  /** The parameter that holds the indices, counted from 0. */
  readonly parameter?: number | undefined;
  /** In place of a parameter: the least and the largest of constant indices, for each of the bounds. */
  readonly values?: readonly number[] | undefined;
  /** The reader of the indices, for messages: `node "embed" (Gather)`. */
  readonly where: string;
  /** The least index allowed. Symbols are those of the function's parameters, and of `sizes`. */
  readonly lower: readonly Dim[];
  /** The least number that is too large. */
  readonly below: readonly Dim[];
  /** An index that is allowed all the same. */
  readonly except?: number | undefined;
  readonly sizes?: Readonly<Record<string, ElementOfParameter>> | undefined;
}

/** An element of an integer tensor that a function is called with. */
interface ElementOfParameter {
  /** The parameter, counted from 0. */
  readonly parameter: number;
  /** The place of the element, row-major. */
  readonly element: number;
}

/** Numbers that indices have to keep to. */
interface IndexBounds {
  readonly lower: readonly number[];
  readonly below: readonly number[];
  readonly except?: number | undefined;
}

interface StrayIndex {
  readonly value: number | bigint;
  /** The number of the element in the tensor of indices, row-major. */
  readonly element: number;
  readonly lower: number;
  readonly below: number;
}

/** The first index that is out of bounds. */
export function findStrayIndex(
  indices: ArrayLike<number | bigint>,
  { lower, below, except }: IndexBounds,
): StrayIndex | undefined {
  const period = lower.length;
  for (let element = 0; element < indices.length; element++) {
    const value = indices[element] ?? 0;
    const least = lower[element % period] ?? 0;
    const end = below[element % period] ?? 0;
    if (value >= least && value < end) continue;
    if (except !== undefined && Number(value) === except) continue;
    return { value, element, lower: least, below: end };
  }
  return undefined;
}

/** `index 7 as element (0, 3)`, and what was expected. */
export function describeStray(
  { value, element, lower, below }: StrayIndex,
  shape?: readonly number[],
): { readonly got: string; readonly expected: string } {
  const place: number[] = [];
  let rest = element;
  for (const size of shape?.toReversed() ?? []) {
    place.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  const where = place.length === 0 ? '' : ` as element (${place.join(', ')})`;
  const expected = below > lower ? `one from ${lower} to ${below - 1}` : 'none: the axis is empty';
  return { got: `index ${value}${where}`, expected };
}
