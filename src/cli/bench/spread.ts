/** Milliseconds of runs: the middle one, and how far the others are spread. */
export interface Spread {
  readonly runs: number;
  readonly medianMs: number;
  readonly fastestMs: number;
  /** A quarter of the runs took less. */
  readonly lowerMs: number;
  /** A quarter of the runs took more. */
  readonly upperMs: number;
}

/** The spread of at least one time. */
export function spreadOf(times: readonly number[]): Spread {
  const sorted = times.toSorted((a, b) => a - b);
  return {
    runs: sorted.length,
    medianMs: quantile(sorted, 0.5),
    fastestMs: quantile(sorted, 0),
    lowerMs: quantile(sorted, 0.25),
    upperMs: quantile(sorted, 0.75),
  };
}

/** Between neighbours in proportion. */
function quantile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const [low = Number.NaN, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place - Math.floor(place));
}
