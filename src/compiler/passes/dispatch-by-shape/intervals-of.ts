import { UsageError } from '../../../core/errors.ts';
import { ruleIntervals } from './dispatchers.ts';
import { type AxisDispatcher, type DimRange, formatInterval, type Interval } from './interval.ts';

/**
 * The intervals of a dispatcher. Throws UsageError for those that are empty or overlap, and for what
 * is no dispatcher: it may come as data from elsewhere.
 */
export function intervalsOf(
  dispatcher: AxisDispatcher,
  known: DimRange,
  where: string,
): readonly Interval[] {
  const intervals = listOf(dispatcher, known, where);
  if (intervals.length === 0) {
    throw new UsageError({ where, got: 'no intervals', expected: 'at least one' });
  }
  let end = 0;
  for (const interval of intervals) {
    const [from, below] = isPair(interval) ? interval : [];
    if (!isSize(from) || !isSize(below) || from >= below) {
      const expected = '[from, below] with integers, from less than below';
      throw new UsageError({ where, got: formatGiven(interval), expected });
    }
    if (from < end) {
      const got = `${formatInterval(interval)} after sizes below ${end}`;
      throw new UsageError({ where, got, expected: 'intervals in ascending order, from 0 up' });
    }
    end = below;
  }
  return intervals;
}

function listOf(dispatcher: AxisDispatcher, known: DimRange, where: string): readonly Interval[] {
  if (typeof dispatcher === 'function') return dispatcher(known);
  if (isList(dispatcher)) return dispatcher;
  const intervals = ruleIntervals(dispatcher, known);
  if (intervals !== undefined) return intervals;
  const expected = 'a list of [from, below], or a rule of kind uniform or logarithmic';
  throw new UsageError({ where, got: formatGiven(dispatcher), expected });
}

function isList(dispatcher: AxisDispatcher): dispatcher is readonly Interval[] {
  return Array.isArray(dispatcher);
}

function isPair(interval: unknown): interval is readonly unknown[] {
  return Array.isArray(interval) && interval.length === 2;
}

function isSize(size: unknown): size is number {
  return Number.isSafeInteger(size);
}

function formatGiven(value: unknown): string {
  if (isPair(value)) return `[${value.map(String).join(', ')}]`;
  return JSON.stringify(value) ?? String(value);
}
