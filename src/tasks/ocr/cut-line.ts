import type { Rgb } from '../pictures/pixels.ts';
import type { Rectangle } from './min-area-rectangle.ts';

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

/**
 * The part of a picture in a rectangle, its width across, in the picture's own resolution. Between pixels it is interpolated linearly, beyond the
 * picture its edge goes on.
 */
export function cutLine(picture: Rgb, rectangle: Rectangle): Rgb {
  const {
    center: [cx, cy],
    along: [dx, dy],
  } = rectangle;
  const width = Math.max(Math.round(rectangle.width), 1);
  const height = Math.max(Math.round(rectangle.height), 1);
  const out = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row++) {
    const v = row - (height - 1) / 2;
    for (let column = 0; column < width; column++) {
      const u = column - (width - 1) / 2;
      sample(picture, cx + u * dx - v * dy, cy + u * dy + v * dx, out, (row * width + column) * 3);
    }
  }
  return { width, height, data: out };
}

function sample(
  { width, height, data }: Rgb,
  x: number,
  y: number,
  out: Uint8Array,
  to: number,
): void {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [right, down] = [x - left, y - top];
  const column = (at: number): number => Math.min(Math.max(at, 0), width - 1) * 3;
  const row = (at: number): number => Math.min(Math.max(at, 0), height - 1) * width * 3;
  const [x0, x1, y0, y1] = [column(left), column(left + 1), row(top), row(top + 1)];
  for (let c = 0; c < 3; c++) {
    const above = (data[y0 + x0 + c] ?? 0) * (1 - right) + (data[y0 + x1 + c] ?? 0) * right;
    const below = (data[y1 + x0 + c] ?? 0) * (1 - right) + (data[y1 + x1 + c] ?? 0) * right;
    out[to + c] = Math.round(above * (1 - down) + below * down);
  }
}

/** The picture upside down. */
export function turnedOver({ width, height, data }: Rgb): Rgb {
  const out = new Uint8Array(data.length);
  for (let from = 0, to = data.length - 3; from < data.length; from += 3, to -= 3) {
    out.set(data.subarray(from, from + 3), to);
  }
  return { width, height, data: out };
}
