import type { RotaryConfig } from '../decoder-config.ts';

/** Radians by which each pair turns a position. */
export function rotaryFrequencies(
  { width, theta, scale }: RotaryConfig,
  factors: ArrayLike<number> | undefined,
): Float64Array {
  return Float64Array.from(
    { length: width / 2 },
    (_, i) => (scale * theta ** ((-2 * i) / width)) / (factors?.[i] ?? 1),
  );
}

export interface Llama3Scaling {
  readonly factor: number;
  readonly lowFactor: number;
  readonly highFactor: number;
  readonly originalContext: number;
}

/**
 * What divides the frequency of each pair as Llama 3.1 scales them: 1 for waves that are short beside the
 * original context, the factor for long ones, and a way from one to the other between.
 */
export function llama3Factors(
  rotary: RotaryConfig,
  { factor, lowFactor, highFactor, originalContext }: Llama3Scaling,
): number[] {
  return Array.from(rotaryFrequencies(rotary, undefined), (frequency) => {
    const waves = (originalContext * frequency) / (2 * Math.PI);
    if (waves < lowFactor) return factor;
    if (waves > highFactor) return 1;
    const share = (waves - lowFactor) / (highFactor - lowFactor);
    return 1 / ((1 - share) / factor + share);
  });
}

/** What LongRoPE multiplies cosines and sines by (Y. Ding et al. 2024), for a context so many times the original. */
export function longRopeMagnitude(times: number, originalContext: number): number {
  return times <= 1 ? 1 : Math.sqrt(1 + Math.log(times) / Math.log(originalContext));
}
