import { UsageError } from '../../core/errors.ts';

/** Sizes from the first number up to, but without, the second. */
export type Interval = readonly [from: number, below: number];

/** What is known of a dimension; both ends are included. */
export interface DimRange {
  readonly min: number;
  readonly max: number;
}

/**
 * The intervals of a dimension: a list in ascending order, or a function that makes one of what is
 * known of the dimension.
 */
export type AxisDispatcher = readonly Interval[] | ((known: DimRange) => readonly Interval[]);

/** The intervals of a dispatcher. Throws UsageError for those that are empty or overlap. */
export function intervalsOf(
  dispatcher: AxisDispatcher,
  known: DimRange,
  where: string,
): readonly Interval[] {
  const intervals = typeof dispatcher === 'function' ? dispatcher(known) : dispatcher;
  if (intervals.length === 0) {
    throw new UsageError({ where, got: 'no intervals', expected: 'at least one' });
  }
  let end = 0;
  for (const interval of intervals) {
    const [from, below] = interval;
    if (!Number.isSafeInteger(from) || !Number.isSafeInteger(below) || from >= below) {
      const expected = '[from, below] with integers, from less than below';
      throw new UsageError({ where, got: formatInterval(interval), expected });
    }
    if (from < end) {
      const got = `${formatInterval(interval)} after sizes below ${end}`;
      throw new UsageError({ where, got, expected: 'intervals in ascending order, from 0 up' });
    }
    end = below;
  }
  return intervals;
}

export function formatInterval([from, below]: Interval): string {
  return `[${from}, ${below}]`;
}
