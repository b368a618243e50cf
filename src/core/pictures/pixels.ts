import { UsageError } from '../errors.ts';

/** Rows of pixels from the top, channels side by side: 1 (grey), 3 (RGB) or 4 (RGBA), elements 0 to 255. `ImageData` is such. */
export interface Pixels {
  /** Pixels in a row. */
  readonly width: number;
  /** Rows. */
  readonly height: number;
  /** width x height x channels elements. */
  readonly data: Uint8Array | Uint8ClampedArray;
}

export interface Rgb extends Pixels {
  readonly data: Uint8Array;
}

/** Returns true for a picture that is given by its pixels. */
export function isPixels(picture: unknown): picture is Pixels {
  if (typeof picture !== 'object' || picture === null) return false;
  const { width, height, data } = picture as Partial<Pixels>;
  const isBytes = data instanceof Uint8Array || data instanceof Uint8ClampedArray;
  return isBytes && typeof width === 'number' && typeof height === 'number';
}

/** Bytes of a pixel. Throws UsageError for no pixels, and for another number of bytes. */
export function channelsOf({ width, height, data }: Pixels, where: string): 1 | 3 | 4 {
  const count = width * height;
  const channels = data.length / count;
  const isWhole = Number.isSafeInteger(count) && width > 0 && height > 0;
  if (isWhole && (channels === 1 || channels === 3 || channels === 4)) return channels;
  throw new UsageError({
    where,
    got: `${width} x ${height} pixels in ${data.length} bytes`,
    expected: 'one pixel or more, and 1, 3 or 4 bytes for each',
    ...(isWhole ? {} : { remedy: 'Wait until the image or video has loaded.' }),
  });
}

/** The pixels in RGB, without a copy where they are such. Throws as {@link channelsOf} does. */
export function toRgb(pixels: Pixels, where: string): Rgb {
  const channels = channelsOf(pixels, where);
  const { width, height, data } = pixels;
  if (channels === 3) {
    return { width, height, data: new Uint8Array(data.buffer, data.byteOffset, data.length) };
  }
  const out = new Uint8Array(width * height * 3);
  const [green, blue] = channels === 1 ? [0, 0] : [1, 2];
  for (let from = 0, to = 0; to < out.length; from += channels, to += 3) {
    out[to] = data[from] ?? 0;
    out[to + 1] = data[from + green] ?? 0;
    out[to + 2] = data[from + blue] ?? 0;
  }
  return { width, height, data: out };
}
