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

interface Llama3Scaling {
  readonly factor: number;
  readonly lowFactor: number;
  readonly highFactor: number;
  readonly originalContext: number;
}

/**
 * Divisors of the frequency of each pair, as Llama 3.1 scales them: 1 for wavelengths that are
 * short beside the original context, `factor` for long ones, interpolated between.
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

interface YarnScaling {
  readonly factor: number;
  readonly originalContext: number;
  /** Pairs that turn more often than `fastTurns` in the original context keep their frequency. Default 32. */
  readonly fastTurns?: number | undefined;
  /** Pairs that turn less often than `slowTurns` are slowed down by the factor. Default 1. */
  readonly slowTurns?: number | undefined;
  /**
   * Rounds the two pairs between which the factor is interpolated to whole numbers. Default true.
   */
  readonly truncates?: boolean | undefined;
}

/**
 * Divisors of the frequency of each pair, as YaRN scales them (B. Peng et al. 2023,
 * "NTK-by-parts").
 */
export function yarnFactors(
  { width, theta }: RotaryConfig,
  { factor, originalContext, fastTurns = 32, slowTurns = 1, truncates = true }: YarnScaling,
): number[] {
  const pairWith = (turns: number): number =>
    (width * Math.log(originalContext / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const [fast, slow] = [pairWith(fastTurns), pairWith(slowTurns)];
  const first = Math.max(0, truncates ? Math.floor(fast) : fast);
  const last = Math.min(width - 1, truncates ? Math.ceil(slow) : slow);
  return Array.from({ length: width / 2 }, (_, i) => {
    const share = Math.min(1, Math.max(0, (i - first) / Math.max(0.001, last - first)));
    return 1 / (share / factor + 1 - share);
  });
}

/**
 * YaRN's factor of cosines and sines, so that attention to a context `factor` times longer stays as
 * sharp.
 */
export function yarnMagnitude(factor: number, weight = 1): number {
  return factor <= 1 ? 1 : 1 + 0.1 * weight * Math.log(factor);
}

/**
 * LongRoPE's factor of cosines and sines (Y. Ding et al. 2024), for a context `times` the original.
 */
export function longRopeMagnitude(times: number, originalContext: number): number {
  return times <= 1 ? 1 : Math.sqrt(1 + Math.log(times) / Math.log(originalContext));
}
