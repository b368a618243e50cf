import columns from '../../../shaders/conv2d-columns.wgsl?raw';
import { matmulKernels, problemKernels, wholeMatmulKernels } from '../linear/matmul-lowering.ts';
import { splitGrid } from '../linear/split-grid.ts';
import { unroll } from '../linear/register-tile.ts';
import { readInputs } from '../lowering/element-kernel.ts';
import {
  type KernelOperand,
  type KernelSpec,
  type LoweringCall,
  u32,
} from '../lowering/lowering.ts';
import { convolutionProblem } from './convolution-problem.ts';
import type { Window2d } from './window2d.ts';
import { windowParams } from './window-params.ts';

type Caps = LoweringCall['caps'];

/** The most bytes that the matrices of windows take; a larger image is convolved without them. */
const SCRATCH_BYTE_LENGTH = 16 << 20;

/** The most bytes that those of several images take: images beyond come later, in the same memory. */
const LOT_BYTE_LENGTH = 4 << 20;

/** Returns true if the window is one element with stride 1: images are the matrices themselves. */
export function isPoint(window: Window2d): boolean {
  return [window.rows, window.columns].every(
    ({ kernel, stride, padBefore, padAfter }) =>
      Math.max(kernel, stride) === 1 && padBefore + padAfter === 0,
  );
}

/**
 * Returns true if a product by a matrix of windows is worth it, and there is room for the matrix.
 */
export function usesColumns(window: Window2d, caps: Caps): boolean {
  return (
    window.outChannels >= 8 &&
    (window.channels >= 32 || window.rows.kernel * window.columns.kernel === 1) &&
    mayUseColumns(window, caps)
  );
}

/**
 * Returns true if the matrix of windows of one image is small enough, and that of all images can be
 * bound.
 */
export function mayUseColumns(window: Window2d, caps: Caps): boolean {
  const byteLength = imageByteLength(window);
  return (
    byteLength <= SCRATCH_BYTE_LENGTH &&
    window.batch * byteLength <= caps.maxStorageBufferBindingSize
  );
}

function imageByteLength(window: Window2d): number {
  return 16 * tapCount(window) * vectorCount(window);
}

function tapCount({ channels, rows, columns }: Window2d): number {
  return channels * rows.kernel * columns.kernel;
}

/** How many groups of four pixels the result has. */
function vectorCount({ rows, columns }: Window2d): number {
  return Math.ceil((rows.count * columns.count) / 4);
}

/** A convolution of one group with a window that `isPoint`: the product of weights and images. */
export function pointKernels(
  window: Window2d,
  hasBias: boolean,
  caps: Caps,
): readonly KernelSpec[] {
  return productKernels(window, { hasBias, caps, step: window.rows.count * window.columns.count });
}

/** How many images are done at once: as many as fit, where that divides the batch. */
function imagesAtOnce(window: Window2d): number {
  const { batch } = window;
  let images = Math.max(1, batch);
  while (images > 1 && (images * imageByteLength(window) > LOT_BYTE_LENGTH || batch % images > 0)) {
    images--;
  }
  return images;
}

/**
 * A convolution of one group whose windows are gathered into matrices (im2col), which are then
 * multiplied by the weights, in lots of some images. All such convolutions share their pipelines.
 */
export function columnKernels(
  window: Window2d,
  hasBias: boolean,
  caps: Caps,
  images = imagesAtOnce(window),
): readonly KernelSpec[] {
  const { batch } = window;
  const vectors = vectorCount(window);
  const scratch: KernelOperand = {
    kind: 'scratch',
    index: 0,
    byteLength: images * imageByteLength(window),
  };
  const gather: KernelSpec = {
    name: 'conv2d-columns',
    source: columns,
    constants: {},
    params: {
      ...windowParams([window.rows, window.columns]),
      in_channels: u32(window.channels),
      vectors: u32(vectors),
      images: u32(images),
    },
    workgroupSize: [16, 4, 1],
    workgroups: [Math.ceil(vectors / 16), Math.ceil(window.channels / 4), batch],
    reads: readInputs('x'),
    writes: [{ hook: 'columns', to: scratch, width: 4 }],
  };
  const kernels = [
    ...splitGrid(gather, caps),
    ...productKernels(window, { hasBias, caps, step: vectors * 4, scratch, images }),
  ];
  if (images >= batch) return kernels;
  // The grids of both are cut by images, if they are.
  if (kernels.length > 2 || kernels.some(({ workgroups }) => workgroups[2] !== batch)) {
    return columnKernels(window, hasBias, caps, batch);
  }
  return Array.from({ length: batch / images }, (_, lot) =>
    kernels.map((kernel): KernelSpec => {
      const [x, y] = kernel.workgroups;
      const params = { ...kernel.params, first_z: u32(lot * images) };
      return { ...kernel, params, workgroups: [x, y, images] };
    }),
  ).flat();
}

