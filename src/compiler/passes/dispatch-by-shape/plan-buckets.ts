import { boundsOfDim } from '../../../core/dims/dim-algebra.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { VarExpr } from '../../ir/expr.ts';
import type { DimRange, Interval, SizeInterval } from './interval.ts';

/** An axis of a parameter by whose size a function is dispatched. */
export interface DispatchAxis {
  readonly param: VarExpr;
  readonly axis: number;
  readonly dim: Dim;
  readonly intervals: readonly SizeInterval[];
}

/** Ranges of the symbols, by name. */
export type Ranges = ReadonlyMap<string, DimRange>;

/** Which clone is for which sizes. */
export type BucketTree = BucketLeaf | BucketSplit | GenericLeaf;

export interface BucketLeaf {
  readonly kind: 'leaf';
  readonly ranges: Ranges;
  /** Leaves of one clone have the same: its index along each axis. */
  readonly clone: string;
}

/** Sizes that run the function as it is. */
interface GenericLeaf {
  readonly kind: 'generic';
}

export interface BucketSplit {
  readonly kind: 'split';
  readonly axis: DispatchAxis;
  /** The branches, in ascending order of their intervals. */
  readonly branches: readonly { readonly interval: Interval; readonly next: BucketTree }[];
}

/**
 * One bucket for each combination of intervals, but for those that no sizes can be in: those outside
 * of what is known of a dimension, and those whose axes share a symbol and would have it differ.
 * Undefined when no combination is left.
 */
export function planBuckets(
  axes: readonly DispatchAxis[],
  known: Ranges,
  clones: readonly number[] = [],
): BucketTree | undefined {
  const [axis, ...others] = axes;
  if (axis === undefined) return { kind: 'leaf', ranges: known, clone: clones.join() };
  const branches = axis.intervals.flatMap(({ interval, clone, facts }) => {
    // Of all intervals of the clone: it does not depend on which of them a size is in.
    const narrowed = narrow(known, axis.dim, interval) && narrow(known, axis.dim, facts);
    if (narrowed === undefined) return [];
    const next: BucketTree | undefined =
      clone === undefined ? { kind: 'generic' } : planBuckets(others, narrowed, [...clones, clone]);
    return next === undefined ? [] : [{ interval, next }];
  });
  return branches.length === 0 ? undefined : { kind: 'split', axis, branches };
}

/** Facts that follow from a dimension in an interval; undefined when it cannot be there. */
function narrow(known: Ranges, dim: Dim, [from, below]: Interval): Ranges | undefined {
  const { min, max } = rangeOf(dim, known);
  if (max < from || min >= below) return undefined;
  if (typeof dim !== 'string') return known;
  const range = { min: Math.max(min, from), max: Math.min(max, below - 1) };
  return new Map([...known, [dim, range]]);
}

/** The least and the largest size of a dimension. */
export function rangeOf(dim: Dim, known: Ranges): DimRange {
  const [min, max] = boundsOfDim(dim, known);
  return { min, max };
}

/** The leaves from left to right. */
export function leavesOf(tree: BucketTree): readonly BucketLeaf[] {
  if (tree.kind === 'leaf') return [tree];
  if (tree.kind === 'generic') return [];
  return tree.branches.flatMap(({ next }) => leavesOf(next));
}
