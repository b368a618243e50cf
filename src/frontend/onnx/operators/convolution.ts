import type { Expr } from '../../../compiler/ir/expr.ts';
import { type Dim, formatDim } from '../../../core/dim.ts';
import type { Attributes } from '../../../core/primitive-function.ts';
import { formatShape } from '../../../core/shape.ts';
import type { ImportNode, NodeImporter } from '../import-node.ts';

/** The window of a convolution or pool over the two spatial axes. */
interface Window {
  readonly kernel: readonly number[];
  readonly strides: readonly number[];
  /** Begins, then ends. */
  readonly pads: readonly number[];
  readonly dilations: readonly number[];
}

/**
 * One spatial axis is handled as two, the first of size 1. Returns the spatial sizes as they will
 * be computed with, and how to undo it.
 */
interface Planes {
  readonly x: Expr;
  readonly isLine: boolean;
  readonly spatial: readonly Dim[];
}

function planesOf(node: ImportNode): Planes {
  const x = node.input(0);
  const shape = node.shape(x);
  const [batch = 1, channels = 1, ...spatial] = shape;
  if (shape.length === 4) return { x, isLine: false, spatial };
  if (shape.length !== 3) {
    throw node.unsupported(
      `an input of shape ${formatShape(shape.map(formatDim))}`,
      'one or two spatial axes',
    );
  }
  const lifted = node.reshape(x, [batch, channels, 1, ...spatial]);
  return { x: lifted, isLine: true, spatial: [1, ...spatial] };
}

function lowered(node: ImportNode, result: Expr, { isLine }: Planes): Expr {
  if (!isLine) return result;
  const [batch = 1, channels = 1, , length = 1] = node.shape(result);
  return node.reshape(result, [batch, channels, length]);
}

/** Attributes that describe the window, filled in and lifted to two axes. */
function windowOf(
  node: ImportNode,
  { isLine, spatial }: Planes,
  kernelShape: readonly number[],
): Window {
  const rank = kernelShape.length;
  const given = {
    kernel: kernelShape,
    strides: node.attributes.ints('strides') ?? new Array<number>(rank).fill(1),
    dilations: node.attributes.ints('dilations') ?? new Array<number>(rank).fill(1),
    pads: node.attributes.ints('pads') ?? new Array<number>(2 * rank).fill(0),
  };
  const lengths = [given.strides.length, given.dilations.length, given.pads.length / 2];
  if (lengths.some((length) => length !== rank) || rank !== (isLine ? 1 : 2)) {
    throw node.malformed(
      `kernel_shape, strides, dilations and pads of ${[rank, ...lengths].join(', ')} axes`,
      `${isLine ? 1 : 2} in each`,
    );
  }
  const window = isLine ? lifted(given) : given;
  const autoPad = node.attributes.string('auto_pad', 'NOTSET');
  return { ...window, pads: padsFor(node, autoPad, { window, spatial }) };
}

function lifted({ kernel, strides, dilations, pads }: Window): Window {
  const [begin = 0, end = 0] = pads;
  return {
    kernel: [1, ...kernel],
    strides: [1, ...strides],
    dilations: [1, ...dilations],
    pads: [0, begin, 0, end],
  };
}

function padsFor(
  node: ImportNode,
  autoPad: string,
  { window, spatial }: { window: Window; spatial: readonly Dim[] },
): readonly number[] {
  if (autoPad === 'NOTSET') return window.pads;
  if (autoPad === 'VALID') return window.pads.map(() => 0);
  if (autoPad !== 'SAME_UPPER' && autoPad !== 'SAME_LOWER') {
    throw node.malformed(`auto_pad ${autoPad}`, 'NOTSET, VALID, SAME_UPPER or SAME_LOWER');
  }
  const totals = spatial.map((size, axis) => {
    const stride = window.strides[axis] ?? 1;
    const extent = ((window.kernel[axis] ?? 1) - 1) * (window.dilations[axis] ?? 1) + 1;
    // By single steps, the padding does not depend on the size.
    if (stride === 1) return extent - 1;
    const known = node.number(size, 'the size of an axis that is padded automatically');
    return Math.max(0, (Math.ceil(known / stride) - 1) * stride + extent - known);
  });
  const smaller = totals.map((total) => Math.floor(total / 2));
  const larger = totals.map((total) => Math.ceil(total / 2));
  return autoPad === 'SAME_UPPER' ? [...smaller, ...larger] : [...larger, ...smaller];
}

function importConv(node: ImportNode): Expr {
  const planes = planesOf(node);
  const weights = node.input(1);
  const [outputs = 1, perGroup = 1, ...window] = node.shape(weights);
  const kernelShape = node.numbers(window, 'the size of a kernel');
  const declared = node.attributes.ints('kernel_shape');
  if (declared !== undefined && declared.join() !== kernelShape.join()) {
    throw node.malformed(
      `kernel_shape ${formatShape(declared)}`,
      `that of the weights, ${formatShape(kernelShape)}`,
    );
  }
  const { strides, pads, dilations, kernel } = windowOf(node, planes, kernelShape);
  const filter = planes.isLine ? node.reshape(weights, [outputs, perGroup, ...kernel]) : weights;
  const bias = node.inputs[2];
  const groups = node.attributes.int('group', 1);
  const result = node.call('conv2d', [planes.x, filter, ...(bias === undefined ? [] : [bias])], {
    strides,
    pads,
    dilations,
    groups,
  });
  return lowered(node, result, planes);
}

function pool(node: ImportNode, op: string, more: Attributes): Expr {
  const planes = planesOf(node);
  const kernelShape = node.attributes.ints('kernel_shape');
  if (kernelShape === undefined) throw node.malformed('no kernel_shape', 'one');
  const { kernel, strides, pads, dilations } = windowOf(node, planes, kernelShape);
  const ceil_mode = node.attributes.bool('ceil_mode');
  const attributes = { kernel, strides, pads, dilations, ceil_mode, ...more };
  return lowered(node, node.call(op, [planes.x], attributes), planes);
}

function importMaxPool(node: ImportNode): Expr {
  // The order of indices, an output that is refused when somebody reads it.
  node.attributes.ignore('storage_order');
  return pool(node, 'max_pool2d', {});
}

function importAveragePool(node: ImportNode): Expr {
  const count_include_pad = node.attributes.bool('count_include_pad');
  return pool(node, 'avg_pool2d', { count_include_pad });
}

const globalPool =
  (op: string): NodeImporter =>
  (node) => {
    const planes = planesOf(node);
    return lowered(node, node.call(op, [planes.x]), planes);
  };

function importBatchNormalization(node: ImportNode): Expr {
  node.attributes.ignore('momentum');
  if (node.opset < 9 && !node.attributes.bool('spatial', true)) {
    throw node.unsupported('spatial = 0', 'statistics for each channel (spatial = 1)');
  }
  const isTraining =
    node.opset < 7
      ? !node.attributes.bool('is_test')
      : node.opset >= 14 && node.attributes.bool('training_mode');
  if (isTraining) {
    throw node.unsupported('training mode', 'inference', 'Export the model for inference.');
  }
  const args = [0, 1, 2, 3, 4].map((index) => node.input(index));
  return node.call('batch_norm', args, { epsilon: node.attributes.float('epsilon', 1e-5) });
}

export const CONVOLUTION_IMPORTERS: Readonly<Record<string, NodeImporter>> = {
  AveragePool: importAveragePool,
  BatchNormalization: importBatchNormalization,
  Conv: importConv,
  GlobalAveragePool: globalPool('global_avg_pool'),
  GlobalMaxPool: globalPool('global_max_pool'),
  MaxPool: importMaxPool,
};
