import {
  type BlockRange,
  multiplyMatrices,
  type PackBlock,
  packStrided,
} from './matrix-product.ts';
import type { WindowAxis } from './window.ts';

/** A convolution over NCHW images, as arrays and sizes. */
export interface ConvolutionPlan {
  readonly x: Float32Array;
  readonly w: Float32Array;
  readonly bias: Float32Array | undefined;
  readonly y: Float32Array;
  readonly batch: number;
  readonly channels: number;
  readonly outChannels: number;
  readonly groups: number;
  readonly rows: WindowAxis;
  readonly columns: WindowAxis;
}

/** Sums in double precision. Few channels per group go pixel by pixel, else it is a matrix product. */
export function convolve(plan: ConvolutionPlan): void {
  const groupOut = plan.outChannels / plan.groups;
  for (let image = 0; image < plan.batch; image++) {
    for (let group = 0; group < plan.groups; group++) {
      if (groupOut < 3) convolveByPixel(plan, image, group);
      else convolveByProduct(plan, image, group);
    }
  }
}

/**
 * Weights (K, C*R*S) times the image unfolded to (C*R*S, pixels), which exists only block by block,
 * where the product packs it.
 */
export function convolveByProduct(plan: ConvolutionPlan, image: number, group: number): void {
  const { rows, columns, w, y, bias } = plan;
  const groupIn = plan.channels / plan.groups;
  const groupOut = plan.outChannels / plan.groups;
  const pixels = rows.count * columns.count;
  const k = groupIn * rows.kernel * columns.kernel;
  const firstOut = group * groupOut;
  const base = (image * plan.outChannels + firstOut) * pixels;
  multiplyMatrices({
    m: groupOut,
    n: pixels,
    k,
    packA: packStrided({ elements: w, offset: firstOut * k, laneStride: k, depthStride: 1 }),
    packB: packUnfolded(plan, (image * plan.channels + group * groupIn) * rows.size * columns.size),
    store(row, column, sum) {
      y[base + row * pixels + column] = sum + (bias?.[firstOut + row] ?? 0);
    },
  });
}

/** Packs pixels of the unfolded image: lane = output pixel, depth = (channel, kernel row, column). */
function packUnfolded({ x, rows, columns }: ConvolutionPlan, offset: number): PackBlock {
  const taps = rows.kernel * columns.kernel;
  return (target, block) => {
    const { count, depth } = block;
    for (let p = 0; p < depth; p++) {
      const index = block.depthStart + p;
      const channel = Math.floor(index / taps);
      const r = Math.floor((index % taps) / columns.kernel);
      const s = index % columns.kernel;
      const tap = {
        plane: offset + channel * rows.size * columns.size,
        y: r * rows.dilation - rows.padBefore,
        x: s * columns.dilation - columns.padBefore,
      };
      packTap(x, target, { block, p, tap, rows, columns });
      for (let lane = count; lane % 4 !== 0; lane++) target[laneIndex(lane, depth, p)] = 0;
    }
  };
}

interface TapBlock {
  readonly block: BlockRange;
  readonly p: number;
  /** Start of the channel's plane, and the source position of output pixel (0, 0). */
  readonly tap: { readonly plane: number; readonly y: number; readonly x: number };
  readonly rows: WindowAxis;
  readonly columns: WindowAxis;
}

function laneIndex(lane: number, depth: number, p: number): number {
  return ((lane >> 2) * depth + p) * 4 + (lane & 3);
}

/** One kernel tap for a run of output pixels, row by row of the image. */
function packTap(x: Float32Array, target: Float64Array, run: TapBlock): void {
  const { block, p, tap, rows, columns } = run;
  const { first, count, depth } = block;
  const { size: width, stride, count: outWidth } = columns;
  let row = Math.floor(first / outWidth);
  let column = first - row * outWidth;
  let lane = 0;
  while (lane < count) {
    const end = Math.min(count, lane + outWidth - column);
    const sourceRow = row * rows.stride + tap.y;
    const inside = sourceRow >= 0 && sourceRow < rows.size;
    const start = tap.plane + sourceRow * width;
    let sourceColumn = column * stride + tap.x;
    for (; lane < end; lane++) {
      const isImage = inside && sourceColumn >= 0 && sourceColumn < width;
      target[((lane >> 2) * depth + p) * 4 + (lane & 3)] = isImage
        ? (x[start + sourceColumn] ?? 0)
        : 0;
      sourceColumn += stride;
    }
    column = 0;
    row++;
  }
}

/** The definition, one output element at a time. */
export function convolveByPixel(plan: ConvolutionPlan, image: number, group: number): void {
  const { rows, columns, y } = plan;
  const groupOut = plan.outChannels / plan.groups;
  for (let k = group * groupOut; k < (group + 1) * groupOut; k++) {
    let out = (image * plan.outChannels + k) * rows.count * columns.count;
    for (let i = 0; i < rows.count; i++) {
      for (let j = 0; j < columns.count; j++) {
        y[out] = pixel(plan, { image, group, k, i, j });
        out++;
      }
    }
  }
}

interface PixelPlace {
  readonly image: number;
  readonly group: number;
  readonly k: number;
  readonly i: number;
  readonly j: number;
}

function pixel(plan: ConvolutionPlan, { image, group, k, i, j }: PixelPlace): number {
  const { x, w, bias, rows, columns } = plan;
  const groupIn = plan.channels / plan.groups;
  const y0 = i * rows.stride - rows.padBefore;
  const x0 = j * columns.stride - columns.padBefore;
  const [rStart, rEnd] = tapRange(rows, y0);
  const [sStart, sEnd] = tapRange(columns, x0);
  let sum = bias?.[k] ?? 0;
  for (let c = 0; c < groupIn; c++) {
    const plane = (image * plan.channels + group * groupIn + c) * rows.size;
    for (let r = rStart; r < rEnd; r++) {
      const from = (plane + y0 + r * rows.dilation) * columns.size + x0;
      const weights = ((k * groupIn + c) * rows.kernel + r) * columns.kernel;
      for (let s = sStart; s < sEnd; s++) {
        sum += (w[weights + s] ?? 0) * (x[from + s * columns.dilation] ?? 0);
      }
    }
  }
  return sum;
}

/** The taps, from and up to, whose source lies inside when the window begins at `start`. */
export function tapRange({ size, kernel, dilation }: WindowAxis, start: number): [number, number] {
  const from = start >= 0 ? 0 : Math.ceil(-start / dilation);
  const to = Math.min(kernel, Math.ceil((size - start) / dilation));
  return [from, Math.max(from, to)];
}
