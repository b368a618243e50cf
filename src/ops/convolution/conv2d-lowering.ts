import storeFourScalar from '../../../shaders/lib/store-four-scalar.wgsl?raw';
import storeFourVector from '../../../shaders/lib/store-four-vector.wgsl?raw';
import direct from '../../../shaders/conv2d-direct.wgsl?raw';
import tileSource from '../../../shaders/conv2d-tile.wgsl?raw';
import { type ConvTile, convTileSource } from './conv-register-tile.ts';
import { readInput, storeOutput } from '../lowering/element-kernel.ts';
import { isFloat as isFloatDType } from '../elementwise/number-dtypes.ts';
import { type KernelSpec, type LoweringCall, u32 } from '../lowering/lowering.ts';
import { hasLinearQuads } from '../linear/matmul-variant.ts';
import { splitGrid } from '../linear/split-grid.ts';
import { operand } from '../operand-checks.ts';
import {
  columnKernels,
  gatheredKernels,
  isCountable,
  isPoint,
  mayUseColumns,
  pointKernels,
  usesColumns,
} from './conv2d-product.ts';
import { channelParams, windowParams } from './window-params.ts';
import { type Window2d, window2d } from './window2d.ts';
import { windowTileKernel } from './window-tile.ts';
import { usesWinograd, type WinogradBlocks, winogradBlocks, winogradKernels } from './winograd.ts';

/** Kernels of `conv2d`: x (N, C, H, W), w (K, C / groups, R, S), bias (K) or absent. */
export function lowerConv2d(call: LoweringCall): readonly KernelSpec[] {
  const window = window2d(call);
  const { caps } = call;
  const groups = Number(call.attributes.groups ?? 1);
  const isFloat = isFloatDType(operand(call.inputs, 0).dtype);
  const conv: Conv = { window, groups, isFloat, hasBias: call.inputs[2] !== undefined, caps };
  if (groups === 1 && isPoint(window)) {
    const kernels = pointKernels(window, conv.hasBias, caps);
    // A product in parts adds them up in scratch.
    if (isFloat || kernels.length === 1) return kernels;
  }
  const product = productVariant(conv);
  const planes = product ? undefined : depthwiseKernel(conv);
  if (planes !== undefined) return [planes];
  const first = product ?? otherVariant(conv);
  const variant = caps.choices?.pick('convolution', { first, problem: conv, caps }) ?? first;
  return variantKernels(conv, variant);
}

export interface Conv {
  readonly window: Window2d;
  readonly groups: number;
  /** Integers have no kernels that pass scratch on, whose elements are floats. */
  readonly isFloat: boolean;
  readonly hasBias: boolean;
  readonly caps: Caps;
}

type Caps = LoweringCall['caps'];

/** How a convolution that is neither a product as it is nor depthwise is computed. */
export type ConvVariant =
  | WinogradVariant
  | TileVariant
  | { readonly kernel: 'columns' | 'gathered' | 'direct' };

interface WinogradVariant extends WinogradBlocks {
  readonly kernel: 'winograd';
}

/** `conv2d-tile`; windows of few taps may be `unrolled` whole. */
export interface TileVariant extends Pick<ConvTile, 'channels' | 'pixels' | 'unrolls'> {
  readonly kernel: 'tile';
}

/** Winograd's, or a product of gathered columns, where one of them pays for its scratch. */
function productVariant({ window, groups, isFloat, caps }: Conv): ConvVariant | undefined {
  if (groups > 1 || !isFloat) return undefined;
  if (usesWinograd(window, caps)) return { kernel: 'winograd', ...winogradBlocks(window, caps) };
  const isSoftware = caps.adapterClass === 'software';
  return isSoftware && usesColumns(window, caps) ? { kernel: 'columns' } : undefined;
}

function otherVariant(conv: Conv): ConvVariant {
  const { window, groups, isFloat, caps } = conv;
  if (caps.adapterClass !== 'software') return { kernel: mayGather(conv) ? 'gathered' : 'direct' };
  const { rows, columns } = window;
  if (columns.kernel > MAX_TILE_KERNEL_W) {
    const isWhole = groups === 1 && isFloat;
    const isProduct = isWhole && window.outChannels >= 8 && mayUseColumns(window, caps);
    return { kernel: isProduct ? 'columns' : 'direct' };
  }
  const unrolls = rows.kernel * columns.kernel <= MAX_UNROLLED_TAPS && window.channels > groups * 4;
  return { kernel: 'tile', ...chooseTile(columns.count, window.outChannels / groups), unrolls };
}

