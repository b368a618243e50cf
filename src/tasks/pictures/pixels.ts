import type { ImageInput } from '../../client/session-value.ts';
import { UnsupportedError, UsageError } from '../../core/errors.ts';
import type { GpuTextureLike } from '../../core/gpu-like.ts';

/** Rows of pixels from the top, channels side by side: 1 (grey), 3 (RGB) or 4 (RGBA), elements 0 to 255. `ImageData` is such. */
export interface Pixels {
  /** Pixels in a row. */
  readonly width: number;
  /** Rows. */
  readonly height: number;
  /** width x height x channels elements. */
  readonly data: Uint8Array | Uint8ClampedArray;
}

/**
 * What tasks see: a picture of the page, a file with one, pixels, or a GPUTexture of the device that a session was loaded with
 * (`gpu`). Colours are those of sRGB, and transparency is left out.
 */
export type Picture = ImageInput | Blob | Pixels | GpuTextureLike;

/** Pixels in RGB. */
export interface Rgb extends Pixels {
  readonly data: Uint8Array;
}

/**
 * The pixels of a picture in RGB. Rejects with UsageError for a picture without pixels or of another kind, and with
 * UnsupportedError for files and pictures of a page where there is no page.
 */
export async function readRgb(picture: Picture, where = 'picture'): Promise<Rgb> {
  if (isPixels(picture)) return toRgb(picture, where);
  if (typeof OffscreenCanvas === 'undefined') {
    const got = describe(picture);
    throw new UnsupportedError({
      where,
      got,
      expected: '{ width, height, data }, because nothing here draws pictures',
      remedy: 'Decode the picture with a library such as sharp or pngjs.',
    });
  }
  if (picture instanceof Blob) {
    const bitmap = await decoded(picture, where);
    try {
      return toRgb(await drawn(bitmap, where), where);
    } finally {
      bitmap.close();
    }
  }
  return toRgb(await drawn(picture, where), where);
}

async function decoded(file: Blob, where: string): Promise<ImageBitmap> {
  try {
    return await createImageBitmap(file);
  } catch (cause) {
    const got = `a file of ${file.size} bytes of the type ${JSON.stringify(file.type)}`;
    throw new UsageError({ where, got, expected: 'a picture that this browser reads' }, { cause });
  }
}

/** `ImageData` is drawn by nobody: it has its pixels. */
function isPixels(picture: unknown): picture is Pixels {
  if (typeof picture !== 'object' || picture === null) return false;
  const { width, height, data } = picture as Partial<Pixels>;
  const isBytes = data instanceof Uint8Array || data instanceof Uint8ClampedArray;
  return isBytes && typeof width === 'number' && typeof height === 'number';
}

async function drawn(picture: ImageInput | GpuTextureLike, where: string): Promise<Pixels> {
  const { isImageInput, readPixels } = await import('../../client/image-input.ts');
  if (isImageInput(picture)) return readPixels(picture, where);
  throw new UsageError({
    where,
    got: describe(picture),
    expected:
      'an ImageBitmap, a VideoFrame, a canvas, an image or video element, ImageData, a Blob or { width, height, data }',
    remedy: 'new Blob([bytes]) makes a picture of the bytes of a file.',
  });
}

function describe(value: unknown): string {
  return value === null || value === undefined ? String(value) : Object(value).constructor.name;
}

function toRgb({ width, height, data }: Pixels, where: string): Rgb {
  const count = width * height;
  const channels = data.length / count;
  const isWhole = Number.isSafeInteger(count) && width > 0 && height > 0;
  if (!isWhole || ![1, 3, 4].includes(channels)) {
    throw new UsageError({
      where,
      got: `${width} x ${height} pixels in ${data.length} bytes`,
      expected: 'one pixel or more, and 1, 3 or 4 bytes for each',
      ...(isWhole ? {} : { remedy: 'Wait until the image or video has loaded.' }),
    });
  }
  if (channels === 3) {
    return { width, height, data: new Uint8Array(data.buffer, data.byteOffset, data.length) };
  }
  const out = new Uint8Array(count * 3);
  const [green, blue] = channels === 1 ? [0, 0] : [1, 2];
  for (let from = 0, to = 0; to < out.length; from += channels, to += 3) {
    out[to] = data[from] ?? 0;
    out[to + 1] = data[from + green] ?? 0;
    out[to + 2] = data[from + blue] ?? 0;
  }
  return { width, height, data: out };
}
