import { checkOptions } from '../../client/check-options.ts';
import { Tensor } from '../../client/tensor.ts';
import { ShapeError, UsageError } from '../../core/errors.ts';
import { numberToFloat16 } from '../../core/float16.ts';
import { PICTURE_OPTIONS, type PictureOptions, type Size } from './picture-options.ts';
import { PicturePlace } from './picture-place.ts';
import { type PicturePlan, picturePlan } from './picture-plan.ts';
import { type Picture, type Pixels, readRgb, type Rgb } from './pixels.ts';
import { resize } from './resize.ts';

/** Pictures as a model takes them. */
export interface PreparedPictures {
  /** (pictures, channels, rows, columns), or with channels last. */
  readonly tensor: Tensor;
  /** Where each of them lies. */
  readonly places: readonly PicturePlace[];
}

/**
 * Resizes and normalises pictures for a model. The same picture and options give the same elements in every browser and in Node; a
 * browser's decoder and its canvas alone may differ by a level. Rejects with UsageError for wrong options, for a picture without pixels, and with ShapeError
 * for pictures that have different sizes in the end.
 */
export async function preparePictures(
  pictures: readonly Picture[],
  options: PictureOptions = {},
): Promise<PreparedPictures> {
  checkOptions('preparePictures', options, PICTURE_OPTIONS);
  const read = await Promise.all(
    pictures.map((picture, i) =>
      readRgb(picture, pictures.length > 1 ? `picture ${i}` : 'picture'),
    ),
  );
  return prepareRgb(read, options);
}

/** The same for pixels in RGB, without waiting. */
export function prepareRgb(
  pictures: readonly Rgb[],
  options: PictureOptions = {},
): PreparedPictures {
  const { plans, first } = plansOf(pictures, options);
  const { width, height } = first.padded;
  const { channels = 'rgb', layout = 'nchw', dtype = 'float32' } = options;
  const order = CHANNELS[channels];
  const tables = levelTables(options, order);
  const count = order.length * width * height;
  const data = new ARRAYS[dtype](count * pictures.length);
  for (const [i, picture] of pictures.entries()) {
    const plan = plans[i] ?? first;
    const colours = channels === 'grey' ? toGrey(picture) : picture;
    const { resized, frame } = plan;
    const { resampling = 'bilinear' } = options;
    const seen = framed(resize(colours, resized.width, resized.height, resampling), plan, options);
    write(data.subarray(i * count, (i + 1) * count), {
      seen: { ...seen, width: frame.width, height: frame.height },
      padded: plan.padded,
      tables,
      order,
      isLast: layout === 'nhwc',
    });
  }
  const dims = layout === 'nhwc' ? [height, width, order.length] : [order.length, height, width];
  return {
    tensor: new Tensor(dtype, data, [pictures.length, ...dims]),
    places: pictures.map((picture, i) => new PicturePlace(sizeOf(picture), plans[i] ?? first)),
  };
}

/** What becomes of each picture. Throws UsageError for none, ShapeError for pictures that have different sizes in the end. */
export function plansOf(
  pictures: readonly Size[],
  options: PictureOptions,
): { readonly plans: readonly PicturePlan[]; readonly first: PicturePlan } {
  const plans = pictures.map((picture) => picturePlan(picture, options));
  const [first] = plans;
  if (first === undefined) {
    throw new UsageError({ where: 'preparePictures', got: 'no picture', expected: 'one or more' });
  }
  const { width, height } = first.padded;
  const other = plans.find(({ padded }) => padded.width !== width || padded.height !== height);
  if (other === undefined) return { plans, first };
  throw new ShapeError({
    where: 'preparePictures',
    got: `pictures of ${width} x ${height} and ${other.padded.width} x ${other.padded.height} after resizing`,
    expected: 'one size for all of a batch',
    remedy: 'Give size with width and height, or prepare them one by one.',
  });
}

