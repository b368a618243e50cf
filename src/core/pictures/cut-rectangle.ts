import type { Rgb } from './pixels.ts';
import type { Rectangle } from './rectangle.ts';

/**
 * The part of a picture in a rectangle, its width across, in the picture's own resolution. Between pixels it is interpolated linearly, beyond the
 * picture its edge goes on.
 */
export function cutRectangle(picture: Rgb, rectangle: Rectangle): Rgb {
  const {
    center: [cx, cy],
    along: [dx, dy],
  } = rectangle;
  const width = Math.max(Math.round(rectangle.width), 1);
  const height = Math.max(Math.round(rectangle.height), 1);
  const [left, top] = [cx - (width - 1) / 2, cy - (height - 1) / 2];
  const isUpright = dx === 1 && dy === 0 && Number.isInteger(left) && Number.isInteger(top);
  if (isUpright) return cutUpright(picture, { left, top, width, height });
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

/** The same where pixels are whole ones of the picture. */
function cutUpright(
  picture: Rgb,
  {
    left,
    top,
    width,
    height,
  }: {
    readonly left: number;
    readonly top: number;
    readonly width: number;
    readonly height: number;
  },
): Rgb {
  if (left === 0 && top === 0 && width === picture.width && height === picture.height) {
    return picture;
  }
  const out = new Uint8Array(width * height * 3);
  const [begin, end] = [Math.max(left, 0), Math.min(left + width, picture.width)];
  for (let y = 0; y < height; y++) {
    const row = Math.min(Math.max(top + y, 0), picture.height - 1) * picture.width;
    const to = (y * width - left) * 3;
    if (end > begin) {
      out.set(picture.data.subarray((row + begin) * 3, (row + end) * 3), to + begin * 3);
    }
    for (let x = left; x < left + width; x++) {
      if (x >= begin && x < end) continue;
      const from = (row + Math.min(Math.max(x, 0), picture.width - 1)) * 3;
      for (let c = 0; c < 3; c++) out[to + x * 3 + c] = picture.data[from + c] ?? 0;
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
