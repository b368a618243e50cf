import type { AxisWeights } from './picture-steps.ts';
import type { Rgb } from './pixels.ts';

/** Bits behind the point of weights: 8 of the pixels, 2 of overshoot and these fill 32. */
export const WEIGHT_BITS = 22;

const HALF = 2 ** (WEIGHT_BITS - 1);

/**
 * The picture, of three channels or one, with other columns, then other rows: weighted sums of its own, each rounded to 8 bits. With
 * weights of Pillow's filters it has the bytes of Pillow's `Image.resize`.
 */
export function resample(picture: Rgb, columns: AxisWeights, rows: AxisWeights): Rgb {
  const { width, height, data } = picture;
  const isGrey = data.length === width * height;
  const across = isWhole(columns, width)
    ? picture
    : isGrey
      ? resampleGreyRows(picture, columns)
      : resampleRows(picture, columns);
  return isWhole(rows, height) ? across : resampleColumns(across, rows);
}

/** Returns true if resampling leaves an axis as it is. */
function isWhole({ first, taps }: AxisWeights, length: number): boolean {
  return taps === 1 && first.length === length && first.every((from, i) => from === i);
}

function resampleRows({ width, height, data }: Rgb, { first, taps, weights }: AxisWeights): Rgb {
  const wide = first.length;
  const out = new Uint8Array(wide * height * 3);
  let to = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < wide; x++, to += 3) {
      let red = HALF;
      let green = HALF;
      let blue = HALF;
      let from = (y * width + (first[x] ?? 0)) * 3;
      // Behind the last pixel of the row weights are 0.
      for (let k = x * taps; k < (x + 1) * taps; k++, from += 3) {
        const weight = weights[k] ?? 0;
        if (weight === 0) continue;
        red += (data[from] ?? 0) * weight;
        green += (data[from + 1] ?? 0) * weight;
        blue += (data[from + 2] ?? 0) * weight;
      }
      out[to] = clamp(red >> WEIGHT_BITS);
      out[to + 1] = clamp(green >> WEIGHT_BITS);
      out[to + 2] = clamp(blue >> WEIGHT_BITS);
    }
  }
  return { width: wide, height, data: out };
}

function resampleGreyRows(
  { width, height, data }: Rgb,
  { first, taps, weights }: AxisWeights,
): Rgb {
  const wide = first.length;
  const out = new Uint8Array(wide * height);
  let to = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < wide; x++) {
      let level = HALF;
      let from = y * width + (first[x] ?? 0);
      for (let k = x * taps; k < (x + 1) * taps; k++) {
        level += (data[from++] ?? 0) * (weights[k] ?? 0);
      }
      out[to++] = clamp(level >> WEIGHT_BITS);
    }
  }
  return { width: wide, height, data: out };
}

function resampleColumns({ width, height, data }: Rgb, { first, taps, weights }: AxisWeights): Rgb {
  const high = first.length;
  const stride = data.length / height;
  const out = new Uint8Array(stride * high);
  const sums = new Int32Array(stride);
  for (let y = 0; y < high; y++) {
    sums.fill(HALF);
    for (let k = 0; k < taps; k++) {
      const weight = weights[y * taps + k] ?? 0;
      if (weight === 0) continue;
      const row = ((first[y] ?? 0) + k) * stride;
      for (let x = 0; x < stride; x++) sums[x] = (sums[x] ?? 0) + (data[row + x] ?? 0) * weight;
    }
    const row = y * stride;
    for (let x = 0; x < stride; x++) out[row + x] = clamp((sums[x] ?? 0) >> WEIGHT_BITS);
  }
  return { width, height: high, data: out };
}

function clamp(value: number): number {
  return value < 0 ? 0 : value > 255 ? 255 : value;
}
