import { MAX_DIMENSION } from '../../../core/dims/dim.ts';

/**
 * Sizes from the first number up to, but without, the second. That of the last interval may be Infinity: the
 * interval is open then.
 */
export type Interval = readonly [from: number, below: number];

/** Bounds of a dimension; both ends are included. */
export interface DimRange {
  readonly min: number;
  /** The largest size that it may have; Infinity where nothing is known. */
  readonly max: number;
}

/** Ends that an interval leaves out are those of the dimension's bounds. */
interface Sizes {
  readonly min?: number | undefined;
  /** The largest size, which is included. */
  readonly max?: number | undefined;
}

interface RuleSizes extends Sizes {
  /** True: one more interval has all sizes above `max`. */
  readonly open?: boolean | undefined;
}

/** Intervals of `step` sizes each. */
export interface UniformIntervals extends RuleSizes {
  /** Tells rules apart. */
  readonly kind: 'uniform';
  readonly step: number;
}

/** Intervals that grow by the factor `base`, 2 if it is absent. */
export interface LogarithmicIntervals extends RuleSizes {
  /** Tells rules apart. */
  readonly kind: 'logarithmic';
  /** The factor from one bound to the next. Default 2. */
  readonly base?: number | undefined;
}

/** Sizes by a function that tells the clone of each. */
export interface ChosenIntervals extends Sizes {
  /** Tells rules apart. */
  readonly kind: 'chosen';
  /** The index of the clone for a size, an integer from 0 up; undefined: the function as it is. */
  readonly choose: (size: number) => number | undefined;
}

/** An interval as it is written: `[257, null]` and `{ min: 257 }` are open. Both ends of the latter are included. */
export type WrittenInterval =
  | Interval
  | readonly [from: number, below: null]
  | { readonly min: number; readonly max?: number | undefined };

/** A list in ascending order, a rule, or a function that makes a list of what is known of the dimension. */
export type IntervalDispatcher =
  | readonly WrittenInterval[]
  | UniformIntervals
  | LogarithmicIntervals
  | ChosenIntervals
  | ((known: DimRange) => readonly WrittenInterval[]);

export type AxisDispatcher =
  | IntervalDispatcher
  | {
      /** The sizes that have clones. */
      readonly intervals: IntervalDispatcher;
      /** All other sizes run the function as it is. Without it they are refused. */
      readonly otherwise: 'generic';
    };

/** An interval of sizes, and the clone that is for them. */
export interface SizeInterval {
  readonly interval: Interval;
  /** Intervals of one clone have the same; undefined: the function as it is. */
  readonly clone: number | undefined;
  /** The sizes that the clone is made for: from the least to the largest of all its intervals. */
  readonly facts: Interval;
}

export function formatInterval([from, below]: Interval): string {
  return `[${from}, ${below > MAX_DIMENSION ? 'Infinity' : below}]`;
}
