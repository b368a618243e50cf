import type { MemorySample } from './memory-sample.ts';

/** Cycles between the two states that a promise compares: after 100 and after 1,000. */
const COMPARED_CYCLES = 900;

export const MAX_GROWTH_BYTES = 10 * 2 ** 20;

/**
 * Bytes that 900 cycles add, by the median slope between any two samples (Theil and Sen's estimator): a
 * collection that ran late, or a page of an allocator, moves a few slopes and not their median.
 */
export function growthOf(
  samples: readonly MemorySample[],
  bytesOf: (sample: MemorySample) => number,
): number {
  const slopes = samples.flatMap((from, index) =>
    samples.slice(index + 1).map((to) => (bytesOf(to) - bytesOf(from)) / (to.cycle - from.cycle)),
  );
  const sorted = slopes.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  if (median === undefined) throw new Error('internal: fewer than two samples');
  return median * COMPARED_CYCLES;
}
