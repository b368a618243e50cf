import { checkOptions } from '../../../core/check-options.ts';
import { MAX_DIMENSION } from '../../../core/dims/dim.ts';
import { UsageError } from '../../../core/errors.ts';
import {
  type ChosenIntervals,
  type DimRange,
  type Interval,
  type LogarithmicIntervals,
  type SizeInterval,
  type UniformIntervals,
} from './interval.ts';

/** More intervals than this along one axis are taken for a mistake. */
const MAX_INTERVALS = 4096;

const SIZES = { min: 'number', max: 'number' } as const;
const RULE_SIZES = { ...SIZES, open: 'boolean' } as const;

/** Intervals of `step` sizes each: `uniform({ min: 1, max: 6, step: 2 })` is 1–2, 3–4, 5–6. */
export function uniform(sizes: Omit<UniformIntervals, 'kind'>): UniformIntervals {
  checkOptions<typeof sizes>('uniform', sizes, { ...RULE_SIZES, step: 'number' });
  requireStep(sizes.step);
  return { ...sizes, kind: 'uniform' };
}

/**
 * Intervals that grow by a factor: `logarithmic({ min: 1, max: 15, base: 2 })` is 1, 2–3, 4–7, 8–15.
 * They end before the powers of the base, wherever they begin.
 */
export function logarithmic(sizes: Omit<LogarithmicIntervals, 'kind'> = {}): LogarithmicIntervals {
  checkOptions<typeof sizes>('logarithmic', sizes, { ...RULE_SIZES, base: 'number' });
  requireBase(sizes.base ?? 2);
  return { ...sizes, kind: 'logarithmic' };
}

/**
 * Intervals by a function from sizes to the index of their clone: `chosen((size) => (size % 8 === 0 ? 0 : 1))`. It is
 * asked while compiling, for each size from `min` to `max`, or for 4096 sizes where there is no `max`: the larger
 * ones are in the last interval. What a clone is made for are the sizes from its least to its largest.
 */
export function chosen(
  choose: ChosenIntervals['choose'],
  sizes: Omit<ChosenIntervals, 'kind' | 'choose'> = {},
): ChosenIntervals {
  checkOptions<typeof sizes>('chosen', sizes, SIZES);
  return { ...sizes, kind: 'chosen', choose };
}

/** The intervals of a function that chooses. Throws UsageError for an index that is none. */
export function chosenIntervals(
  { choose, min, max }: ChosenIntervals,
  known: DimRange,
): SizeInterval[] {
  const where = 'chosen';
  if (typeof choose !== 'function') {
    throw new UsageError({ where, got: `${typeof choose} as choose`, expected: 'a function' });
  }
  const first = min ?? known.min;
  requireInteger(where, { name: 'min', value: first, least: 0 });
  const end = max ?? known.max;
  const last = end >= MAX_DIMENSION ? first + MAX_INTERVALS - 1 : end;
  requireInteger(where, { name: 'max', value: last, least: first });
  const runs: { from: number; below: number; clone: number | undefined }[] = [];
  const facts = new Map<number | undefined, Interval>();
  for (let size = first; size <= last; size++) {
    const clone = choose(size);
    if (clone !== undefined) requireIndex(clone, size);
    const below = size === last && end >= MAX_DIMENSION ? MAX_DIMENSION + 1 : size + 1;
    facts.set(clone, [facts.get(clone)?.[0] ?? size, below]);
    const run = runs.at(-1);
    if (run !== undefined && run.clone === clone) run.below = below;
    else runs.push({ from: size, below, clone });
    if (runs.length > MAX_INTERVALS) throw tooMany(where, first, last);
  }
  return runs.map(({ from, below, clone }) => {
    const interval = [from, below] as const;
    return { interval, clone, facts: facts.get(clone) ?? interval };
  });
}

function requireIndex(clone: number, size: number): void {
  if (Number.isSafeInteger(clone) && clone >= 0) return;
  throw new UsageError({
    where: 'chosen',
    got: `${String(clone)} for size ${size}`,
    expected: 'the index of a clone, an integer from 0 up, or undefined',
  });
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
  readonly sizes: Pick<UniformIntervals, 'min' | 'max' | 'open'>;
  readonly known: DimRange;
  /** The end of the interval that begins at a size. */
  readonly next: (from: number) => number;
}

function split(where: string, { sizes, known, next }: Split): Interval[] {
  const { min = known.min, max = known.max } = sizes;
  requireInteger(where, { name: 'min', value: min, least: 0 });
  requireInteger(where, { name: 'max', value: max, least: min });
  const intervals: Interval[] = [];
  for (let from = min; from <= max; ) {
    if (intervals.length === MAX_INTERVALS) throw tooMany(where, min, max);
    const below = Math.min(next(from), max + 1);
    intervals.push([from, below]);
    from = below;
  }
  if (sizes.open && max < MAX_DIMENSION) intervals.push([max + 1, MAX_DIMENSION + 1]);
  return intervals;
}

function tooMany(where: string, min: number, max: number): UsageError {
  const got = `more than ${MAX_INTERVALS} intervals from ${min} to ${max}`;
  const remedy = 'Give a smaller max, or bounds of the dimension.';
  return new UsageError({ where, got, expected: 'fewer', remedy });
}

function requireInteger(
  where: string,
  { name, value, least }: { name: string; value: number; least: number },
): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  const expected = `an integer from ${least} up`;
  throw new UsageError({ where, got: `${value} as ${name}`, expected });
}
