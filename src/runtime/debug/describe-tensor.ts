import { type DType, dtypeInfo, type TypedArray } from '../../core/tensor/dtype.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { isSmallFloat, smallFloatToNumber } from '../../core/tensor/small-floats.ts';
import type { TensorDetail, TensorStatistics } from './debug-types.ts';
import { pictureOf } from './tensor-picture.ts';

const HISTOGRAM_BINS = 32;
const SHOWN_ELEMENTS = 256;

/** Elements of a tensor as numbers; those of 64-bit integers are rounded beyond 2^53. */
export type Numbers = ArrayLike<number>;

/** The elements of a tensor as numbers. */
export function numbersOf({ dtype, data }: Pick<HostTensor, 'dtype' | 'data'>): Numbers {
  if (isSmallFloat(dtype)) return decoded(dtype, data);
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) {
    return Float64Array.from(data as BigInt64Array, Number);
  }
  return data;
}

function decoded(dtype: DType, bits: TypedArray): Numbers {
  return Float32Array.from(bits as ArrayLike<number>, (each) => smallFloatToNumber(dtype, each));
}

/** Describes a tensor in numbers. */
export function describeTensor(tensor: HostTensor): TensorDetail {
  const { dtype, shape } = tensor;
  const numbers = numbersOf(tensor);
  const statistics = statisticsOf(numbers);
  return {
    kind: 'tensor',
    dtype,
    shape,
    statistics,
    histogram: histogramOf(numbers, statistics),
    first: Array.from(
      { length: Math.min(numbers.length, SHOWN_ELEMENTS) },
      (_, i) => numbers[i] ?? 0,
    ),
    picture: pictureOf(numbers, shape, rangeOf(dtype, statistics)),
  };
}

/** Two walks, since the squares of large elements would lose the deviation of close ones. */
function statisticsOf(numbers: Numbers): TensorStatistics {
  let [minimum, maximum, sum] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  let [nans, infinities, zeros] = [0, 0, 0];
  for (let i = 0; i < numbers.length; i++) {
    const value = numbers[i] as number;
    if (Number.isFinite(value)) {
      if (value < minimum) minimum = value;
      if (value > maximum) maximum = value;
      if (value === 0) zeros++;
      sum += value;
    } else if (Number.isNaN(value)) nans++;
    else infinities++;
  }
  const finite = numbers.length - nans - infinities;
  if (finite === 0) [minimum, maximum] = [Number.NaN, Number.NaN];
  const mean = sum / finite;
  let squares = 0;
  for (let i = 0; i < numbers.length; i++) {
    const distance = (numbers[i] as number) - mean;
    if (Number.isFinite(distance)) squares += distance * distance;
  }
  const deviation = Math.sqrt(squares / finite);
  const count = numbers.length;
  return { count, minimum, maximum, mean, deviation, nans, infinities, zeros };
}

function histogramOf(numbers: Numbers, { minimum, maximum }: TensorStatistics): number[] {
  const bins = new Array<number>(HISTOGRAM_BINS).fill(0);
  const scale = HISTOGRAM_BINS / (maximum - minimum);
  for (let i = 0; i < numbers.length; i++) {
    const value = numbers[i] as number;
    if (!Number.isFinite(value)) continue;
    const bin = Number.isFinite(scale) ? Math.floor((value - minimum) * scale) : 0;
    const at = Math.min(bin, HISTOGRAM_BINS - 1);
    bins[at] = (bins[at] ?? 0) + 1;
  }
  return bins;
}

/** The values that are black and white in a picture of a tensor. */
function rangeOf(dtype: DType, { minimum, maximum }: TensorStatistics): readonly [number, number] {
  if (dtype === 'uint8') return [0, 255];
  if (dtypeInfo(dtype).category === 'bool') return [0, 1];
  // Pictures of floats are mostly from 0 to 1; all else is stretched.
  return minimum >= 0 && maximum <= 1 ? [0, 1] : [minimum, maximum];
}
