import { UsageError } from '../../core/errors.ts';
import type { Pixels, Rgb } from '../../core/pictures/pixels.ts';
import { type Picture, readRgb } from '../pictures/pixels.ts';
import type { Mask } from './segmentation.ts';

/** A picture in RGBA with transparency, for `new ImageData(data, width, height)`. */
export interface MaskedPicture extends Pixels {
  /** Red, green, blue and alpha of each pixel; colours are not premultiplied. */
  readonly data: Uint8ClampedArray<ArrayBuffer>;
}

/**
 * The picture with a mask for its transparency. Rejects with UsageError for a mask of another size, and for what is no picture.
 */
export async function applyMask(picture: Picture, mask: Mask): Promise<MaskedPicture> {
  return masked(await readRgb(picture), mask);
}

/** The pixels with a mask for their transparency. Throws UsageError for a mask of another size. */
export function masked({ width, height, data: colours }: Rgb, mask: Mask): MaskedPicture {
  if (mask.width !== width || mask.height !== height || mask.data.length !== width * height) {
    throw new UsageError({
      where: 'applyMask',
      got: `a mask of ${mask.width} x ${mask.height} in ${mask.data.length} bytes`,
      expected: `${width} x ${height}, the size of the picture, in one byte a pixel`,
    });
  }
  const data = new Uint8ClampedArray(width * height * 4);
  for (const [pixel, alpha] of mask.data.entries()) {
    for (let c = 0; c < 3; c++) data[pixel * 4 + c] = colours[pixel * 3 + c] ?? 0;
    data[pixel * 4 + 3] = alpha;
  }
  return { width, height, data };
}
