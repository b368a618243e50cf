import type { Rgb } from '../pictures/pixels.ts';

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
