import { internalError } from '../errors.ts';
import type { AxisWeights, PictureSteps } from './picture-steps.ts';
import type { Rgb } from './pixels.ts';
import { resample } from './resample.ts';

/** Float32, float16 and uint8 by their bits. */
type ElementBits = Int32Array | Uint16Array | Uint8Array;

/** Memory for elements by their size in bytes. */
const ELEMENT_ARRAYS = { 4: Float32Array, 2: Uint16Array, 1: Uint8Array } as const;

/**
 * Elements of pictures that become as large, one behind the other: of float32, float16 or uint8, (picture, channel, row, column) or with
 * channels last. They are those of the shader `prepare-picture`, to the bit.
 */
export class PreparedElements {
  readonly data: Float32Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;
  readonly #bits: ElementBits;
  readonly #steps: readonly PictureSteps[];

  /**
   * Takes memory for as many pictures as there are steps. Throws RangeError where there is none.
   */
  constructor(steps: readonly PictureSteps[]) {
    this.#steps = steps;
    const count = steps.reduce((sum, each) => sum + countOf(each), 0);
    this.data = new ELEMENT_ARRAYS[steps[0]?.elementSize ?? 4](count);
    this.#bits = this.data instanceof Float32Array ? new Int32Array(this.data.buffer) : this.data;
  }

  write(index: number, picture: Rgb): void {
    const steps = this.#steps[index];
    if (steps === undefined) throw internalError('a picture without steps');
    const count = countOf(steps);
    writeElements(picture, steps, this.#bits.subarray(index * count, (index + 1) * count));
  }
}

const countOf = ({ order, padded }: PictureSteps): number => order.length * padded[0] * padded[1];

/** Writes the elements that are not 0: `out` has to hold zeros. */
function writeElements(picture: Rgb, steps: PictureSteps, out: ElementBits): void {
  const { frame, resized, padded, order, levels, isLast, isGrey, fill } = steps;
  const [left, top, width, height] = frame;
  // The part of the resized picture that is in the frame; nothing else is computed.
  const columns = overlap(left, resized[0], width);
  const rows = overlap(top, resized[1], height);
  const isCovered = columns.to - columns.from === width && rows.to - rows.from === height;
  const isVisible = columns.to > columns.from && rows.to > rows.from;
  const seen = isVisible ? visiblePart(picture, steps, { columns, rows }) : undefined;
  const step = isGrey ? 1 : 3;
  const [pixelStep, planeStep] = isLast ? [order.length, 1] : [1, padded[0] * padded[1]];
  for (const [c, colour] of order.entries()) {
    const table = levels.subarray(c * 256, c * 256 + 256);
    const at = (x: number, y: number): number => (y * padded[0] + x) * pixelStep + c * planeStep;
    if (!isCovered) {
      const element = table[fill[colour] ?? 0] ?? 0;
      for (let y = 0; y < height; y++) {
        for (let x = 0; x < width; x++) out[at(x, y)] = element;
      }
    }
    if (seen === undefined) continue;
    const { data } = seen;
    for (let y = 0; y < seen.height; y++) {
      let from = y * seen.width * step + (isGrey ? 0 : colour);
      let to = at(columns.from + left, y + rows.from + top);
      for (let x = 0; x < seen.width; x++, from += step, to += pixelStep) {
        out[to] = table[data[from] ?? 0] ?? 0;
      }
    }
  }
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The part of something that lies from 0 to `length`, counted from its own begin at `place`. */
function overlap(place: number, size: number, length: number): Range {
  return { from: Math.max(-place, 0), to: Math.min(size, length - place) };
}

/** A part of the resized picture, of the rows of the picture that it is made of; of luma alone for grey. */
function visiblePart(
  { width, data }: Rgb,
  { rows: across, columns: down, isGrey }: PictureSteps,
  { columns, rows }: { readonly columns: Range; readonly rows: Range },
): Rgb {
  const vertical = partOf(down, rows);
  const source = reachOf(vertical);
  const part = {
    width,
    height: source.to - source.from,
    data: data.subarray(source.from * width * 3, source.to * width * 3),
  };
  const moved = vertical.first.map((row) => row - source.from);
  return resample(isGrey ? lumaOf(part) : part, partOf(across, columns), {
    ...vertical,
    first: moved,
  });
}

function partOf({ first, taps, weights }: AxisWeights, { from, to }: Range): AxisWeights {
  return {
    first: first.subarray(from, to),
    taps,
    weights: weights.subarray(from * taps, to * taps),
  };
}

/** The pixels of the source that weights other than 0 are of. */
function reachOf({ first, taps, weights }: AxisWeights): Range {
  let [from, to] = [Infinity, 0];
  for (const [i, begin] of first.entries()) {
    from = Math.min(from, begin);
    let count = taps;
    while (count > 1 && weights[i * taps + count - 1] === 0) count--;
    to = Math.max(to, begin + count);
  }
  return { from, to };
}

/** Luma, as Pillow's `convert('L')` has it. */
function lumaOf({ width, height, data }: Rgb): Rgb {
  const out = new Uint8Array(width * height);
  for (let i = 0, from = 0; i < out.length; i++, from += 3) {
    const [red, green, blue] = [data[from] ?? 0, data[from + 1] ?? 0, data[from + 2] ?? 0];
    out[i] = (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16;
  }
  return { width, height, data: out };
}
