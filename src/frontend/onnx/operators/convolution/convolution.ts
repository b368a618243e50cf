import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { countElements } from '../../../../core/dims/dim-context.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../../../core/contracts/primitive-function.ts';
import { formatShape } from '../../../../core/tensor/shape.ts';
import { fromBegin, indicesInput } from '../../sizes/check-indices.ts';
import type { ImportNode, NodeImporter } from '../../import-node.ts';
import { number } from '../elementwise/elementwise.ts';
import { distributePads, importWindow, type ImportedWindow, readAutoPad } from './window.ts';

/** The sizes of a kernel of weights (K, C, ...), which kernel_shape may repeat. */
export function kernelOfWeights(node: ImportNode, weights: Expr): readonly number[] {
  const kernel = node.numbers(node.shape(weights).slice(2), 'the size of a kernel');
  const declared = node.attributes.ints('kernel_shape');
  if (declared === undefined || declared.join() === kernel.join()) return kernel;
  throw node.malformed(
    `kernel_shape ${formatShape(declared)}`,
    `that of the weights, ${formatShape(kernel)}`,
  );
}

export function importConv(node: ImportNode): Expr {
  const bias = node.inputs[2];
  const operands = [node.input(0), node.input(1), ...(bias === undefined ? [] : [bias])];
  return convolveOperands(node, operands);
}

/** The convolution that a node's attributes describe, of x and weights with channels second, and a bias. */
export function convolveOperands(node: ImportNode, operands: readonly Expr[]): Expr {
  const [x = node.input(0), weights = node.input(1)] = operands;
  return convolve(node, operands, importWindow(node, x, kernelOfWeights(node, weights)));
}

/** One spatial axis is handled as two, the first of size 1. */
function convolve(node: ImportNode, args: readonly Expr[], window: ImportedWindow): Expr {
  const [x = node.input(0), weights = node.input(1), ...bias] = args;
  const { strides, pads, dilations } = window;
  const groups = node.attributes.int('group', 1);
  switch (strides.length) {
    case 1: {
      const planes = [unitAxis(node, x), unitAxis(node, weights), ...bias];
      const result = node.call('conv2d', planes, { ...asPlane(window), groups });
      return node.reshape(result, node.shape(result).toSpliced(2, 1));
    }
    case 2:
      return node.call('conv2d', args, { strides, pads, dilations, groups });
    case 3:
      return node.call('conv3d', args, { strides, pads, dilations, groups });
    default:
      throw node.unsupported(`${strides.length} spatial axes`, 'one to three');
  }
}

/** The attributes of a window along one axis, as of two, the first of size 1. */
export function asPlane({ strides, pads: [begin = 0, end = 0], dilations }: ImportedWindow) {
  return {
    strides: [1, ...strides],
    pads: [0, begin, 0, end],
    dilations: [1, ...dilations],
  };
}

export function unitAxis(node: ImportNode, expr: Expr): Expr {
  return node.reshape(expr, node.shape(expr).toSpliced(2, 0, 1));
}

export function importConvTranspose(node: ImportNode): Expr {
  const { dims } = node;
  const x = node.input(0);
  const weights = node.input(1);
  const window = importWindow(node, x, kernelOfWeights(node, weights));
  const spatial = node.shape(x).slice(2);
  const rank = spatial.length;
  const autoPad = readAutoPad(node);
  const added = node.attributes.ints('output_padding') ?? new Array<number>(rank).fill(0);
  const wanted = node.attributes.ints('output_shape')?.slice(-rank);
  const isSame = autoPad === 'SAME_UPPER' || autoPad === 'SAME_LOWER';
  const whole = spatial.map((dim, axis) => {
    const stride = window.strides[axis] ?? 1;
    const extent = ((window.kernel[axis] ?? 1) - 1) * (window.dilations[axis] ?? 1) + 1;
    return dims.add(dims.mul(dims.sub(dim, 1), stride), extent + (added[axis] ?? 0));
  });
  const given = (axis: number) =>
    wanted?.[axis] ??
    (isSame ? dims.mul(spatial[axis] ?? 1, window.strides[axis] ?? 1) : undefined);
  const totals = whole.map((size, axis) => dims.max(dims.sub(size, given(axis) ?? size), 0));
  const isGiven = wanted !== undefined || isSame;
  const pads = isGiven ? distributePads(node, totals, autoPad === 'SAME_UPPER') : window.pads;
  const size = whole.map((dim, axis): Dim => {
    const padding = dims.add(pads[axis] ?? 0, pads[axis + rank] ?? 0);
    return given(axis) ?? dims.sub(dim, padding);
  });
  const bias = node.inputs[2];
  return node.call('conv_transpose', [x, weights, ...(bias === undefined ? [] : [bias])], {
    size,
    strides: window.strides,
    pads: pads.slice(0, rank),
    dilations: window.dilations,
    groups: node.attributes.int('group', 1),
  });
}

function importDeformConv(node: ImportNode): Expr {
  const x = node.input(0);
  const weights = node.input(1);
  const window = importWindow(node, x, kernelOfWeights(node, weights));
  if (window.strides.length !== 2) {
    throw node.unsupported(`${window.strides.length} spatial axes`, 'two');
  }
  const [bias, mask] = [node.inputs[3], node.inputs[4]];
  const args = [x, weights, node.input(2), ...(mask === undefined ? [] : [mask])];
  const result = node.call('deform_conv', args, {
    strides: window.strides,
    pads: window.pads,
    dilations: window.dilations,
    groups: node.attributes.int('group', 1),
    offset_groups: node.attributes.int('offset_group', 1),
  });
  if (bias === undefined) return result;
  return node.call('add', [result, node.reshape(bias, [...node.shape(bias), 1, 1])]);
}

