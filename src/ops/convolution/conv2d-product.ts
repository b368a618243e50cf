import columns from '../../../shaders/conv2d-columns.wgsl?raw';
import { matmulKernels } from '../linear/matmul-lowering.ts';
import { splitGrid } from '../linear/split-grid.ts';
import { type KernelOperand, type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';
import type { Window2d } from './window2d.ts';
import { windowParams } from './window-params.ts';

type Caps = LoweringCall['caps'];

/** What the matrices of windows take at most; a larger image is convolved without them. */
const SCRATCH_BYTE_LENGTH = 16 << 20;

/** Whether the window is one element that steps by one: images are the matrices themselves. */
export function isPoint(window: Window2d): boolean {
  const { kernelH, kernelW, strideH, strideW, padTop, padLeft, padBottom, padRight } = window;
  const isOne = Math.max(kernelH, kernelW, strideH, strideW) === 1;
  return isOne && padTop + padLeft + padBottom + padRight === 0;
}

/** Whether a product of a matrix of windows pays and the matrix of one image is small enough. */
export function usesColumns(window: Window2d, caps: Caps): boolean {
  const byteLength = imageByteLength(window);
  return (
    window.outChannels >= 8 &&
    (window.channels >= 32 || window.kernelH * window.kernelW === 1) &&
    byteLength <= SCRATCH_BYTE_LENGTH &&
    window.batch * byteLength <= caps.maxStorageBufferBindingSize
  );
}

function imageByteLength(window: Window2d): number {
  return 16 * tapCount(window) * vectorCount(window);
}

function tapCount({ channels, kernelH, kernelW }: Window2d): number {
  return channels * kernelH * kernelW;
}

/** Groups of four pixels. */
function vectorCount({ outH, outW }: Window2d): number {
  return Math.ceil((outH * outW) / 4);
}

/** A convolution of one group with a window that `isPoint`: the product of weights and images. */
export function pointKernels(
  window: Window2d,
  hasBias: boolean,
  caps: Caps,
): readonly KernelSpec[] {
  return productKernels(window, { hasBias, caps, step: window.outH * window.outW });
}

/**
 * A convolution of one group whose windows are gathered into matrices (im2col), which are then
 * multiplied by the weights. All such convolutions share their pipelines.
 */
export function columnKernels(
  window: Window2d,
  hasBias: boolean,
  caps: Caps,
): readonly KernelSpec[] {
  const vectors = vectorCount(window);
  const scratch: KernelOperand = {
    kind: 'scratch',
    index: 0,
    byteLength: window.batch * imageByteLength(window),
  };
  const gather: KernelSpec = {
    name: 'conv2d-columns',
    source: columns,
    constants: {},
    params: {
      ...windowParams(window),
      in_channels: u32(window.channels),
      vectors: u32(vectors),
    },
    workgroupSize: [16, 4, 1],
    workgroups: [Math.ceil(vectors / 16), Math.ceil(window.channels / 4), window.batch],
    reads: [{ hook: 'x', from: { kind: 'input', index: 0 }, width: 1 }],
    writes: [{ hook: 'columns', to: scratch, width: 4 }],
  };
  const step = vectors * 4;
  return [...splitGrid(gather, caps), ...productKernels(window, { hasBias, caps, step, scratch })];
}

interface ProductOptions {
  readonly hasBias: boolean;
  readonly caps: Caps;
  /** Elements from one row of the right matrix to the next. */
  readonly step: number;
  /** The right matrix; absent for the images. */
  readonly scratch?: KernelOperand;
}

function productKernels(
  window: Window2d,
  { hasBias, caps, step, scratch }: ProductOptions,
): readonly KernelSpec[] {
  const k = tapCount(window);
  const problem = {
    m: window.outChannels,
    n: window.outH * window.outW,
    k,
    batch: [window.batch, 1],
    a: { batch: [0, 0], row: k, column: 1 },
    b: { batch: [k * step, 0], row: step, column: 1 },
    c: hasBias ? { row: 1, column: 0 } : undefined,
    alpha: 1,
    beta: 1,
  };
  const input = (index: number): KernelOperand => ({ kind: 'input', index });
  return matmulKernels(problem, caps, { a: input(1), b: scratch ?? input(0), c: input(2) });
}
