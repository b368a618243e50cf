import type { Rectangle } from '../../core/pictures/rectangle.ts';

/** A line is text from the top to the bottom if it is so much higher than wide. */
const UPRIGHT = 1.5;

/** A rectangle whose width is the direction of its text: what is much higher than wide is read downwards, as PaddleOCR does. */
export function alongText(rectangle: Rectangle): Rectangle {
  const { center, along, width, height } = rectangle;
  if (height < width * UPRIGHT) return rectangle;
  return { center, along: [-along[1], along[0]], width: height, height: width };
}

/** The same rectangle, for text that is upside down in it. */
export function turnedAround(rectangle: Rectangle): Rectangle {
  const [dx, dy] = rectangle.along;
  return { ...rectangle, along: [-dx, -dy] };
}
