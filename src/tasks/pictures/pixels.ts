import type { ImageInput } from '../../client/session-value.ts';
import { UnsupportedError, UsageError } from '../../core/errors.ts';
import type { GpuTextureLike } from '../../core/gpu-like.ts';
import { isPixels, type Pixels, type Rgb, toRgb } from '../../core/pictures/pixels.ts';
import { drawsPictures } from '../../core/pictures/read-drawn.ts';

/**
 * A picture for a task: a picture of the page, a file with one, pixels, or a GPUTexture of the
 * device that a session was loaded with (`gpu`). Colours are those of sRGB, and transparency is
 * left out.
 */
export type Picture = ImageInput | Blob | Pixels | GpuTextureLike;

/**
 * The pixels of a picture in RGB. Rejects with UsageError for a picture without pixels or of another kind, and with
 * UnsupportedError for files and pictures of a page where there is no page.
 */
export async function readRgb(picture: Picture, where = 'picture'): Promise<Rgb> {
  if (isPixels(picture)) return toRgb(picture, where);
  if (!drawsPictures()) {
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
