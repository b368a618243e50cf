import { UsageError } from '../../core/errors.ts';
import type { AxisDispatcher, DimRange, Interval } from './interval.ts';

/** More intervals than this along one axis are taken for a mistake. */
const MAX_INTERVALS = 4096;

/** The sizes that are dispatched; what is absent is taken from the bounds of the dimension. */
interface Sizes {
  /** The least size. */
  readonly min?: number | undefined;
  /** The largest size, which is included. */
  readonly max?: number | undefined;
}

/** Intervals of `step` sizes each: `uniform({ min: 1, max: 6, step: 2 })` is 1–2, 3–4, 5–6. */
export function uniform({ step, ...sizes }: Sizes & { readonly step: number }): AxisDispatcher {
  requireInteger('uniform', { name: 'step', value: step, least: 1 });
  return (known) => split('uniform', { sizes, known, next: (from) => from + step });
}

/**
 * Intervals that grow by a factor: `logarithmic({ min: 1, max: 15, base: 2 })` is 1, 2–3, 4–7, 8–15.
 * They end before the powers of the base, wherever they begin.
 */
export function logarithmic({
  base = 2,
  ...sizes
}: Sizes & { readonly base?: number | undefined } = {}): AxisDispatcher {
  requireInteger('logarithmic', { name: 'base', value: base, least: 2 });
  const next = (from: number): number => {
    let power = 1;
    while (power <= from) power *= base;
    return power;
  };
  return (known) => split('logarithmic', { sizes, known, next });
}

interface Split {
  readonly sizes: Sizes;
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
