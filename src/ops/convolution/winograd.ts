import storeFourScalar from '../../../shaders/lib/store-four-scalar.wgsl?raw';
import storeFourVector from '../../../shaders/lib/store-four-vector.wgsl?raw';
import tileSource from '../../../shaders/lib/winograd-tile.wgsl?raw';
import imageSource from '../../../shaders/winograd-image.wgsl?raw';
import outputSource from '../../../shaders/winograd-output.wgsl?raw';
import weightsSource from '../../../shaders/winograd-weights.wgsl?raw';
import { matmulKernels } from '../linear/matmul-lowering.ts';
import { unroll } from '../linear/register-tile.ts';
import {
  readInput,
  readInputs,
  storeOutput,
  invocationGrid,
  perInvocation,
} from '../lowering/element-kernel.ts';
import {
  i32,
  type KernelOperand,
  type KernelSpec,
  type LoweringCall,
  u32,
} from '../lowering/lowering.ts';
import type { Window2d } from './window2d.ts';
import { isWinogradAxis, type Matrix, WINOGRAD_4 } from './winograd-filter.ts';
import { plainProblem } from '../linear/matmul-problem.ts';

type Caps = LoweringCall['caps'];

const { image: IMAGE, weights: WEIGHTS, output: OUTPUT } = WINOGRAD_4;

/** Bytes of images and products together, at most about, and of weights: caches are to hold it. */
const SCRATCH_BYTE_LENGTH = { software: 9 << 15, integrated: 8 << 20, discrete: 32 << 20 };
const WEIGHTS_BYTE_LENGTH = { software: 1 << 19, integrated: 16 << 20, discrete: 64 << 20 };

/** Products of fewer columns leave too much of a tile idle. */
const FEWEST_TILES = { software: 16, integrated: 64, discrete: 64 };

/** Fewer channels than these are not worth four kernels. */
const FEWEST_CHANNELS = { software: 8, integrated: 32, discrete: 32 };

/**
 * Returns true if a convolution of one group is faster this way: it can be done so, and there is
 * enough work to outweigh four kernels and the transformed weights. Does not depend on the batch,
 * so that another one compiles nothing.
 */
export function usesWinograd(window: Window2d, { adapterClass }: Caps): boolean {
  const { channels, outChannels, rows, columns } = window;
  const pixels = rows.count * columns.count;
  return (
    isWinogradWindow(window) &&
    Math.min(channels, outChannels) >= FEWEST_CHANNELS[adapterClass] &&
    pixels >= 128 &&
    channels * outChannels * pixels >= 1 << 19
  );
}

/** Returns true if a window is 3 x 3, with stride 1 and no gaps between taps. */
export function isWinogradWindow(window: Window2d): boolean {
  return isWinogradAxis(window.rows) && isWinogradAxis(window.columns);
}

/** The part that is computed at once. */
export interface WinogradBlocks {
  /** Of 4 x 4 pixels, in whole groups of four, so that products load and store them as such. */
  readonly tiles: number;
  /** Channels of the result: all of them unless `tiles` are all tiles. */
  readonly rows: number;
}

export function winogradBlocks(window: Window2d, caps: Caps): WinogradBlocks {
  const { channels, outChannels } = window;
  const { adapterClass } = caps;
  const tileCount = tileCountOf(window);
  const most = Math.floor(SCRATCH_BYTE_LENGTH[adapterClass] / (144 * (channels + outChannels)));
  const parts =
    tileCount <= 64 ? 1 : Math.ceil(tileCount / Math.max(FEWEST_TILES[adapterClass], most));
  return {
    tiles: inFours(tileCount / parts),
    // The image is transformed once: of several parts each needs all weights.
    rows: parts > 1 ? outChannels : blockOf(window, caps),
  };
}

export const inFours = (count: number): number => Math.ceil(count / 4) * 4;

export function tileCountOf({ batch, rows, columns }: Window2d): number {
  return batch * Math.ceil(rows.count / 4) * Math.ceil(columns.count / 4);
}

