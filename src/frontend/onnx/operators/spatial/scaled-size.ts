import type { Dim } from '../../../../core/dim.ts';
import type { SymbolicDims } from '../../../../core/symbolic-dims.ts';

/** Floats that models have for ratios of sizes are among these. */
const MAX_DENOMINATOR = 4096;

/**
 * `floor(size * scale)` for a float32 scale, of a symbol too. The product is one of float32: 7/3 of 3
 * is 7, though the nearest float32 to 7/3 is a little less.
 */
export function scaledSize(dims: SymbolicDims, size: Dim, scale: number): Dim {
  if (typeof size === 'number') return Math.floor(Math.fround(size * scale));
  const [numerator, denominator] = rationalOf(scale);
  return dims.floordiv(dims.mul(size, numerator), denominator);
}

/** The fraction of small numbers that is nearest to a float32 number, or else the number exactly. */
export function rationalOf(scale: number): readonly [number, number] {
  for (let denominator = 1; denominator <= MAX_DENOMINATOR; denominator++) {
    const numerator = Math.round(scale * denominator);
    if (Math.fround(numerator / denominator) === scale) return [numerator, denominator];
  }
  let [numerator, denominator] = [scale, 1];
  while (!Number.isInteger(numerator)) [numerator, denominator] = [numerator * 2, denominator * 2];
  return [numerator, denominator];
}