const sizeOf = ({ width, height }: Pixels): Size => ({ width, height });
export const CHANNELS = { rgb: [0, 1, 2], bgr: [2, 1, 0], grey: [0] } as const;
const ARRAYS = { float32: Float32Array, float16: Uint16Array, uint8: Uint8Array } as const;
type Elements = InstanceType<(typeof ARRAYS)[keyof typeof ARRAYS]>;

/** Luma in all three channels, as Pillow's `convert('L')` has it. */
function toGrey({ width, height, data }: Rgb): Rgb {
  const out = new Uint8Array(data.length);
  for (let i = 0; i < data.length; i += 3) {
    const luma =
      (data[i] ?? 0) * 19595 + (data[i + 1] ?? 0) * 38470 + (data[i + 2] ?? 0) * 7471 + 0x8000;
    out.fill(luma >> 16, i, i + 3);
  }
  return { width, height, data: out };
}

/** Puts the picture onto its frame. */
function framed(picture: Rgb, { frame }: PicturePlan, options: PictureOptions): Rgb {
  const { width, height, left, top } = frame;
  if (left === 0 && top === 0 && width === picture.width && height === picture.height) {
    return picture;
  }
  const out = new Uint8Array(width * height * 3);
  const { padding = 0 } = options;
  if (options.fit === 'contain') {
    const fill = spread(padding, [0, 1, 2], 'padding');
    for (let i = 0; i < out.length; i++) out[i] = fill[i % 3] ?? 0;
  }
  const [from, to] = [Math.max(left, 0), Math.min(left + picture.width, width)];
  for (let y = Math.max(top, 0); y < Math.min(top + picture.height, height); y++) {
    const row = ((y - top) * picture.width - left) * 3;
    if (to > from)
      out.set(picture.data.subarray(row + from * 3, row + to * 3), (y * width + from) * 3);
  }
  return { width, height, data: out };
}

/** The element that each level from 0 to 255 of each channel becomes, bits for float16. */
export function levelTables(options: PictureOptions, order: readonly number[]): Elements[] {
  const { dtype = 'float32', mean, std } = options;
  const { scale = dtype === 'uint8' ? 1 : 1 / 255 } = options;
  const means = spread(mean ?? 0, order, 'mean');
  const deviations = spread(std ?? 1, order, 'std');
  if (deviations.includes(0)) {
    throw new UsageError({ where: 'std', got: '0', expected: 'deviations that one can divide by' });
  }
  return order.map((_, c) => {
    const table = new ARRAYS[dtype](256);
    for (let level = 0; level < 256; level++) {
      // Scaled in float32, normalised in doubles: so do the image processors of transformers.
      const value = (Math.fround(level * scale) - (means[c] ?? 0)) / (deviations[c] ?? 1);
      table[level] =
        dtype === 'float16'
          ? numberToFloat16(value)
          : dtype === 'uint8'
            ? Math.min(Math.max(Math.round(value), 0), 255)
            : value;
    }
    return table;
  });
}

/** Numbers for channels in the order of the tensor. */
export function spread(
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

interface WriteOrder {
  readonly seen: Rgb;
  readonly padded: Size;
  readonly tables: readonly Elements[];
  readonly order: readonly number[];
  readonly isLast: boolean;
}

function write(out: Elements, { seen, padded, tables, order, isLast }: WriteOrder): void {
  const { width, height, data } = seen;
  const [pixelStep, planeStep] = isLast ? [order.length, 1] : [1, padded.width * padded.height];
  for (const [c, channel] of order.entries()) {
    const table = tables[c] ?? out;
    for (let y = 0; y < height; y++) {
      let from = y * width * 3 + channel;
      let to = y * padded.width * pixelStep + c * planeStep;
      for (let x = 0; x < width; x++, from += 3, to += pixelStep) {
        out[to] = table[data[from] ?? 0] ?? 0;
      }
    }
  }
}
