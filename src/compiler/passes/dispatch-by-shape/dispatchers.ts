import { UsageError } from '../../../core/errors.ts';
import type { DimRange, Interval, LogarithmicIntervals, UniformIntervals } from './interval.ts';

/** More intervals than this along one axis are taken for a mistake. */
const MAX_INTERVALS = 4096;

/** Intervals of `step` sizes each: `uniform({ min: 1, max: 6, step: 2 })` is 1–2, 3–4, 5–6. */
export function uniform(sizes: Omit<UniformIntervals, 'kind'>): UniformIntervals {
  requireStep(sizes.step);
  return { ...sizes, kind: 'uniform' };
}

/**
 * Intervals that grow by a factor: `logarithmic({ min: 1, max: 15, base: 2 })` is 1, 2–3, 4–7, 8–15.
 * They end before the powers of the base, wherever they begin.
 */
export function logarithmic(sizes: Omit<LogarithmicIntervals, 'kind'> = {}): LogarithmicIntervals {
  requireBase(sizes.base ?? 2);
  return { ...sizes, kind: 'logarithmic' };
}

/** The intervals of a rule; undefined for what is none. Throws UsageError for wrong sizes. */
export function ruleIntervals(
  rule: UniformIntervals | LogarithmicIntervals,
  known: DimRange,
): Interval[] | undefined {
  // Rules come as data from elsewhere, too.
  const { kind } = (rule as Partial<typeof rule> | null) ?? {};
  if (kind === 'uniform' && rule.kind === 'uniform') {
    const { step } = rule;
    requireStep(step);
    return split(kind, { sizes: rule, known, next: (from) => from + step });
  }
  if (kind !== 'logarithmic' || rule.kind !== 'logarithmic') return undefined;
  const { base = 2 } = rule;
  requireBase(base);
  const next = (from: number): number => {
    let power = 1;
    while (power <= from) power *= base;
    return power;
  };
  return split(kind, { sizes: rule, known, next });
}

function requireStep(step: number): void {
  requireInteger('uniform', { name: 'step', value: step, least: 1 });
}

function requireBase(base: number): void {
  requireInteger('logarithmic', { name: 'base', value: base, least: 2 });
}

interface Split {
  readonly sizes: Pick<UniformIntervals, 'min' | 'max'>;
  readonly known: DimRange;
  /** Where the interval ends that begins at a size. */
  readonly next: (from: number) => number;
}

function split(where: string, { sizes, known, next }: Split): Interval[] {
  const { min = known.min, max = known.max } = sizes;
  requireInteger(where, { name: 'min', value: min, least: 0 });
  requireInteger(where, { name: 'max', value: max, least: min });
  const intervals: Interval[] = [];
  for (let from = min; from <= max; ) {
    if (intervals.length === MAX_INTERVALS) {
      const got = `more than ${MAX_INTERVALS} intervals from ${min} to ${max}`;
      const remedy = 'Give a smaller max, or bounds of the dimension.';
      throw new UsageError({ where, got, expected: 'fewer', remedy });
    }
    const below = Math.min(next(from), max + 1);
    intervals.push([from, below]);
    from = below;
  }
  return intervals;
}

function requireInteger(
  where: string,
  { name, value, least }: { name: string; value: number; least: number },
): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  const expected = `an integer from ${least} up`;
  throw new UsageError({ where, got: `${value} as ${name}`, expected });
}
