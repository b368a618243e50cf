import type { ImageInput } from '../../client/values/session-value.ts';
import { describe as describeValue } from '../../core/check-options.ts';
import { DownloadError, UnsupportedError, UsageError } from '../../core/errors.ts';
import type { GpuTextureLike } from '../../core/contracts/gpu-like.ts';
import { isPixels, type Pixels, type Rgb, toRgb } from '../../core/pictures/pixels.ts';
import { drawsPictures } from '../../core/pictures/read-drawn.ts';

/**
 * A picture for a task: a picture of the page, a file with one or its address, pixels, or a GPUTexture of the
 * device that a session was loaded with (`gpu`). Colours are those of sRGB, and transparency is
 * left out.
 */
export type Picture = ImageInput | Blob | Pixels | GpuTextureLike | string | URL;

/**
 * The pixels of a picture in RGB. Rejects with UsageError for a picture without pixels or of another kind, and with
 * UnsupportedError for files and pictures of a page where there is no page.
 */
export async function readRgb(picture: Picture, where = 'picture'): Promise<Rgb> {
  if (isPixels(picture)) return toRgb(picture, where);
  const file = await fetched(picture);
  if (!drawsPictures()) throw undrawn(describe(file), where);
  if (file instanceof Blob) {
    const bitmap = await decoded(file, where);
    try {
      return toRgb(await drawn(bitmap, where), where);
    } finally {
      bitmap.close();
    }
  }
  return toRgb(await drawn(file, where), where);
}

/** The file at the address of a picture; any other picture as it is. Rejects with DownloadError. */
export async function fetched<P>(picture: P | string | URL): Promise<P | Blob> {
  if (!(typeof picture === 'string' || picture instanceof URL)) return picture;
  const where = String(picture);
  if (!drawsPictures()) throw undrawn('an address', where);
  const expected = 'a picture';
  const response = await fetch(picture).catch((cause: unknown) => {
    throw new DownloadError({ where, got: 'no answer', expected }, { cause });
  });
  if (response.ok) return response.blob();
  throw new DownloadError({ where, got: `the status ${response.status}`, expected });
}

function undrawn(got: string, where: string): UnsupportedError {
  return new UnsupportedError({
    where,
    got,
    expected: '{ width, height, data: Uint8Array }, because nothing here draws pictures',
    remedy: 'Decode the picture with a library such as sharp or pngjs.',
  });
}

async function decoded(file: Blob, where: string): Promise<ImageBitmap> {
  try {
    return await createImageBitmap(file);
  } catch (cause) {
    const got = `a file of ${file.size} bytes of the type ${JSON.stringify(file.type)}`;
    throw new UsageError({ where, got, expected: 'a picture that this browser reads' }, { cause });
  }
}

async function drawn(picture: ImageInput | GpuTextureLike, where: string): Promise<Pixels> {
  const { isImageInput, readPixels } = await import('../../client/values/image-input.ts');
  if (isImageInput(picture)) return readPixels(picture, where);
  throw new UsageError({
    where,
    got: describe(picture),
    expected:
      'an ImageBitmap, a VideoFrame, a canvas, an image or video element, ImageData, a Blob or { width, height, data: Uint8Array }',
    remedy: 'new Blob([bytes]) makes a picture of the bytes of a file.',
  });
}

function describe(value: unknown): string {
  const name = (Object(value) as object).constructor?.name ?? 'Object';
  const isNamed = typeof value === 'object' && value !== null && name !== 'Object';
  return isNamed ? name : describeValue(value);
}
