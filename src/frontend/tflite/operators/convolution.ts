import type { Expr } from '../../../compiler/ir/expr.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import { becomes, type LiteImporters } from '../lite-importer.ts';
import type { LiteNode } from '../lite-node.ts';
import { activate } from './activation.ts';

/** Codes of the schema. */
const SAME = 0;

/** A window over the spatial axes of (N, H, W, C). */
export interface Window {
  readonly padding: number;
  readonly kernel: readonly number[];
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
}

/** Strides and dilations of the options of a convolution or a pool. */
export function windowOf(
  kernel: readonly number[],
  options: {
    readonly padding: number;
    readonly strideH: number;
    readonly strideW: number;
    readonly dilationH?: number;
    readonly dilationW?: number;
  },
): Window {
  const { padding, strideH, strideW, dilationH = 1, dilationW = 1 } = options;
  return {
    padding,
    kernel,
    strides: [strideH, strideW],
    dilations: [dilationH, dilationW],
  };
}

/** Padding of all begins, then all ends: that of SAME has the odd element at the end. */
export function padsOf(
  node: LiteNode,
  sizes: readonly Dim[],
  { padding, kernel, strides, dilations }: Window,
): readonly Dim[] {
  requirePositive(node, [...kernel, ...strides, ...dilations]);
  if (padding !== SAME) return [...sizes, ...sizes].map(() => 0);
  const { dims } = node;
  const totals = sizes.map((size, axis): Dim => {
    const stride = strides[axis] ?? 1;
    const extent = ((kernel[axis] ?? 1) - 1) * (dilations[axis] ?? 1) + 1;
    if (stride === 1) return extent - 1;
    const windows = dims.floordiv(dims.add(size, stride - 1), stride);
    const covered = dims.add(dims.mul(dims.sub(windows, 1), stride), extent);
    return dims.max(dims.sub(covered, size), 0);
  });
  const begins = totals.map((total) => dims.floordiv(total, 2));
  return [...begins, ...totals.map((total, axis) => dims.sub(total, begins[axis] ?? 0))];
}

function requirePositive(node: LiteNode, sizes: readonly number[]): void {
  if (sizes.every((size) => size > 0)) return;
  throw node.malformed(`a window of sizes and steps ${sizes.join(', ')}`, 'all above 0');
}

/** The spatial sizes of (N, H, W, C). Throws FormatError for another rank. */
export function spatialSizes(node: LiteNode, x: Expr, rank = 4): readonly Dim[] {
  const shape = node.shape(x);
  if (shape.length === rank) return shape.slice(1, -1);
  throw node.malformed(`an input of ${shape.length} axes`, `${rank}`);
}

/** Sizes of a kernel (K, R, S, C). */
export function kernelSizes(node: LiteNode, weights: Expr): readonly number[] {
  return node.numbers(spatialSizes(node, weights), 'the size of a kernel');
}

const BIAS = 2;

/** The bias of a convolution, if there is one. */
function biasOf(node: LiteNode): readonly Expr[] {
  const bias = node.inputs[BIAS];
  return bias === undefined ? [] : [bias];
}

/** A convolution of (N, H, W, C) by weights (K, R, S, C / groups). */
function conv2d(node: LiteNode): Expr {
  const options = node.options('conv2d');
  const [x, weights] = [node.input(0), node.input(1)];
  const window = windowOf(kernelSizes(node, weights), options);
  const pads = padsOf(node, spatialSizes(node, x), window);
  const channels = node.number(node.shape(x)[3] ?? 1, 'the number of channels');
  const each = node.number(node.shape(weights)[3] ?? 1, 'the number of channels of a kernel');
  if (each === 0 || channels % each !== 0) {
    throw node.malformed(`kernels of ${each} channels`, `a divisor of ${channels}`);
  }
  const result = node.call(
    'conv2d',
    [node.channelsSecond(x), node.transpose(weights, [0, 3, 1, 2]), ...biasOf(node)],
    { strides: window.strides, pads, dilations: window.dilations, groups: channels / each },
  );
  return node.channelsLast(activate(node, result, options.activation));
}