interface WinogradOptions extends WinogradBlocks {
  readonly hasBias: boolean;
  readonly caps: Caps;
}

/**
 * A convolution of one group with a window that `isWinogradWindow`: weights and image are transformed,
 * multiplied as 36 matrices, and transformed back, block by block.
 */
export function winogradKernels(
  window: Window2d,
  { tiles, rows, hasBias, caps }: WinogradOptions,
): readonly KernelSpec[] {
  const { channels, outChannels } = window;
  const [tilesH, tilesW] = [Math.ceil(window.rows.count / 4), Math.ceil(window.columns.count / 4)];
  const tileCount = tileCountOf(window);
  const scratch = (index: number, count: number) =>
    ({ kind: 'scratch', index, byteLength: 144 * count }) as const;
  const operands = {
    weights: scratch(0, rows * channels),
    image: scratch(1, channels * tiles),
    product: scratch(2, rows * tiles),
  };
  const kernels: KernelSpec[] = [];
  for (let first = 0; first < tileCount; first += tiles) {
    const part = { first, last: Math.min(first + tiles, tileCount), tiles, tilesH, tilesW };
    for (let channel = 0; channel < outChannels; channel += rows) {
      const block = { first: channel, count: Math.min(rows, outChannels - channel) };
      if (first === 0) kernels.push(weightsKernel(channels, block, { operands, caps }));
      if (channel === 0) kernels.push(imageKernel(window, part, operands));
      kernels.push(
        ...products(window, { tiles, block }, { operands, caps }),
        outputKernel(window, part, { operands, block, hasBias }),
      );
    }
  }
  return kernels;
}

/** How many channels of the result are computed at once, so that their weights stay small. */
function blockOf({ channels, outChannels }: Window2d, { adapterClass }: Caps): number {
  const most = Math.floor(WEIGHTS_BYTE_LENGTH[adapterClass] / (144 * channels));
  // Workgroups of products on software adapters have so many rows.
  const blocks = Math.ceil(outChannels / Math.max(64, most));
  return Math.min(outChannels, Math.ceil(outChannels / blocks / 64) * 64);
}

/** Some channels of the result, which are computed together. */
interface Block {
  readonly first: number;
  readonly count: number;
}

interface Launching {
  readonly operands: Scratches;
  readonly caps: Caps;
}

interface Scratches {
  readonly weights: KernelOperand;
  readonly image: KernelOperand;
  readonly product: KernelOperand;
}

/** Tiles that are computed at once. */
interface Part {
  readonly first: number;
  /** The end, which no tile reaches. */
  readonly last: number;
  /** Tiles of the part, which are columns of the matrices. */
  readonly tiles: number;
  readonly tilesH: number;
  readonly tilesW: number;
}

function weightsKernel(
  channels: number,
  block: Block,
  { operands: { weights }, caps }: Launching,
): KernelSpec {
  const count = block.count * channels;
  const grid = invocationGrid(count, caps);
  return {
    ...grid,
    name: 'winograd-weights',
    source: transformSource(WEIGHTS, false) + perInvocation(weightsSource),
    constants: {},
    params: { first: u32(block.first * channels), ...grid.params },
    reads: [readInput('w', 1)],
    writes: [{ hook: 'weights', to: weights, width: 1 }],
  };
}

function imageKernel(window: Window2d, part: Part, { image }: Scratches): KernelSpec {
  return {
    name: 'winograd-image',
    source: transformSource(IMAGE, false) + imageSource + tileSource,
    constants: {},
    params: {
      ...partParams(part, window.channels),
      in_h: u32(window.rows.size),
      in_w: u32(window.columns.size),
      pad_h: i32(window.rows.padBefore),
      pad_w: i32(window.columns.padBefore),
    },
    ...partGrid(part, window.channels),
    reads: readInputs('x'),
    writes: [{ hook: 'image', to: image, width: 1 }],
  };
}

