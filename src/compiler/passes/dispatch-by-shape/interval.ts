/** Sizes from the first number up to, but without, the second. */
export type Interval = readonly [from: number, below: number];

/** Bounds of a dimension; both ends are included. */
export interface DimRange {
  /** The least size that it may have. */
  readonly min: number;
  /** The largest size that it may have; Infinity where nothing is known. */
  readonly max: number;
}

/** Ends that an interval leaves out are those of the dimension's bounds. */
interface Sizes {
  /** The least size. */
  readonly min?: number | undefined;
  /** The largest size, which is included. */
  readonly max?: number | undefined;
}

/** Intervals of `step` sizes each. */
export interface UniformIntervals extends Sizes {
  /** Tells rules apart. */
  readonly kind: 'uniform';
  /** Sizes of one interval. */
  readonly step: number;
}

/** Intervals that grow by the factor `base`, 2 if it is absent. */
export interface LogarithmicIntervals extends Sizes {
  /** Tells rules apart. */
  readonly kind: 'logarithmic';
  /** The factor from one bound to the next. Default 2. */
  readonly base?: number | undefined;
}

/**
 * The intervals of a dimension: a list in ascending order, a rule, or a function that makes a list of
 * what is known of the dimension.
 */
export type AxisDispatcher =
  | readonly Interval[]
  | UniformIntervals
  | LogarithmicIntervals
  | ((known: DimRange) => readonly Interval[]);

export function formatInterval([from, below]: Interval): string {
  return `[${from}, ${below}]`;
}
