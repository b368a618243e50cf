import { MAX_DIMENSION } from '../../../core/dims/dim.ts';
import { UsageError } from '../../../core/errors.ts';
import { chosenIntervals, ruleIntervals } from './dispatchers.ts';
import {
  type AxisDispatcher,
  type DimRange,
  formatInterval,
  type Interval,
  type IntervalDispatcher,
  type SizeInterval,
  type WrittenInterval,
} from './interval.ts';

/**
 * The intervals of a dispatcher. Throws UsageError for those that are empty or overlap, and for what
 * is no dispatcher: it may come as data from elsewhere.
 */
export function intervalsOf(
  dispatcher: AxisDispatcher,
  known: DimRange,
  where: string,
): readonly SizeInterval[] {
  if (!isOpenEnded(dispatcher)) return sizeIntervals(dispatcher, known, where);
  if (dispatcher.otherwise !== 'generic') {
    const got = `otherwise ${JSON.stringify(dispatcher.otherwise)}`;
    throw new UsageError({ where, got, expected: '"generic", or nothing' });
  }
  return withGeneric(sizeIntervals(dispatcher.intervals, known, where));
}

/** Returns true if sizes outside of all intervals are refused. */
export function isClosed(intervals: readonly SizeInterval[]): boolean {
  return intervals.every(({ clone }) => clone !== undefined);
}

function sizeIntervals(
  dispatcher: IntervalDispatcher,
  known: DimRange,
  where: string,
): readonly SizeInterval[] {
  const intervals = listOf(dispatcher, known, where);
  if (intervals.length === 0) {
    throw new UsageError({ where, got: 'no intervals', expected: 'at least one' });
  }
  let end = 0;
  for (const { interval } of intervals) {
    const [from, below] = interval;
    if (from < end) {
      const got = `${formatInterval(interval)} after sizes below ${end}`;
      throw new UsageError({ where, got, expected: 'intervals in ascending order, from 0 up' });
    }
    end = below;
  }
  return intervals;
}

/** With the sizes that no interval has, which run the function as it is. */
function withGeneric(intervals: readonly SizeInterval[]): SizeInterval[] {
  const all: SizeInterval[] = [];
  let end = 0;
  const fill = (below: number): void => {
    const interval = [end, below] as const;
    if (end < below) all.push({ interval, clone: undefined, facts: interval });
  };
  for (const one of intervals) {
    fill(one.interval[0]);
    all.push(one);
    end = one.interval[1];
  }
  fill(MAX_DIMENSION + 1);
  return all;
}

function listOf(
  dispatcher: IntervalDispatcher,
  known: DimRange,
  where: string,
): readonly SizeInterval[] {
  const plain = (written: readonly WrittenInterval[]): SizeInterval[] =>
    written.map((one, clone) => {
      const interval = intervalOf(one, where);
      return { interval, clone, facts: interval };
    });
  if (typeof dispatcher === 'function') return plain(dispatcher(known));
  if (isList(dispatcher)) return plain(dispatcher);
  if (dispatcher?.kind === 'chosen') return chosenIntervals(dispatcher, known);
  const intervals = ruleIntervals(dispatcher, known);
  if (intervals !== undefined) return plain(intervals);
  const expected = 'a list of [from, below], or a rule of kind uniform or logarithmic';
  throw new UsageError({ where, got: formatArgument(dispatcher), expected });
}

/** Throws UsageError for what is no interval. */
function intervalOf(written: WrittenInterval, where: string): Interval {
  const [from, below] = isPair(written) ? written : endsOf(written);
  // JSON has no Infinity.
  const isOpen = below === Infinity || below === null;
  if (isSize(from) && isOpen) return [from, MAX_DIMENSION + 1];
  if (isSize(from) && isSize(below) && from < below) return [from, below];
  const expected =
    '[from, below] with integers, from less than below, which may be null for no end';
  throw new UsageError({ where, got: formatArgument(written), expected });
}

function endsOf(written: unknown): readonly unknown[] {
  if (typeof written !== 'object' || written === null || !('min' in written)) return [];
  const max = 'max' in written ? written.max : undefined;
  return [written.min, max === undefined ? Infinity : Number(max) + 1];
}

function isList(dispatcher: IntervalDispatcher): dispatcher is readonly WrittenInterval[] {
  return Array.isArray(dispatcher);
}

function isOpenEnded(
  dispatcher: AxisDispatcher,
): dispatcher is Extract<AxisDispatcher, { readonly otherwise: unknown }> {
  return typeof dispatcher === 'object' && dispatcher !== null && 'otherwise' in dispatcher;
}

function isPair(interval: unknown): interval is readonly unknown[] {
  return Array.isArray(interval) && interval.length === 2;
}

function isSize(size: unknown): size is number {
  return Number.isSafeInteger(size);
}

function formatArgument(value: unknown): string {
  if (isPair(value)) return `[${value.map(String).join(', ')}]`;
  return JSON.stringify(value) ?? String(value);
}
