import { ShapeError, UsageError } from '../../core/errors.ts';
import { numberToFloat16 } from '../../core/tensor/float16.ts';
import type { PictureSteps } from '../../core/pictures/picture-steps.ts';
import type { PictureOptions, Size } from './picture-options.ts';
import { PicturePlace } from './picture-place.ts';
import { type PicturePlan, picturePlan } from './picture-plan.ts';
import { resampleWeights } from './resample-weights.ts';

/** The tensor that several pictures make, and the steps to make it. */
export interface PictureBatch {
  readonly dtype: NonNullable<PictureOptions['dtype']>;
  /** [pictures, channels, rows, columns], or with channels last. */
  readonly shape: readonly number[];
  readonly steps: readonly PictureSteps[];
  readonly places: readonly PicturePlace[];
}

/**
 * Of pictures of some sizes; with a list of options each has its own, of the same dtype, layout and channels. Throws UsageError for no
 * picture, for `mean`, `std` and `padding` of other lengths, and ShapeError for pictures that have different sizes in the end.
 */
export function pictureBatch(
  sizes: readonly Size[],
  options: PictureOptions | readonly PictureOptions[],
): PictureBatch {
  const all = sizes.map(({ width, height }, i) => {
    const own = 'length' in options ? (options[i] ?? {}) : options;
    const size = { width, height };
    return { size, own, plan: picturePlan(size, own) };
  });
  const [first] = all;
  if (first === undefined) {
    throw new UsageError({ where: 'preparePictures', got: 'no picture', expected: 'one or more' });
  }
  const { width, height } = first.plan.padded;
  const other = all.find(
    ({ plan: { padded } }) => padded.width !== width || padded.height !== height,
  );
  if (other !== undefined) {
    const { padded } = other.plan;
    throw new ShapeError({
      where: 'preparePictures',
      got: `pictures of ${width} x ${height} and ${padded.width} x ${padded.height} after resizing`,
      expected: 'one size for all of a batch',
      remedy: 'Give size with width and height, or prepare them one by one.',
    });
  }
  const { channels = 'rgb', layout = 'nchw', dtype = 'float32' } = first.own;
  const count = CHANNELS[channels].length;
  const dims = layout === 'nhwc' ? [height, width, count] : [count, height, width];
  return {
    dtype,
    shape: [all.length, ...dims],
    steps: all.map(({ size, own, plan }) => stepsOf(size, plan, own)),
    places: all.map(({ size, plan }) => new PicturePlace(size, plan)),
  };
}

const CHANNELS = { rgb: [0, 1, 2], bgr: [2, 1, 0], grey: [0] } as const;
const ARRAYS = { float32: Float32Array, float16: Uint16Array, uint8: Uint8Array } as const;

function stepsOf(source: Size, plan: PicturePlan, options: PictureOptions): PictureSteps {
  const { resampling = 'bilinear', channels = 'rgb', layout, dtype, fit, padding = 0 } = options;
  const { resized, frame, padded } = plan;
  const order = CHANNELS[channels];
  const [red = 0, green = 0, blue = 0] =
    fit === 'contain' ? spread(padding, [0, 1, 2], 'padding') : [];
  return {
    source: [source.width, source.height],
    resized: [resized.width, resized.height],
    frame: [frame.left, frame.top, frame.width, frame.height],
    padded: [padded.width, padded.height],
    rows: resampleWeights(source.width, resized.width, resampling),
    columns: resampleWeights(source.height, resized.height, resampling),
    // As bytes hold them.
    fill: [red & 255, green & 255, blue & 255],
    order,
    levels: levelTable(options, order),
    isGrey: channels === 'grey',
    isLast: layout === 'nhwc',
    elementSize: dtype === 'float16' ? 2 : dtype === 'uint8' ? 1 : 4,
  };
}

/** The bits of the element that each level from 0 to 255 of each channel becomes. */
function levelTable(options: PictureOptions, order: readonly number[]): Int32Array {
  const { dtype = 'float32', mean, std } = options;
  const { scale = dtype === 'uint8' ? 1 : 1 / 255 } = options;
  const means = spread(mean ?? 0, order, 'mean');
  const deviations = spread(std ?? 1, order, 'std');
  if (deviations.includes(0)) {
    throw new UsageError({ where: 'std', got: '0', expected: 'deviations that one can divide by' });
  }
  const table = new ARRAYS[dtype](256 * order.length);
  for (let i = 0; i < table.length; i++) {
    const c = i >> 8;
    // Scaled in float32, normalised in doubles: so do the image processors of transformers.
    const value = (Math.fround((i & 255) * scale) - (means[c] ?? 0)) / (deviations[c] ?? 1);
    table[i] =
      dtype === 'float16'
        ? numberToFloat16(value)
        : dtype === 'uint8'
          ? Math.min(Math.max(Math.round(value), 0), 255)
          : value;
  }
  return table instanceof Float32Array ? new Int32Array(table.buffer) : Int32Array.from(table);
}

/** Numbers for channels in the order of the tensor. */
function spread(
  value: number | readonly number[],
  order: readonly number[],
  where: string,
): readonly number[] {
  if (typeof value === 'number') return order.map(() => value);
  if (value.length === order.length) return order.map((channel) => value[channel] ?? 0);
  throw new UsageError({
    where,
    got: `${value.length} numbers`,
    expected: `one, or ${order.length}, for each channel`,
  });
}
