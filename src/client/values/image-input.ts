import { ShapeError, UsageError } from '../../core/errors.ts';
import { OpaqueValue } from '../../core/contracts/opaque-value.ts';
import { readCanvas, readDrawn } from '../../core/pictures/read-drawn.ts';
import { formatShape } from '../../core/tensor/shape.ts';
import type { FunctionInfo, ValueInfo } from '../../worker/protocol/loaded-session.ts';
import { type BoundValue, type Inputs, isPlain, type PlainInputs } from './input-value.ts';
import { FunctionArguments, type FunctionOwner } from './program-function.ts';
import { isStructured, wireStructured } from './structured-input.ts';
import type { ImageInput } from './session-value.ts';
import { Tensor } from './tensor.ts';

/** `wanted` is the input's shape, -1 for a dimension that may be anything. */
export interface ImageTarget {
  readonly where: string;
  readonly dtype: ValueInfo['dtype'];
  readonly wanted: readonly number[];
}

const CLASSES = [
  'ImageData',
  'ImageBitmap',
  'HTMLCanvasElement',
  'OffscreenCanvas',
  'HTMLImageElement',
  'HTMLVideoElement',
  'VideoFrame',
];

/**
 * Inputs with tensors in place of pictures, and tuples and data as they go to the worker. Throws UsageError
 * for objects that are none of these.
 */
export function convertInputs(
  info: FunctionInfo,
  inputs: Inputs,
  owner: FunctionOwner,
): PlainInputs {
  const bridge = new FunctionArguments(owner);
  const entries = Object.entries(inputs).map(([name, value]): [string, BoundValue] => {
    if (isPlain(value)) return [name, value];
    const where = `input "${name}"`;
    const param = info.params.find((candidate) => candidate.name === name);
    if (param?.dtype === 'any' && isStructured(value)) {
      return [name, wireStructured(value, where, bridge)];
    }
    if (param?.dtype === 'any' && typeof value === 'function') {
      return [name, { wire: bridge.wire(value, where) }];
    }
    if (param?.dtype === 'any' && value instanceof OpaqueValue) {
      return [name, { wire: bridge.wireObject(value) }];
    }
    if (!isImageInput(value)) {
      throw new UsageError({
        where,
        got: value === null ? 'null' : Object(value).constructor.name,
        expected:
          'a Tensor, a DeviceTensor, a picture, a number, an array, { constructor, fields }, a function or an OpaqueValue',
        remedy: 'Tensor.from makes a tensor of an array.',
      });
    }
    // A name that does not exist is complained about together with the others.
    if (param === undefined) return [name, 'a picture'];
    const wanted = param.shape.map((dim) => (typeof dim === 'number' ? dim : -1));
    return [name, imageToTensor(value, { where, dtype: param.dtype, wanted })];
  });
  const callPage = bridge.callPage();
  const called = entries.map(([name, value]): [string, BoundValue] => {
    const isWired = typeof value === 'object' && 'wire' in value;
    return [name, isWired ? { ...value, callPage } : value];
  });
  return Object.fromEntries(called);
}

/** Returns true if a value is a picture of the page. */
export function isImageInput(value: object | null): value is ImageInput {
  const known = globalThis as Record<string, unknown>;
  return CLASSES.some((name) => {
    const type = known[name];
    return typeof type === 'function' && value instanceof type;
  });
}

/**
 * A picture as a tensor of shape [1, C, H, W] or [1, H, W, C] (also without the leading 1), C being
 * 1 (luma of Rec. 601), 3 (RGB) or 4 (RGBA), scaled to H x W; a free H or W keeps the picture's.
 * float32 elements are 0 to 1, uint8 elements 0 to 255. The canvas gives colours in sRGB, not
 * premultiplied. Throws ShapeError when the input is no picture.
 */
export function imageToTensor(image: ImageInput, target: ImageTarget): Tensor {
  const { dtype, wanted, where } = target;
  const leading = wanted.length === 4 ? 1 : 0;
  const dims = wanted.slice(leading);
  const first = isChannelCount(dims[0]);
  const channels = (first ? dims[0] : dims[2]) ?? 0;
  const batch = leading ? Math.abs(wanted[0] ?? 1) : 1;
  const isPicture = dims.length === 3 && isChannelCount(channels) && batch === 1;
  if (!isPicture || (dtype !== 'float32' && dtype !== 'uint8')) {
    throw new ShapeError({
      where,
      got: 'a picture',
      expected: `${dtype} ${formatShape(wanted)}`,
      remedy:
        'Pictures fit float32 or uint8 inputs of shape [1, C, H, W] or [1, H, W, C], C 1, 3 or 4.',
    });
  }
  const { data, height, width } = pixels(image, where, first ? dims.slice(1) : dims);
  const plane = height * width;
  const out = new (dtype === 'uint8' ? Uint8Array : Float32Array)(plane * channels);
  for (let pixel = 0; pixel < plane; pixel++) {
    const at = pixel * 4;
    for (let c = 0; c < channels; c++) {
      const value = channels === 1 ? luma(data, at) : (data[at + c] ?? 0);
      const index = first ? c * plane + pixel : pixel * channels + c;
      out[index] = dtype === 'uint8' ? Math.round(value) : value / 255;
    }
  }
  const shape = first ? [channels, height, width] : [height, width, channels];
  return new Tensor(dtype, out, leading ? [1, ...shape] : shape);
}

function isChannelCount(dim: number | undefined): boolean {
  return dim === 1 || dim === 3 || dim === 4;
}

function luma(data: Uint8ClampedArray, at: number): number {
  return 0.299 * (data[at] ?? 0) + 0.587 * (data[at + 1] ?? 0) + 0.114 * (data[at + 2] ?? 0);
}

/** The pixels of a picture in its own size. Throws UsageError for one without. */
export const readPixels = (image: ImageInput, where: string): ImageData => pixels(image, where, []);

function pixels(image: ImageInput, where: string, wanted: readonly number[]): ImageData {
  const own = naturalSize(image);
  const height = wanted[0] === undefined || wanted[0] < 0 ? own.height : wanted[0];
  const width = wanted[1] === undefined || wanted[1] < 0 ? own.width : wanted[1];
  if (own.width * own.height * width * height === 0) {
    throw new UsageError({
      where,
      got: `a picture of ${own.width} x ${own.height}`,
      expected: 'one with pixels',
      remedy: 'Wait until the image or video has loaded.',
    });
  }
  let drawable: CanvasImageSource;
  if (image instanceof ImageData) {
    if (own.width === width && own.height === height) return image;
    // ImageData cannot be drawn, only put, and putting does not scale.
    const whole = readCanvas(own.width, own.height);
    whole.putImageData(image, 0, 0);
    drawable = whole.canvas;
  } else {
    drawable = image;
  }
  return readDrawn(drawable, width, height);
}

/** Columns and rows of a picture, 0 for one that has not loaded. */
export function naturalSize(image: ImageInput): { width: number; height: number } {
  if ('naturalWidth' in image) return { width: image.naturalWidth, height: image.naturalHeight };
  if ('videoWidth' in image) return { width: image.videoWidth, height: image.videoHeight };
  if ('displayWidth' in image) return { width: image.displayWidth, height: image.displayHeight };
  return image;
}
