/** Values of symbolic dimensions by name. */
export type Dims = Readonly<Record<string, number>>;

/**
 * Intervals `[from, below]` of sizes, or a rule that makes them, by the names of a function and of an
 * input, and by axis.
 */
export type Dispatch = Readonly<Record<string, InputDispatch>>;

/** Intervals of sizes by the name of an input and by axis. */
type InputDispatch = Readonly<Record<string, Readonly<Record<number, SizeIntervals>>>>;

/** Intervals of sizes; with `otherwise`, all other sizes run the model as it is instead of being refused. */
type SizeIntervals = SizeRule | { readonly intervals: SizeRule; readonly otherwise: 'generic' };

/**
 * Of a rule, `min` and `max`, which are included, come from the model where they are absent. The last interval
 * may be open: `[257, Infinity]`, `{ min: 257 }`, or `open: true` of a rule.
 */
type SizeRule =
  | readonly (
      | readonly [from: number, below: number]
      | { readonly min: number; readonly max?: number }
    )[]
  | {
      readonly kind: 'uniform';
      readonly step: number;
      readonly min?: number;
      readonly max?: number;
      readonly open?: boolean;
    }
  | {
      readonly kind: 'logarithmic';
      readonly base?: number;
      readonly min?: number;
      readonly max?: number;
      readonly open?: boolean;
    };
