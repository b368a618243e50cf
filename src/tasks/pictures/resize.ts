import type { Rgb } from '../../core/pictures/pixels.ts';
import { resample } from '../../core/pictures/resample.ts';
import { type Resampling, resampleWeights } from './resample-weights.ts';

/**
 * The picture, of three channels or one, in another size: the same bytes as those of Pillow's `Image.resize`, everywhere. Rows first, then columns, each rounded to
 * 8 bits.
 */
export function resize(picture: Rgb, width: number, height: number, resampling: Resampling): Rgb {
  return resample(
    picture,
    resampleWeights(picture.width, width, resampling),
    resampleWeights(picture.height, height, resampling),
  );
}