/** The products of weights (36, K, C) and image (36, C, tiles). */
function products(
  { channels: k }: Window2d,
  { tiles: n, block: { count: m } }: { readonly tiles: number; readonly block: Block },
  { operands: { weights, image, product }, caps }: Launching,
): KernelSpec[] {
  const plain = plainProblem({ m, n, k });
  const problem = {
    ...plain,
    batch: [36, 1],
    a: { ...plain.a, batch: [m * k, 0] },
    b: { ...plain.b, batch: [k * n, 0] },
  };
  return matmulKernels(problem, caps, { a: weights, b: image, c: ABSENT }).map((kernel) => ({
    ...kernel,
    writes: kernel.writes.map((write) =>
      write.to.kind === 'output' ? { ...write, to: product } : write,
    ),
  }));
}

const ABSENT: KernelOperand = { kind: 'input', index: 3 };

function outputKernel(
  { outChannels, rows, columns }: Window2d,
  part: Part,
  {
    operands: { product },
    block,
    hasBias,
  }: { readonly operands: Scratches; readonly block: Block; readonly hasBias: boolean },
): KernelSpec {
  const wholeGroups = columns.count % 4 === 0;
  return {
    name: 'winograd-output',
    source:
      transformSource(OUTPUT, true) +
      outputSource +
      tileSource +
      (wholeGroups ? storeFourVector : storeFourScalar),
    constants: { HAS_BIAS: hasBias },
    params: {
      ...partParams(part, block.count),
      first_channel: u32(block.first),
      out_channels: u32(outChannels),
      out_h: u32(rows.count),
      out_w: u32(columns.count),
    },
    ...partGrid(part, block.count),
    reads: [{ hook: 'product', from: product, width: 1 }, readInput('bias', 2)],
    writes: storeOutput(wholeGroups ? 4 : 1),
  };
}

function partParams(
  { first, last, tiles, tilesH, tilesW }: Part,
  channels: number,
): KernelSpec['params'] {
  return {
    channels: u32(channels),
    tiles: u32(tiles),
    first_tile: u32(first),
    last_tile: u32(last),
    tiles_h: u32(tilesH),
    tiles_w: u32(tilesW),
  };
}

function partGrid(
  { tiles }: Part,
  channels: number,
): Pick<KernelSpec, 'workgroupSize' | 'workgroups'> {
  return {
    workgroupSize: [16, 4, 1],
    workgroups: [Math.ceil(tiles / 16), Math.ceil(channels / 4), 1],
  };
}

/** WGSL for M d M^T: of what `take` gives for d, to `give` by rows of four or one by one. */
function transformSource(matrix: Matrix, byRows: boolean): string {
  const size = matrix.length;
  const width = matrix[0]?.length ?? 0;
  const sum = (row: Matrix[number], value: (k: number) => string) =>
    row.flatMap((factor, k) => (factor === 0 ? [] : [`${factor} * ${value(k)}`])).join(' + ');
  const lines = unroll(width, (i) =>
    ['row', 'column'].map((line) => `  let ${line}${i} = ${line}_at(place, ${i}u);`).join('\n'),
  );
  const taken = unroll(width * width, (n) => {
    const [i, j] = [Math.floor(n / width), n % width];
    return `  let d${i}_${j} = take(row${i}, column${j});`;
  });
  const given = matrix.map((row, i) => {
    const halves = unroll(width, (j) => `  let h${i}_${j} = ${sum(row, (k) => `d${k}_${j}`)};`);
    const results = matrix.map((other) => sum(other, (k) => `h${i}_${k}`));
    const gives = byRows
      ? `  give(place, ${i}u, Element4(${results.join(', ')}));`
      : unroll(size, (j) => `  give(place, ${i * size + j}u, ${results[j]});`);
    return `${halves}\n${gives}`;
  });
  return `fn transform(place: Place) {\n${lines}\n${taken}\n${given.join('\n')}\n}\n`;
}