/** Depthwise and thin groups would leave most of a tile idle. */
export function mayGather({ window, groups }: Conv): boolean {
  return window.outChannels >= groups * 8 && isCountable(window);
}

function variantKernels(conv: Conv, variant: ConvVariant): readonly KernelSpec[] {
  const { window, hasBias, caps } = conv;
  switch (variant.kernel) {
    case 'winograd':
      return winogradKernels(window, { ...variant, hasBias, caps });
    case 'columns':
      return columnKernels(window, hasBias, caps);
    case 'gathered':
      return gatheredKernels(window, conv);
    case 'tile':
      return splitGrid(tileKernel(conv, variant), caps);
    default:
      return splitGrid(directKernel(conv), caps);
  }
}

/** Taps of a window whose rows are unrolled; of larger windows the rows are a loop. */
export const MAX_UNROLLED_TAPS = 9;

/** Wider windows take more registers than a tile has. */
export const MAX_TILE_KERNEL_W = 11;

const READS: KernelSpec['reads'] = [readInput('x', 0), readInput('w', 1), readInput('bias', 2)];

function depthwiseKernel({ window, groups, hasBias, caps }: Conv): KernelSpec | undefined {
  const { batch, channels, outChannels, rows, columns } = window;
  // More channels of the result for one of the image share what a tile loads.
  if (groups !== channels || outChannels >= groups * 4) return undefined;
  const plane = {
    kind: 'weighted',
    rows,
    columns,
    planes: batch * outChannels,
    multiplier: outChannels / groups,
    outChannels,
    hasBias,
    countsPad: false,
    outside: 0,
  } as const;
  return windowTileKernel(plane, caps);
}

function tileKernel({ window, groups, hasBias, caps }: Conv, shape: TileVariant): KernelSpec {
  const { rows, columns } = window;
  const quads = hasLinearQuads(caps) && shape.channels > 1;
  const tile: ConvTile = {
    ...shape,
    kernelH: rows.kernel,
    kernelW: columns.kernel,
    strideW: columns.stride,
    dilationW: columns.dilation,
    quads,
  };
  const blocksW = Math.ceil(window.columns.count / tile.pixels);
  const groupBlocks = Math.ceil(window.outChannels / groups / tile.channels);
  const wholeGroups = window.columns.count % 4 === 0;
  return {
    name: 'conv2d-tile',
    source: convTileSource(tile) + tileSource + (wholeGroups ? storeFourVector : storeFourScalar),
    enables: quads ? ['subgroups'] : [],
    constants: {
      HAS_BIAS: hasBias,
      TILE_CHANNELS: tile.channels,
      TILE_PIXELS: tile.pixels,
    },
    params: {
      ...convParams({ window, groups }),
      blocks_w: u32(blocksW),
      group_blocks: u32(groupBlocks),
      groups: u32(groups),
    },
    workgroupSize: [4, 4, 1],
    workgroups: [
      Math.ceil((blocksW * window.rows.count) / 4),
      Math.ceil((groupBlocks * groups) / 4),
      window.batch,
    ],
    reads: READS,
    writes: storeOutput(wholeGroups ? 4 : 1),
  };
}

/** The tile that covers the output with the least waste; the widest one of equals. */
function chooseTile(outW: number, channels: number): { channels: number; pixels: number } {
  if (channels === 1) return { channels: 1, pixels: outW <= 4 ? 4 : 8 };
  const covered = (tile: { channels: number; pixels: number }) =>
    Math.ceil(outW / tile.pixels) * Math.ceil(channels / tile.channels);
  const wide = { channels: 4, pixels: 8 };
  const tall = { channels: 8, pixels: 4 };
  return covered(wide) <= covered(tall) ? wide : tall;
}

function directKernel({ window, groups, hasBias }: Conv): KernelSpec {
  const pixels = window.rows.count * window.columns.count;
  return {
    name: 'conv2d-direct',
    source: direct,
    constants: { HAS_BIAS: hasBias },
    params: convParams({ window, groups }),
    workgroupSize: [64, 1, 1],
    workgroups: [Math.ceil(pixels / 64), window.outChannels, window.batch],
    reads: READS,
    writes: storeOutput(),
  };
}

function convParams({ window, groups }: Pick<Conv, 'window' | 'groups'>): KernelSpec['params'] {
  return {
    ...windowParams([window.rows, window.columns]),
    ...channelParams({ inChannels: window.channels, outChannels: window.outChannels, groups }),
  };
}
