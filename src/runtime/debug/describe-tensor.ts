import { type DType, dtypeInfo, type TypedArray } from '../../core/tensor/dtype.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { isSmallFloat, smallFloatToNumber } from '../../core/tensor/small-floats.ts';
import type { TensorDetail, TensorStatistics, TensorPicture } from './debug-types.ts';

const HISTOGRAM_BINS = 32;
const SHOWN_ELEMENTS = 256;

/** Elements of a tensor as numbers; those of 64-bit integers are rounded beyond 2^53. */
type Numbers = ArrayLike<number>;

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

/** The most pixels along each axis. */
const MAX_PIXELS = 256;
/** Narrower ones are no pictures but rows of numbers. */
const MIN_PIXELS = 4;

interface Layout {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  /**
   * True if each channel is a plane of its own; false if the channels of a pixel are neighbours.
   */
  readonly isPlanar: boolean;
}

/**
 * The picture that a tensor is by its shape, nearest pixels where it is larger than 256; undefined where it is none. `range` is
 * what is black and what is white.
 */
function pictureOf(
  numbers: ArrayLike<number>,
  shape: Shape,
  [black, white]: readonly [number, number],
): TensorPicture | undefined {
  const layout = layoutOf(shape);
  if (layout === undefined) return undefined;
  const { channels, isPlanar } = layout;
  const shrink = Math.max(1, layout.width / MAX_PIXELS, layout.height / MAX_PIXELS);
  const [width, height] = [layout.width, layout.height].map((size) =>
    Math.max(1, Math.floor(size / shrink)),
  ) as [number, number];
  const plane = layout.width * layout.height;
  const scale = 255 / (white - black);
  const rgba = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const row = Math.floor(Math.floor(pixel / width) * shrink);
    const place = row * layout.width + Math.floor((pixel % width) * shrink);
    for (let channel = 0; channel < Math.max(3, channels); channel++) {
      const from = channels === 1 ? 0 : channel;
      const element = numbers[isPlanar ? from * plane + place : place * channels + from] ?? 0;
      // Where all elements are the same, that is grey.
      rgba[pixel * 4 + channel] = Number.isFinite(scale) ? (element - black) * scale : 128;
    }
  }
  return { width, height, rgba };
}

function layoutOf(shape: Shape): Layout | undefined {
  const [first, ...rest] = shape;
  const dims = shape.length === 4 && first === 1 ? rest : shape;
  const [a = 0, b = 0, c = 0] = dims;
  if (dims.length === 2) return layout({ height: a, width: b, channels: 1, isPlanar: false });
  if (dims.length !== 3) return undefined;
  if (c === 1 || c === 3 || c === 4) {
    const interleaved = layout({ height: a, width: b, channels: c, isPlanar: false });
    if (interleaved !== undefined) return interleaved;
  }
  if (a !== 1 && a !== 3) return undefined;
  return layout({ height: b, width: c, channels: a, isPlanar: true });
}

function layout(candidate: Layout): Layout | undefined {
  const { width, height } = candidate;
  return width >= MIN_PIXELS && height >= MIN_PIXELS ? candidate : undefined;
}
