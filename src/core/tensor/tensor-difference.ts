import { dtypeInfo } from './dtype.ts';
import { float16ToNumber } from './float16.ts';
import type { HostTensor } from './host-tensor.ts';

type Elements = Pick<HostTensor, 'dtype' | 'data'>;

/** How far the elements of a tensor are from those that they should be. */
export interface TensorDifference {
  /**
   * The largest distance of two elements over the largest element that is expected; infinite where one is no number or
   * infinite and the other is not, or where truth values differ.
   */
  readonly relativeError: number;
  /** The number of the element that is furthest from the expected one, in row-major order. */
  readonly element: number;
  readonly got: number;
  readonly expected: number;
  readonly nans: number;
  readonly infinities: number;
}

/** Tensors of the same shape, whose elements may have another precision. */
export function tensorDifference(got: Elements, expected: Elements): TensorDifference {
  const [values, wanted] = [numbersOf(got), numbersOf(expected)];
  const isTruth = dtypeInfo(got.dtype).category === 'bool';
  let [nans, infinities, largest] = [0, 0, 0];
  let [worst, distance] = [0, 0];
  for (const [i, value] of values.entries()) {
    const want = wanted[i] ?? Number.NaN;
    if (Number.isNaN(value)) nans++;
    else if (!Number.isFinite(value)) infinities++;
    if (Number.isFinite(want)) largest = Math.max(largest, Math.abs(want));
    const apart = distanceOf(value, want);
    if (apart <= distance) continue;
    [worst, distance] = [i, apart];
  }
  const relative = distance === 0 ? 0 : distance / (largest === 0 ? 1 : largest);
  return {
    relativeError: isTruth && distance > 0 ? Number.POSITIVE_INFINITY : relative,
    element: worst,
    got: values[worst] ?? 0,
    expected: wanted[worst] ?? 0,
    nans,
    infinities,
  };
}

function distanceOf(a: number, b: number): number {
  if (Object.is(a, b) || a === b) return 0;
  const distance = Math.abs(a - b);
  return Number.isFinite(distance) ? distance : Number.POSITIVE_INFINITY;
}

/** Elements as numbers; those of eight bytes are rounded. */
function numbersOf(
  tensor: Elements,
): ArrayLike<number> & Iterable<number> & { entries(): IterableIterator<[number, number]> } {
  const { data, dtype } = tensor;
  if (dtype === 'float16') return Float32Array.from(data as Uint16Array, float16ToNumber);
  return data instanceof BigInt64Array || data instanceof BigUint64Array
    ? Float64Array.from(data as BigInt64Array, Number)
    : data;
}