/** Each channel by kernels of its own: weights (1, R, S, C * multiplier). */
function depthwiseConv2d(node: LiteNode): Expr {
  const options = node.options('depthwiseConv2d');
  const [x, weights] = [node.input(0), node.input(1)];
  const window = windowOf(kernelSizes(node, weights), options);
  const pads = padsOf(node, spatialSizes(node, x), window);
  const groups = node.number(node.shape(x)[3] ?? 1, 'the number of channels');
  const result = node.call(
    'conv2d',
    [node.channelsSecond(x), node.transpose(weights, [3, 0, 1, 2]), ...biasOf(node)],
    { strides: window.strides, pads, dilations: window.dilations, groups },
  );
  return node.channelsLast(activate(node, result, options.activation));
}

interface Transposed {
  readonly x: Expr;
  readonly weights: Expr;
  readonly bias: readonly Expr[];
  readonly size: readonly Dim[];
  readonly padding: number;
  readonly strides: readonly number[];
}

/** The transpose of a convolution by weights (K, R, S, C), cut off to a size. */
export function convTranspose(
  node: LiteNode,
  { x, weights, bias, size, padding, strides }: Transposed,
): Expr {
  const { dims } = node;
  const kernel = kernelSizes(node, weights);
  requirePositive(node, [...kernel, ...strides]);
  const pads = spatialSizes(node, x).map((from, axis) => {
    if (padding !== SAME) return 0;
    const whole = dims.add(dims.mul(dims.sub(from, 1), strides[axis] ?? 1), kernel[axis] ?? 1);
    return dims.floordiv(dims.max(dims.sub(whole, size[axis] ?? 1), 0), 2);
  });
  return node.call(
    'conv_transpose',
    [node.channelsSecond(x), node.transpose(weights, [3, 0, 1, 2]), ...bias],
    { size, strides, pads },
  );
}

function transposeConv(node: LiteNode): Expr {
  const { padding, strideH, strideW, activation } = node.options('transposeConv');
  const shape = node.dimsInput(0, 'output shape') ?? [];
  if (shape.length !== 4) throw node.malformed(`an output shape of ${shape.length} axes`, '4');
  const bias = node.inputs[3];
  const result = convTranspose(node, {
    x: node.input(2),
    weights: node.input(1),
    bias: bias === undefined ? [] : [bias],
    size: shape.slice(1, 3),
    padding,
    strides: [strideH, strideW],
  });
  return node.channelsLast(activate(node, result, activation));
}

/** A convolution of (N, D, H, W, C) by weights (Q, R, S, C, K). */
function conv3d(node: LiteNode): Expr {
  const options = node.options('conv3d');
  const [x, weights] = [node.input(0), node.input(1)];
  const kernel = node.numbers(node.shape(weights).slice(0, 3), 'the size of a kernel');
  const window: Window = {
    padding: options.padding,
    kernel,
    strides: [options.strideD, options.strideH, options.strideW],
    dilations: [options.dilationD, options.dilationH, options.dilationW],
  };
  const pads = padsOf(node, spatialSizes(node, x, 5), window);
  const result = node.call(
    'conv3d',
    [node.channelsSecond(x), node.transpose(weights, [4, 3, 0, 1, 2]), ...biasOf(node)],
    { strides: window.strides, pads, dilations: window.dilations, groups: 1 },
  );
  return node.channelsLast(activate(node, result, options.activation));
}

/** A pool over windows of (N, H, W, C). Padding counts for nothing. */
const pool =
  (op: string, square = false) =>
  (node: LiteNode): Expr => {
    const options = node.options('pool2d');
    const x = node.input(0);
    const window = windowOf([options.filterH, options.filterW], options);
    const pads = padsOf(node, spatialSizes(node, x), window);
    const planes = node.channelsSecond(x);
    const pooled = node.call(op, [square ? node.call('mul', [planes, planes]) : planes], {
      kernel: window.kernel,
      strides: window.strides,
      pads,
      dilations: window.dilations,
    });
    const result = square ? node.call('sqrt', [pooled]) : pooled;
    return node.channelsLast(activate(node, result, options.activation));
  };

export const CONVOLUTION_IMPORTERS: LiteImporters = {
  AVERAGE_POOL_2D: becomes('avg_pool transpose', pool('avg_pool')),
  CONV_2D: becomes('conv2d transpose', conv2d),
  CONV_3D: becomes('conv3d transpose', conv3d),
  DEPTHWISE_CONV_2D: becomes('conv2d transpose', depthwiseConv2d),
  L2_POOL_2D: becomes('avg_pool mul sqrt transpose', pool('avg_pool', true)),
  MAX_POOL_2D: becomes('max_pool transpose', pool('max_pool')),
  TRANSPOSE_CONV: becomes('conv_transpose transpose', transposeConv),
};
