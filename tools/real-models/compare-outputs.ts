import { formatShape } from '../../src/core/tensor/element-count.ts';
import type { PeerValue } from '../onnxruntime/open-onnxruntime.ts';

/**
 * The largest difference of two outputs relative to the range of the one that is expected (its largest element less its smallest, or
 * its magnitude where all are equal); infinite where an element is no number on one side only. Integers have to be equal.
 * Throws for another shape.
 */
export function relativeError(got: PeerValue, expected: PeerValue, name: string): number {
  if (got.dtype !== expected.dtype || String(got.shape) !== String(expected.shape)) {
    throw new Error(
      `${name}: got ${got.dtype} ${formatShape(got.shape)}, expected ${expected.dtype} ${formatShape(expected.shape)}.`,
    );
  }
  let [low, high, largest] = [Infinity, -Infinity, 0];
  for (let i = 0; i < expected.data.length; i++) {
    const [value, wanted] = [Number(got.data[i]), Number(expected.data[i])];
    if (Object.is(value, wanted)) {
      if (!Number.isFinite(wanted)) continue;
    } else if (!Number.isFinite(value) || !Number.isFinite(wanted)) return Infinity;
    low = Math.min(low, wanted);
    high = Math.max(high, wanted);
    largest = Math.max(largest, Math.abs(value - wanted));
  }
  if (largest === 0) return 0;
  if (!got.dtype.startsWith('float')) return Infinity;
  return largest / (high > low ? high - low : Math.abs(high));
}