/** The attributes of pools over `x` (N, C, ...). */
function poolAttributes(node: ImportNode, x = node.input(0)): Attributes {
  const kernel = node.attributes.ints('kernel_shape');
  if (kernel === undefined) throw node.malformed('no kernel_shape', 'one');
  const { strides, pads, dilations } = importWindow(node, x, kernel);
  return { kernel, strides, pads, dilations, ceil_mode: node.attributes.bool('ceil_mode') };
}

function importMaxPool(node: ImportNode): readonly Expr[] {
  const x = node.input(0);
  const attributes = poolAttributes(node);
  const column_major = node.attributes.bool('storage_order');
  const result = node.call('max_pool', [x], attributes);
  if (node.outputCount < 2) return [result];
  const places = node.call('max_pool_indices', [x], { ...attributes, column_major });
  return [result, node.call('cast', [places], { to: 'int64' })];
}

export function averagePool(node: ImportNode, x: Expr): Expr {
  const count_include_pad = node.attributes.bool('count_include_pad');
  return node.call('avg_pool', [x], { ...poolAttributes(node, x), count_include_pad });
}

function importMaxRoiPool(node: ImportNode): Expr {
  const size = node.attributes.ints('pooled_shape');
  if (size === undefined) throw node.malformed('no pooled_shape', 'one');
  const scale = node.attributes.float('spatial_scale', 1);
  return node.call('max_roi_pool', [node.input(0), node.input(1)], { size, scale });
}

/** Puts elements where MaxPool found them, counted over the whole result, among zeros. */
function importMaxUnpool(node: ImportNode): Expr {
  const { dims } = node;
  const x = node.input(0);
  const { dtype, shape } = node.type(x);
  const kernel = node.attributes.ints('kernel_shape');
  if (kernel === undefined) throw node.malformed('no kernel_shape', 'one');
  const { strides, pads } = importWindow(node, x, kernel);
  const spatial = shape.slice(2).map((dim, axis) => {
    const padding = dims.add(pads[axis] ?? 0, pads[axis + strides.length] ?? 0);
    const covered = dims.mul(dims.sub(dim, 1), strides[axis] ?? 1);
    return dims.sub(dims.add(covered, kernel[axis] ?? 1), padding);
  });
  const whole = [...shape.slice(0, 2), ...spatial];
  const flat = (expr: Expr) => node.reshape(expr, [countElements(shape, dims)]);
  const zero = node.constant(HostTensor.zeros(dtype, [1]));
  const zeros = node.call('broadcast_to', [zero], { shape: [countElements(whole, dims)] });
  const indices = indicesInput(node, 1, fromBegin(countElements(whole, dims)));
  const scattered = node.call('scatter_elements', [zeros, flat(indices), flat(x)]);
  const result = node.reshape(scattered, whole);
  const wanted = node.dimsInput(2, 'shapes');
  if (wanted === undefined) return result;
  const ends = whole.map((dim, axis) => dims.sub(wanted[axis] ?? dim, dim));
  return node.call('pad', [result], { pads: [...whole.map(() => 0), ...ends] });
}

/** The p-th root of what `sum` makes of the p-th powers of x's magnitudes. */
function powerNorm(node: ImportNode, sum: (powers: Expr) => Expr): Expr {
  const x = node.input(0);
  const p = node.opset < 2 ? node.attributes.float('p', 2) : node.attributes.int('p', 2);
  if (p === 2) return node.call('sqrt', [sum(node.call('mul', [x, x]))]);
  const magnitudes = node.call('abs', [x]);
  if (p === 1) return sum(magnitudes);
  const powers = node.call('pow', [magnitudes, number(node, x, p)]);
  return node.call('pow', [sum(powers), number(node, x, 1 / p)]);
}

function importLpPool(node: ImportNode): Expr {
  const attributes = poolAttributes(node);
  return powerNorm(node, (powers) => node.call('sum_pool', [powers], attributes));
}

function spatialAxes(node: ImportNode): number[] {
  const rank = node.shape(node.input(0)).length;
  return Array.from({ length: Math.max(rank - 2, 0) }, (_, axis) => axis + 2);
}

function importGlobalLpPool(node: ImportNode): Expr {
  const attributes = { axes: spatialAxes(node), keepdims: true };
  return powerNorm(node, (powers) => node.call('reduce_sum', [powers], attributes));
}

const globalPool =
  (op: string): NodeImporter =>
  (node) =>
    node.call(op, [node.input(0)]);

export const CONVOLUTION_IMPORTERS: OperatorImporters = {
  AveragePool: since(1, 'avg_pool', (node) => averagePool(node, node.input(0))),
  Conv: since(1, 'conv2d reshape conv3d', importConv),
  ConvTranspose: since(1, 'conv_transpose', importConvTranspose),
  DeformConv: since(19, 'deform_conv reshape add', importDeformConv),
  GlobalAveragePool: since(1, 'global_avg_pool', globalPool('global_avg_pool')),
  GlobalLpPool: since(1, 'reduce_sum abs pow mul sqrt', importGlobalLpPool),
  GlobalMaxPool: since(1, 'global_max_pool', globalPool('global_max_pool')),
  LpPool: since(1, 'sum_pool abs pow mul sqrt', importLpPool),
  MaxPool: since(1, 'max_pool max_pool_indices cast', importMaxPool),
  MaxRoiPool: since(1, 'max_roi_pool', importMaxRoiPool),
  MaxUnpool: since(9, 'scatter_elements broadcast_to reshape pad', importMaxUnpool),
};
