import {
  type BlockRange,
  multiplyMatrices,
  type PackBlock,
  packStrided,
} from '../linear/matrix-product.ts';
import type { WindowAxis } from './window.ts';
import type { FloatArray } from '../elements.ts';

/** A convolution over NCHW images, as arrays and sizes. */
export interface ConvolutionPlan {
  readonly x: FloatArray;
  readonly w: FloatArray;
  readonly bias: FloatArray | undefined;
  readonly y: FloatArray;
  readonly batch: number;
  readonly channels: number;
  readonly outChannels: number;
  readonly groups: number;
  readonly rows: WindowAxis;
  readonly columns: WindowAxis;
}

/** Below this, packing the image would cost more than the product saves. */
const FEW_OUTPUTS = 6;

/** Sums in double precision. */
export function convolve(plan: ConvolutionPlan): void {
  const groupOut = plan.outChannels / plan.groups;
  for (let image = 0; image < plan.batch; image++) {
    for (let group = 0; group < plan.groups; group++) {
      if (groupOut < FEW_OUTPUTS) convolveByTap(plan, image, group);
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
function packTap(x: FloatArray, target: Float64Array, run: TapBlock): void {
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

/**
 * One kernel tap after the other over whole planes, for groups of so few outputs that unfolding the
 * image would cost more than the sums.
 */
export function convolveByTap(plan: ConvolutionPlan, image: number, group: number): void {
  const { w, rows, columns } = plan;
  const groupIn = plan.channels / plan.groups;
  const groupOut = plan.outChannels / plan.groups;
  const sums = new Float64Array(rows.count * columns.count);
  for (let k = group * groupOut; k < (group + 1) * groupOut; k++) {
    sums.fill(plan.bias?.[k] ?? 0);
    for (let c = 0; c < groupIn; c++) {
      const plane = (image * plan.channels + group * groupIn + c) * rows.size * columns.size;
      for (let r = 0; r < rows.kernel; r++) {
        for (let s = 0; s < columns.kernel; s++) {
          const weight = w[((k * groupIn + c) * rows.kernel + r) * columns.kernel + s] ?? 0;
          addTap(plan, sums, { plane, r, s, weight });
        }
      }
    }
    plan.y.set(sums, (image * plan.outChannels + k) * sums.length);
  }
}

interface Tap {
  /** The index in x of the channel's first element. */
  readonly plane: number;
  readonly r: number;
  readonly s: number;
  readonly weight: number;
}

function addTap({ x, rows, columns }: ConvolutionPlan, sums: Float64Array, tap: Tap): void {
  const { stride } = columns;
  const { weight } = tap;
  const y0 = tap.r * rows.dilation - rows.padBefore;
  const x0 = tap.s * columns.dilation - columns.padBefore;
  const [iStart, iEnd] = insideRange(rows, y0);
  const [jStart, jEnd] = insideRange(columns, x0);
  for (let i = iStart; i < iEnd; i++) {
    let from = tap.plane + (i * rows.stride + y0) * columns.size + jStart * stride + x0;
    const end = i * columns.count + jEnd;
    for (let to = i * columns.count + jStart; to < end; to++) {
      sums[to] = (sums[to] ?? 0) + weight * (x[from] ?? 0);
      from += stride;
    }
  }
}

/** The outputs, from and up to, whose source lies inside for a tap at `offset`. */
function insideRange({ size, stride, count }: WindowAxis, offset: number): [number, number] {
  const from = Math.max(0, Math.ceil(-offset / stride));
  const to = Math.min(count, Math.ceil((size - offset) / stride));
  return [from, Math.max(from, to)];
}
