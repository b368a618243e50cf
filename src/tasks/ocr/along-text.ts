import type { Rectangle } from '../../core/pictures/rectangle.ts';
import type { Size } from '../pictures/picture-options.ts';

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

/** All of a picture as it is. */
export function wholeOf({ width, height }: Size): Rectangle {
  return { center: [(width - 1) / 2, (height - 1) / 2], along: [1, 0], width, height };
}

/** All of a picture, read downwards: turned by a quarter to the left. */
export function turnedWhole({ width, height }: Size): Rectangle {
  return { ...wholeOf({ width, height }), along: [0, 1], width: height, height: width };
}

/** A rectangle in what a rectangle of a picture holds, as one of the picture. */
export function placedIn(whole: Rectangle, rectangle: Rectangle): Rectangle {
  const [dx, dy] = whole.along;
  const [u, v] = [
    rectangle.center[0] - (whole.width - 1) / 2,
    rectangle.center[1] - (whole.height - 1) / 2,
  ];
  const [along, aside] = rectangle.along;
  return {
    ...rectangle,
    center: [whole.center[0] + u * dx - v * dy, whole.center[1] + u * dy + v * dx],
    along: [along * dx - aside * dy, along * dy + aside * dx],
  };
}

/** Above 0 if more of some text goes up or down than across: by how much its pieces are longer than high. */
export function sideways(rectangles: readonly Rectangle[]): number {
  return rectangles.reduce((sum, { along: [dx, dy], width, height }) => {
    const excess = Math.max(width - height, 0);
    return sum + (Math.abs(dy) > Math.abs(dx) ? excess : -excess);
  }, 0);
}

/** From this likelihood on PaddleOCR turns a line over. */
const SURE = 0.9;
/** A piece that is not so much wider than high has too few characters to tell. */
const LONG = 3;

/**
 * Which lines are upside down, by how likely a model finds it: a page has one direction, so lines of which it is unsure, and short ones, go with
 * what the sure ones say of theirs.
 */
export function upsideDown(
  lines: readonly { readonly rectangle: Rectangle }[],
  likelihoods: readonly number[],
): boolean[] {
  const isSure = ({ width, height }: Rectangle, over: number): boolean =>
    width >= LONG * height && (over > SURE || over < 1 - SURE);
  const votes = lines.map(({ rectangle }, i) => {
    const over = likelihoods[i] ?? 0;
    if (!isSure(rectangle, over)) return 0;
    return over > SURE ? rectangle.width : -rectangle.width;
  });
  return lines.map(({ rectangle }, i) => {
    const [own, over] = [votes[i] ?? 0, likelihoods[i] ?? 0];
    if (own !== 0) return own > 0;
    const likeIt = votes.filter((_, k) => isParallel(lines[k]?.rectangle, rectangle));
    const sum = likeIt.reduce((all, vote) => all + vote, 0);
    return sum === 0 ? over > SURE : sum > 0;
  });
}

/** Returns true if the directions of two lines differ by less than 45°. */
function isParallel(a: Rectangle | undefined, { along: [dx, dy] }: Rectangle): boolean {
  return a !== undefined && a.along[0] * dx + a.along[1] * dy > Math.SQRT1_2;
}
