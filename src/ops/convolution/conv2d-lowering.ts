import storeFourScalar from '../../../shaders/lib/store-four-scalar.wgsl?raw';
import storeFourVector from '../../../shaders/lib/store-four-vector.wgsl?raw';
import workgroupTile from '../../../shaders/lib/workgroup-tile.wgsl?raw';
import direct from '../../../shaders/conv2d-direct.wgsl?raw';
import tiled from '../../../shaders/conv2d-tiled.wgsl?raw';
import tileSource from '../../../shaders/conv2d-tile.wgsl?raw';
import { type ConvTile, convTileSource } from './conv-register-tile.ts';
import { i32, type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';
import { matmulKernels } from '../linear/matmul-lowering.ts';
import { hasLinearQuads } from '../linear/matmul-variant.ts';
import { splitGrid } from '../linear/split-grid.ts';
import { type Window2d, window2d } from './window2d.ts';
import { usesWinograd, winogradKernels } from './winograd.ts';

/** Kernels of `conv2d`: x (N, C, H, W), w (K, C / groups, R, S), bias (K) or absent. */
export function lowerConv2d(call: LoweringCall): readonly KernelSpec[] {
  const [, , kernelH = 1, kernelW = 1] = call.inputs[1]?.shape ?? [];
  const window = window2d(call, [kernelH, kernelW]);
  const conv: Conv = {
    window,
    groups: Number(call.attributes.groups ?? 1),
    hasBias: call.inputs[2] !== undefined,
    call,
  };
  if (isMatmul(conv)) return pointwiseKernels(conv);
  if (call.caps.adapterClass === 'software' && conv.groups === 1 && usesWinograd(window)) {
    return winogradKernels(window, conv.hasBias, call.caps);
  }
  return splitGrid(chooseKernel(conv), call.caps);
}

function chooseKernel(conv: Conv): KernelSpec {
  const { kernelW, outChannels } = conv.window;
  if (conv.call.caps.adapterClass === 'software') {
    return kernelW <= MAX_TILE_KERNEL_W ? tileKernel(conv) : directKernel(conv);
  }
  // Depthwise and thin groups would leave most of a tile idle.
  return outChannels / conv.groups < 8 ? directKernel(conv) : tiledKernel(conv);
}

/** Wider windows take more registers than a tile has. */
const MAX_TILE_KERNEL_W = 11;

interface Conv {
  readonly window: Window2d;
  readonly groups: number;
  readonly hasBias: boolean;
  readonly call: LoweringCall;
}

const READS: KernelSpec['reads'] = [
  { hook: 'x', from: { kind: 'input', index: 0 }, width: 1 },
  { hook: 'w', from: { kind: 'input', index: 1 }, width: 1 },
  { hook: 'bias', from: { kind: 'input', index: 2 }, width: 1 },
];

/** A window of one element that steps by one: the product of weights (K, C) and images (C, HW). */
function isMatmul({ window, groups }: Conv): boolean {
  const { kernelH, kernelW, strideH, strideW, padTop, padLeft, padBottom, padRight } = window;
  const isPoint = kernelH === 1 && kernelW === 1 && strideH === 1 && strideW === 1;
  return isPoint && groups === 1 && padTop + padLeft + padBottom + padRight === 0;
}

function pointwiseKernels({ window, hasBias, call }: Conv): readonly KernelSpec[] {
  const pixels = window.inH * window.inW;
  const problem = {
    m: window.outChannels,
    n: pixels,
    k: window.channels,
    batch: [window.batch, 1],
    a: { batch: [0, 0], row: window.channels, column: 1 },
    b: { batch: [window.channels * pixels, 0], row: pixels, column: 1 },
    c: hasBias ? { row: 1, column: 0 } : undefined,
    alpha: 1,
    beta: 1,
  } as const;
  return matmulKernels(problem, call.caps, { a: 1, b: 0, c: 2 });
}

function tileKernel({ window, groups, hasBias, call }: Conv): KernelSpec {
  const groupOut = window.outChannels / groups;
  const shape = chooseTile(window.outW, groupOut);
  const { kernelH, kernelW, strideW, dilationW } = window;
  const quads = hasLinearQuads(call.caps) && shape.channels > 1;
  const tile: ConvTile = { ...shape, kernelH, kernelW, strideW, dilationW, quads };
  const blocksW = Math.ceil(window.outW / tile.pixels);
  const groupBlocks = Math.ceil(groupOut / tile.channels);
  const wholeGroups = window.outW % 4 === 0;
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
      Math.ceil((blocksW * window.outH) / 4),
      Math.ceil((groupBlocks * groups) / 4),
      window.batch,
    ],
    reads: READS,
    writes: [{ hook: '', to: { kind: 'output' }, width: wholeGroups ? 4 : 1 }],
  };
}

function tiledKernel({ window, groups, hasBias }: Conv): KernelSpec {
  const pixels = window.outH * window.outW;
  return {
    name: 'conv2d-tiled',
    source: tiled + workgroupTile,
    constants: { HAS_BIAS: hasBias },
    params: { ...convParams({ window, groups }), groups: u32(groups) },
    workgroupSize: [16, 16, 1],
    workgroups: [
      Math.ceil(pixels / 64),
      Math.ceil(window.outChannels / groups / 64),
      window.batch * groups,
    ],
    reads: READS,
    writes: [{ hook: '', to: { kind: 'output' }, width: 1 }],
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
  const pixels = window.outH * window.outW;
  return {
    name: 'conv2d-direct',
    source: direct,
    constants: { HAS_BIAS: hasBias },
    params: convParams({ window, groups }),
    workgroupSize: [64, 1, 1],
    workgroups: [Math.ceil(pixels / 64), window.outChannels, window.batch],
    reads: READS,
    writes: [{ hook: '', to: { kind: 'output' }, width: 1 }],
  };
}

function convParams({ window, groups }: Pick<Conv, 'window' | 'groups'>): KernelSpec['params'] {
  return {
    ...windowParams(window),
    out_channels: u32(window.outChannels),
    in_channels: u32(window.channels),
    group_in_channels: u32(window.channels / groups),
    group_out_channels: u32(window.outChannels / groups),
  };
}

/** The parameters that every kernel over a window has. */
export function windowParams(window: Window2d): KernelSpec['params'] {
  return {
    in_h: u32(window.inH),
    in_w: u32(window.inW),
    out_h: u32(window.outH),
    out_w: u32(window.outW),
    kernel_h: u32(window.kernelH),
    kernel_w: u32(window.kernelW),
    stride_h: u32(window.strideH),
    stride_w: u32(window.strideW),
    dilation_h: u32(window.dilationH),
    dilation_w: u32(window.dilationW),
    pad_top: i32(window.padTop),
    pad_left: i32(window.padLeft),
  };
}
