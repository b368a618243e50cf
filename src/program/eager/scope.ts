import type { ArrayState } from '../array-state.ts';
import { requireCount, requireKind } from '../../core/check-options.ts';
import { disposeState } from './pending.ts';
import { NdArray } from '../nd-array.ts';
import { leavesOf } from '../data/tree.ts';
import { isValueLeaf } from '../values.ts';

/** Arrays that were made in the scopes that are open, the innermost last. */
const SCOPES: Set<ArrayState>[] = [];

/** An eager array belongs to the scope that it is made in. */
export function noteInScope(state: ArrayState): void {
  SCOPES.at(-1)?.add(state);
}

/** Does some work; gives its result, and the arrays that it made. */
export function recordArrays<T>(work: () => T): {
  readonly result: T;
  readonly made: Set<ArrayState>;
} {
  const made = new Set<ArrayState>();
  SCOPES.push(made);
  try {
    return { result: work(), made };
  } finally {
    SCOPES.splice(SCOPES.lastIndexOf(made), 1);
  }
}

/** Arrays that leave a scope belong to the one around it. */
export function passOn(states: Iterable<ArrayState>): void {
  for (const state of states) noteInScope(state);
}

/**
 * Does some work, and disposes of all eager arrays that it made, but of those that it returns: an array, or objects
 * and arrays of such.
 *
 * ```ts
 * weights = scope(() => weights.sub(gradient.mul(rate)));
 * ```
 */
export function scope<const R>(work: () => R): R {
  requireCount('scope', arguments, 1);
  requireKind('scope', 'function', ['work that is', work]);
  const { result, made } = recordArrays(work);
  const kept = new Set<ArrayState>();
  for (const { leaf } of result === undefined ? [] : leavesOf(result, isValueLeaf)) {
    if (leaf instanceof NdArray) kept.add(leaf.state);
  }
  passOn([...kept].filter((state) => made.has(state)));
  for (const state of made) if (!kept.has(state)) disposeState(state);
  return result;
}
