import type { PictureOptions } from '../pictures/picture-options.ts';
import type { Rgb } from '../../core/pictures/pixels.ts';

/** Every step that preparing has, in all layouts and dtypes. */
export const PICTURE_STEPS: readonly PictureOptions[] = [
  { size: 20, fit: 'cover', mean: [0.4, 0.5, 0.6], std: [0.2, 0.3, 0.4] },
  { size: { width: 60, height: 50 }, fit: 'contain', padding: [9, 99, 199], resampling: 'bicubic' },
  { size: { shortestEdge: 30 }, crop: 24, pad: { width: 32, height: 28 }, resampling: 'lanczos' },
  { channels: 'bgr', layout: 'nhwc', dtype: 'float16', size: 16, resampling: 'box' },
  { channels: 'grey', dtype: 'uint8', size: { width: 32, height: 17 } },
  { dtype: 'uint8', layout: 'nhwc', size: { width: 12, height: 40 }, resampling: 'nearest' },
];

/** A picture of pixels that are all different, which a formula gives. */
export function formulaPicture(width: number, height: number): Rgb {
  const data = new Uint8Array(width * height * 3);
  let at = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < 3; c++) data[at++] = x * 37 + y * 91 + c * 53 + x * y * c * 17;
    }
  }
  return { width, height, data };
}

/** A picture of one colour with upright rectangles of others. */
export function drawnPicture(
  width: number,
  height: number,
  rectangles: readonly {
    readonly left: number;
    readonly top: number;
    readonly width: number;
    readonly height: number;
    readonly colour: readonly [red: number, green: number, blue: number];
  }[],
): Rgb {
  const data = new Uint8Array(width * height * 3).fill(255);
  for (const { left, top, colour, ...size } of rectangles) {
    for (let y = top; y < top + size.height; y++) {
      for (let x = left; x < left + size.width; x++) data.set(colour, (y * width + x) * 3);
    }
  }
  return { width, height, data };
}