/** Returns true if 32 bits can number the elements of all matrices of windows. */
export function isCountable(window: Window2d): boolean {
  return window.batch * tapCount(window) * window.rows.count * window.columns.count < 2 ** 32;
}

/**
 * A convolution as the product of weights and a matrix of windows whose elements are gathered where a
 * product would load them: Chetlur et al., "cuDNN: Efficient Primitives for Deep Learning", 2014.
 */
export function gatheredKernels(
  window: Window2d,
  {
    groups,
    isFloat,
    hasBias,
    caps,
  }: {
    readonly groups: number;
    readonly isFloat: boolean;
    readonly hasBias: boolean;
    readonly caps: Caps;
  },
): readonly KernelSpec[] {
  const problem = convolutionProblem({
    batch: window.batch,
    outChannels: window.outChannels,
    groups,
    groupTaps: tapCount(window) / groups,
    pixels: window.rows.count * window.columns.count,
    hasBias,
  });
  const inputs: Readonly<Record<string, number>> = { a: 1, b: 0, c: 2 };
  // Parts of a product are added up in scratch, whose elements are floats.
  const kernels = (isFloat ? problemKernels : wholeMatmulKernels)(problem, caps);
  return kernels.map((kernel) => {
    const reads = kernel.reads.map((read) => {
      const index = inputs[read.hook];
      return index === undefined ? read : { ...read, from: { kind: 'input', index } as const };
    });
    if (!reads.some(({ hook }) => hook === 'b')) return { ...kernel, reads };
    return {
      ...kernel,
      source: gatherSource(window.columns.count % 4 === 0) + kernel.source,
      params: { ...kernel.params, ...windowParams([window.rows, window.columns]) },
      reads: reads.map((read) => (read.hook === 'b' ? { ...read, hook: 'x', width: 1 } : read)),
    };
  });
}

/** WGSL of `load_b` and `load_b4`; four pixels lie in a row of the result where its rows are in fours. */
function gatherSource(isRow: boolean): string {
  const four = isRow
    ? `let place = pixel_place(i * 4u);
  return Element4(${unroll(4, (j) => `pixel_at(place + vec3<i32>(0, 0, ${j} * i32(params.stride_w)))`, ', ')});`
    : `return Element4(${unroll(4, (j) => `load_b(i * 4u + ${j}u)`, ', ')});`;
  return `// Plane, y and x of what the element of the matrices of windows is.
fn pixel_place(i: u32) -> vec3<i32> {
  let row = i / params.n;
  let pixel = i - row * params.n;
  let row_of_taps = row / params.kernel_w;
  let plane = row_of_taps / params.kernel_h;
  let y = pixel / params.out_w;
  return vec3<i32>(
    i32(plane),
    i32(y * params.stride_h + (row_of_taps - plane * params.kernel_h) * params.dilation_h) - params.pad_h,
    i32((pixel - y * params.out_w) * params.stride_w + (row - row_of_taps * params.kernel_w) * params.dilation_w) - params.pad_w,
  );
}

fn pixel_at(place: vec3<i32>) -> Element {
  let size = vec2<i32>(i32(params.in_h), i32(params.in_w));
  if (any(place.yz < vec2<i32>()) || any(place.yz >= size)) {
    return Element();
  }
  return load_x(u32((place.x * size.x + place.y) * size.y + place.z));
}

fn load_b(i: u32) -> Element {
  return pixel_at(pixel_place(i));
}

fn load_b4(i: u32) -> Element4 {
  ${four}
}
`;
}

interface ProductOptions {
  readonly hasBias: boolean;
  readonly caps: Caps;
  /** Elements from one row of the right matrix to the next. */
  readonly step: number;
  /** The right matrix; absent for the images. */
  readonly scratch?: KernelOperand;
  /** How many images the right matrix has, if not all. */
  readonly images?: number;
}

function productKernels(
  window: Window2d,
  { hasBias, caps, step, scratch, images = Math.max(1, window.batch) }: ProductOptions,
): readonly KernelSpec[] {
  const k = tapCount(window);
  const problem = {
    m: window.outChannels,
    n: window.rows.count * window.columns.count,
    k,
    batch: [window.batch / images, images],
    a: { batch: [0, 0], row: k, column: 1 },
    b: { batch: [0, k * step], row: step, column: 1 },
    c: hasBias ? { row: 1, column: 0 } : undefined,
    alpha: 1,
    beta: 1,
  };
  const input = (index: number): KernelOperand => ({ kind: 'input', index });
  return matmulKernels(problem, caps, { a: input(1), b: scratch ?? input(0), c: input(2) });
}
