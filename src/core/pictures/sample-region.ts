import type { Pixels } from './pixels.ts';
import type { Point } from './rectangle.ts';

/**
 * The steps that make a tensor of a region of a picture, turned at any angle, where its session is: plain data. Points are in pixels of
 * the picture; the middle of its first one is (0.5, 0.5).
 */
export interface RegionSteps {
  /** Columns and rows of the tensor. */
  readonly size: readonly [width: number, height: number];
  /** The point of the picture in the middle of the tensor's first element. */
  readonly begin: Point;
  /** From there to the next column, and to the next row. */
  readonly across: Point;
  readonly down: Point;
  /** Elements are `level * factor + shift`, levels being from 0 to 255. */
  readonly factor: number;
  readonly shift: number;
  /** True: the picture is black beyond its edge. False: its edge goes on. */
  readonly isBlackOutside: boolean;
  /** True if channels come last. */
  readonly isLast: boolean;
}

/** The dimensions of the tensor of a region. */
export function regionShape({ size: [width, height], isLast }: RegionSteps): readonly number[] {
  return isLast ? [1, height, width, 3] : [1, 3, height, width];
}

/**
 * Elements of a region in RGB, float32, as the shader `sample-region` makes them but for roundings: between the middles of four pixels they are
 * interpolated linearly.
 */
export function sampleRegion(picture: Pixels, steps: RegionSteps): Float32Array<ArrayBuffer> {
  const { width, height, data } = picture;
  const { begin, across, down, factor, shift, isBlackOutside, isLast } = steps;
  const [columns, rows] = steps.size;
  const [stepX, stepY] = across;
  const bytes = data.length / (width * height);
  const channelStep = bytes === 1 ? 0 : 1;
  const out = new Float32Array(columns * rows * 3).fill(shift);
  const [pixelStep, planeStep] = isLast ? [3, 1] : [1, columns * rows];
  // This loop takes as long as a small network: it makes no objects.
  for (let row = 0, pixel = 0; row < rows; row++) {
    let x = begin[0] + row * down[0];
    let y = begin[1] + row * down[1];
    for (let column = 0; column < columns; column++, pixel += pixelStep, x += stepX, y += stepY) {
      if (isBlackOutside && (x < 0 || y < 0 || x >= width || y >= height)) continue;
      const left = Math.floor(x - 0.5);
      const top = Math.floor(y - 0.5);
      const u = x - 0.5 - left;
      const v = y - 0.5 - top;
      const x0 = clamp(left, width - 1) * bytes;
      const x1 = clamp(left + 1, width - 1) * bytes;
      const y0 = clamp(top, height - 1) * width * bytes;
      const y1 = clamp(top + 1, height - 1) * width * bytes;
      const part = u * v;
      for (let c = 0, to = pixel; c < 3; c++, to += planeStep) {
        const at = c * channelStep;
        const level =
          (1 - u - v + part) * (data[y0 + x0 + at] ?? 0) +
          (u - part) * (data[y0 + x1 + at] ?? 0) +
          (v - part) * (data[y1 + x0 + at] ?? 0) +
          part * (data[y1 + x1 + at] ?? 0);
        out[to] = level * factor + shift;
      }
    }
  }
  return out;
}

const clamp = (at: number, most: number): number => (at < 0 ? 0 : at > most ? most : at);
