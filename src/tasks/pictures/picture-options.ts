import { oneOf, type OptionKind, type OptionKinds } from '../../core/check-options.ts';
import type { Resampling } from './resample-weights.ts';

export interface Size {
  /** Pixels in a row. */
  readonly width: number;
  /** Rows. */
  readonly height: number;
}

/** A size that follows the proportions of the picture, as `preprocessor_config.json` has them. */
export interface EdgeSize {
  /** The shorter side, which it is made larger or smaller to. */
  readonly shortestEdge?: number | undefined;
  /** The most that the longer side may be then. */
  readonly longestEdge?: number | undefined;
}

/** How pictures are prepared for a model. */
export interface PictureOptions {
  /** The size that the picture is resized to; a number is that of both sides. Default: it is not resized. */
  readonly size?: number | Size | EdgeSize | undefined;
  /**
   * How it comes to a width and height. `stretch`, the default: each side by itself. `cover`: with its proportions, what is too
   * much is cut off evenly. `contain`: with its proportions, what is missing is filled with `padding`.
   */
  readonly fit?: 'stretch' | 'cover' | 'contain' | undefined;
  /** Where a contained picture lies. Default `center`. */
  readonly position?: 'center' | 'top left' | undefined;
  /** Elements 0 to 255 around a contained picture: of all channels, or of red, green and blue. Default 0. */
  readonly padding?: number | readonly number[] | undefined;
  /** Sides are rounded to multiples of this, down for sides that would be larger than the picture's own size says. */
  readonly multipleOf?: number | undefined;
  /** Default `bilinear`. All are those of Pillow, with antialiasing. */
  readonly resampling?: Resampling | undefined;
  /** The part in the middle that is cut out after resizing; what is beyond the picture is 0. */
  readonly crop?: number | Size | undefined;
  /** Elements are multiplied by this. Default 1/255, for uint8 1. */
  readonly scale?: number | undefined;
  /** Subtracted after scaling: of all channels, or of red, green and blue. Default 0. */
  readonly mean?: number | readonly number[] | undefined;
  /** Divided by then. Default 1. */
  readonly std?: number | readonly number[] | undefined;
  /** Zeros to the right and below after all this: up to a size, or to multiples of a number. */
  readonly pad?: Size | number | undefined;
  /** Default `rgb`. `grey` is luma of Rec. 601, as Pillow's `convert('L')` has it. */
  readonly channels?: 'rgb' | 'bgr' | 'grey' | undefined;
  /** (batch, channel, row, column), the default, or channels last. */
  readonly layout?: 'nchw' | 'nhwc' | undefined;
  /** The dtype of the tensor. Default `float32`. */
  readonly dtype?: 'float32' | 'float16' | 'uint8' | undefined;
}

const isNumber = (value: unknown): boolean => Number.isFinite(value);
const isSide = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;
const NUMBERS: OptionKind = [
  'a number, or one for each channel',
  (value) => isNumber(value) || (Array.isArray(value) && value.every(isNumber)),
];

/** Returns true if a value has some of these sides, and no others. */
function hasSides(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const sides = Object.entries(value).filter(([, side]) => side !== undefined);
  return sides.length > 0 && sides.every(([name, side]) => names.includes(name) && isSide(side));
}

const isSize = (value: unknown): boolean =>
  hasSides(value, ['width', 'height']) && Object.keys(Object(value)).length === 2;
const SIZE: OptionKind = [
  'pixels, { width, height }, { shortestEdge, longestEdge } or one of these edges',
  (value) => isSide(value) || isSize(value) || hasSides(value, ['shortestEdge', 'longestEdge']),
];
const CROP: OptionKind = ['pixels or { width, height }', (value) => isSide(value) || isSize(value)];

export const PICTURE_OPTIONS: OptionKinds<PictureOptions> = {
  size: SIZE,
  fit: oneOf('stretch', 'cover', 'contain'),
  position: oneOf('center', 'top left'),
  padding: NUMBERS,
  multipleOf: 'count',
  resampling: oneOf('nearest', 'box', 'bilinear', 'hamming', 'bicubic', 'lanczos'),
  crop: CROP,
  scale: 'number',
  mean: NUMBERS,
  std: NUMBERS,
  pad: CROP,
  channels: oneOf('rgb', 'bgr', 'grey'),
  layout: oneOf('nchw', 'nhwc'),
  dtype: oneOf('float32', 'float16', 'uint8'),
};
