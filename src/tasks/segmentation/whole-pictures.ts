import { ShapeError } from '../../core/errors.ts';
import type { PictureInput } from '../pictures/model-pictures.ts';
import type { Size } from '../pictures/picture-options.ts';
import type { PicturePlace } from '../pictures/picture-place.ts';
import { type AxisSamples, axisSamples } from './axis-samples.ts';

/**
 * The same input without a step that cuts anything off, of which a mask could say nothing: the picture is stretched to the size that
 * would be cut out.
 */
export function wholePictures({ name, options }: PictureInput): PictureInput {
  const { crop, fit, ...others } = options;
  if (crop !== undefined) return { name, options: { ...others, size: crop } };
  return { name, options: fit === 'cover' ? others : options };
}

/** Where the pixels of a picture lie in a mask of the picture that a model got. */
export function samplesOf(
  place: PicturePlace,
  mask: Size,
): { readonly columns: AxisSamples; readonly rows: AxisSamples } {
  const { width, height } = place.source;
  const across = mask.width / place.whole.width;
  const down = mask.height / place.whole.height;
  return {
    columns: axisSamples(width, mask.width, (x) => place.fromSource(x, 0)[0] * across),
    rows: axisSamples(height, mask.height, (y) => place.fromSource(0, y)[1] * down),
  };
}

/** The rectangle of a mask in which a picture lies. Throws ShapeError for one of no whole element. */
export function partOf(place: PicturePlace, mask: Size): Rectangle {
  const across = mask.width / place.whole.width;
  const down = mask.height / place.whole.height;
  const [x, y] = place.fromSource(0, 0);
  const [endX, endY] = place.fromSource(place.source.width, place.source.height);
  const left = Math.round(x * across);
  const top = Math.round(y * down);
  const part = {
    left,
    top,
    width: Math.round(endX * across) - left,
    height: Math.round(endY * down) - top,
  };
  if (part.width > 0 && part.height > 0) return part;
  throw new ShapeError({
    where: 'the result of the model',
    got: `a mask of ${mask.width} x ${mask.height}`,
    expected: 'one that is large enough for the picture in it',
  });
}

export interface Rectangle extends Size {
  readonly left: number;
  readonly top: number;
}
