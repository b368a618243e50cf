import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { countElements } from '../../../../core/dims/dim-context.ts';
import { normalizeAxis } from '../../../../core/tensor/shape.ts';
import type { ImportNode } from '../../import-node.ts';
import { cast, number } from '../elementwise/elementwise.ts';

/** `op` (layer_norm or rms_norm) over all axes from `axis` on, as rows. */
function normalizeRows(
  node: ImportNode,
  x: Expr,
  { op, axis, epsilon }: { readonly op: string; readonly axis: number; readonly epsilon: number },
): Expr {
  const shape = node.shape(x);
  if (axis === shape.length - 1) return node.call(op, [x], { epsilon });
  const rows = countElements(shape.slice(0, axis), node.dims);
  const matrix = node.reshape(x, [rows, countElements(shape.slice(axis), node.dims)]);
  return node.reshape(node.call(op, [matrix], { epsilon }), shape);
}

/** x times scale plus bias, both of which may be left out; the scale says the dtype. */
export function scaleAndShift(
  node: ImportNode,
  x: Expr,
  [scale, bias]: readonly (Expr | undefined)[],
): Expr {
  const scaled =
    scale === undefined ? x : node.call('mul', [cast(node, x, node.type(scale).dtype), scale]);
  return bias === undefined ? scaled : node.call('add', [scaled, bias]);
}

/** Mean and 1 / deviation over `axes`, which stay with size 1; in float32. */
export function statistics(
  node: ImportNode,
  x: Expr,
  { axes, epsilon }: { readonly axes: readonly number[]; readonly epsilon: number },
): readonly [mean: Expr, inverse: Expr] {
  const single = inSingle(node, x);
  const { mean, variance } = moments(node, single, axes);
  const deviation = node.call('sqrt', [
    node.call('add', [variance, number(node, variance, epsilon)]),
  ]);
  return [mean, node.call('div', [number(node, variance, 1), deviation])];
}

function inSingle(node: ImportNode, x: Expr): Expr {
  return node.type(x).dtype === 'float16' ? node.call('cast', [x], { to: 'float32' }) : x;
}

/** Of elements less the first along the axes, so that equal ones deviate by nothing from their mean. */
function moments(node: ImportNode, x: Expr, axes: readonly number[]) {
  const begin = node.int64s([0]);
  const first = axes.reduce((part, axis) => node.call('gather', [part, begin], { axis }), x);
  const shifted = node.call('sub', [x, first]);
  const shift = node.call('reduce_mean', [shifted], { axes, keepdims: true });
  const centered = node.call('sub', [shifted, shift]);
  const squares = node.call('mul', [centered, centered]);
  const variance = node.call('reduce_mean', [squares], { axes, keepdims: true });
  return { mean: node.call('add', [first, shift]), centered, variance };
}

function axesFrom(axis: number, rank: number): number[] {
  return Array.from({ length: rank - axis }, (_, i) => axis + i);
}

function importLayerNormalization(node: ImportNode): readonly Expr[] {
  node.attributes.ignore('stash_type');
  const x = node.input(0);
  const rank = node.shape(x).length;
  const axis = normalizeAxis(node.attributes.int('axis', -1), rank, node.where);
  const epsilon = node.attributes.float('epsilon', 1e-5);
  const normal = normalizeRows(node, x, { op: 'layer_norm', axis, epsilon });
  const result = scaleAndShift(node, normal, [node.input(1), node.inputs[2]]);
  if (node.outputCount < 2) return [result];
  const given = statistics(node, x, { axes: axesFrom(axis, rank), epsilon });
  // Of the type that `stash_type` names, whatever that of x is.
  return [result, ...given.map((value) => cast(node, value, 'float32'))];
}

function importRmsNormalization(node: ImportNode): Expr {
  node.attributes.ignore('stash_type');
  const x = node.input(0);
  const axis = normalizeAxis(node.attributes.int('axis', -1), node.shape(x).length, node.where);
  const epsilon = node.attributes.float('epsilon', 1e-5);
  const normal = normalizeRows(node, x, { op: 'rms_norm', axis, epsilon });
  return scaleAndShift(node, normal, [node.input(1)]);
}

/** 1 / root of the mean of squares over `axes`, which stay with size 1; in float32. */
export function inverseRms(
  node: ImportNode,
  x: Expr,
  { axes, epsilon }: { readonly axes: readonly number[]; readonly epsilon: number },
): Expr {
  const single = inSingle(node, x);
  const squares = node.call('mul', [single, single]);
  const mean = node.call('reduce_mean', [squares], { axes, keepdims: true });
  const root = node.call('sqrt', [node.call('add', [mean, number(node, mean, epsilon)])]);
  return node.call('div', [number(node, mean, 1), root]);
}

/** ONNX Runtime's name, in ONNX's own domain as well, for RMSNormalization with a second output. */
export function importSimplifiedLayerNormalization(node: ImportNode): readonly Expr[] {
  const result = importRmsNormalization(node);
  if (node.outputCount < 2) return [result];
  const x = node.input(0);
  const rank = node.shape(x).length;
  const axes = axesFrom(normalizeAxis(node.attributes.int('axis', -1), rank, node.where), rank);
  return [result, inverseRms(node, x, { axes, epsilon: node.attributes.float('epsilon', 1e-5) })];
}

/** A vector over channels, to broadcast over one axis behind them. */
function overChannels(node: ImportNode, vector: Expr): Expr {
  return node.reshape(vector, [...node.shape(vector), 1]);
}

function importInstanceNormalization(node: ImportNode): Expr {
  const x = node.input(0);
  const shape = node.shape(x);
  const [batch = 1, channels = 1, ...spatial] = shape;
  const rows = node.reshape(x, [batch, channels, countElements(spatial, node.dims)]);
  const epsilon = node.attributes.float('epsilon', 1e-5);
  const normal = node.call('layer_norm', [rows], { epsilon });
  const affine = [node.input(1), node.input(2)].map((vector) => overChannels(node, vector));
  return node.reshape(scaleAndShift(node, normal, affine), shape);
}

/** Before opset 21, scale and bias have one element for each group. */
function importGroupNormalization(node: ImportNode): Expr {
  node.attributes.ignore('stash_type');
  const { dims } = node;
  const x = node.input(0);
  const shape = node.shape(x);
  const [batch = 1, channels = 1, ...spatial] = shape;
  const groups = node.attributes.int('num_groups');
  if (groups === undefined) throw node.malformed('no num_groups', 'one');
  const size = countElements(spatial, dims);
  const groupSize = dims.mul(dims.floordiv(channels, groups), size);
  const epsilon = node.attributes.float('epsilon', 1e-5);
  const rows = node.reshape(x, [batch, groups, groupSize]);
  const normal = node.call('layer_norm', [rows], { epsilon });
  const affine = [node.input(1), node.input(2)].map((vector) => overChannels(node, vector));
  const affected = node.opset < 21 ? normal : node.reshape(normal, [batch, channels, size]);
  return node.reshape(scaleAndShift(node, affected, affine), shape);
}

function importLpNormalization(node: ImportNode): Expr {
  const x = node.input(0);
  const shape = node.shape(x);
  const axis = normalizeAxis(node.attributes.int('axis', -1), shape.length, node.where);
  const p = node.attributes.int('p', 2);
  if (p !== 1 && p !== 2) throw node.malformed(`p = ${p}`, '1 or 2');
  const powers = p === 1 ? node.call('abs', [x]) : node.call('mul', [x, x]);
  const sum = node.call('reduce_sum', [powers], { axes: [axis], keepdims: true });
  const norm = p === 1 ? sum : node.call('sqrt', [sum]);
  // Where the norm is 0 all elements are, and stay so.
  const divisor = node.call('maximum', [norm, number(node, norm, SMALLEST_NORM)]);
  return node.call('div', [x, divisor]);
}

/** The least positive number that float16 has as well. */
const SMALLEST_NORM = 2 ** -24;

function importMeanVarianceNormalization(node: ImportNode): Expr {
  const x = node.input(0);
  const shape = node.shape(x);
  const given = node.attributes.ints('axes') ?? [0, 2, 3];
  const axes = given.map((axis) => normalizeAxis(axis, shape.length, node.where));
  const { centered, variance } = moments(node, x, axes);
  const deviation = node.call('add', [node.call('sqrt', [variance]), number(node, x, 1e-9)]);
  return node.call('div', [centered, deviation]);
}

/** x / (bias + alpha / size * sum of squares over `size` neighbouring channels) ^ beta. */
function importLrn(node: ImportNode): Expr {
  const x = node.input(0);
  const shape = node.shape(x);
  const [batch = 1, channels = 1, ...spatial] = shape;
  const size = node.attributes.int('size');
  if (size === undefined) throw node.malformed('no size', 'one');
  const squares = node.call('mul', [x, x]);
  const planes = node.reshape(squares, [batch, 1, channels, countElements(spatial, node.dims)]);
  const sums = node.call('sum_pool', [planes], {
    kernel: [size, 1],
    pads: [Math.floor((size - 1) / 2), 0, Math.ceil((size - 1) / 2), 0],
  });
  const constant = (value: number) => number(node, x, value);
  const alpha = node.attributes.float('alpha', 1e-4) / size;
  const scaled = node.call('mul', [node.reshape(sums, shape), constant(alpha)]);
  const base = node.call('add', [scaled, constant(node.attributes.float('bias', 1))]);
  const beta = constant(node.attributes.float('beta', 0.75));
  return node.call('div', [x, node.call('pow', [base, beta])]);
}

function importBatchNormalization(node: ImportNode): readonly Expr[] {
  const given = node.input(0);
  const shape = node.shape(given);
  if (shape.length !== 1) return normalizeBatch(node, given);
  // A vector of N elements is N samples of one channel.
  const [normal = given, ...running] = normalizeBatch(node, node.reshape(given, [...shape, 1]));
  return [node.reshape(normal, shape), ...running];
}

function normalizeBatch(node: ImportNode, x: Expr): readonly Expr[] {
  const affine = [node.input(1), node.input(2)];
  const [mean, variance] = [node.input(3), node.input(4)];
  const epsilon = node.attributes.float('epsilon', 1e-5);
  const momentum = node.attributes.float('momentum', 0.9);
  if (node.opset < 9 && !node.attributes.bool('spatial', true)) {
    const centered = node.call('sub', [x, mean]);
    const shifted = node.call('add', [variance, number(node, x, epsilon)]);
    const normal = node.call('div', [centered, node.call('sqrt', [shifted])]);
    return [scaleAndShift(node, normal, affine)];
  }
  const { training } = node.context;
  const isWritten = node.opset >= 14 && node.attributes.bool('training_mode');
  const isTest = node.opset < 7 ? node.attributes.bool('is_test') : node.opset < 14;
  const trains =
    training === undefined
      ? isWritten || !(isTest || node.opset >= 14)
      : training.mode === 'training';
  if (!trains) {
    return [node.call('batch_norm', [x, ...affine, mean, variance], { epsilon })];
  }
  if (node.opset < 14 && training === undefined) {
    throw node.unsupported('training mode', 'inference', 'Export the model for inference.');
  }
  const channels = node.shape(x).slice(1, 2);
  const axes = [...node.shape(x).keys()].filter((axis) => axis !== 1);
  const found = moments(node, x, axes);
  const shifted = node.call('add', [found.variance, number(node, x, epsilon)]);
  const normal = node.call('div', [found.centered, node.call('sqrt', [shifted])]);
  const perChannel = (vector: Expr): Expr =>
    node.reshape(vector, [...channels, ...axes.slice(1).map(() => 1)]);
  const batchMean = node.reshape(found.mean, channels);
  const batchVariance = node.reshape(found.variance, channels);
  const running = (before: Expr, now: Expr): Expr =>
    node.call('add', [
      node.call('mul', [before, number(node, before, momentum)]),
      node.call('mul', [now, number(node, now, 1 - momentum)]),
    ]);
  const next = [running(mean, batchMean), running(variance, batchVariance)] as const;
  training?.update(node, mean, next[0]);
  training?.update(node, variance, next[1]);
  return [
    cast(node, scaleAndShift(node, normal, affine.map(perChannel)), node.type(x).dtype),
    ...next,
  ];
}

export const NORMALIZATION_IMPORTERS: OperatorImporters = {
  BatchNormalization: since(
    1,
    'batch_norm gather sub reduce_mean mul add sqrt div reshape cast',
    importBatchNormalization,
  ),
  GroupNormalization: since(18, 'layer_norm reshape mul add', importGroupNormalization),
  InstanceNormalization: since(1, 'layer_norm reshape mul add', importInstanceNormalization),
  LayerNormalization: since(
    17,
    'layer_norm mul add reduce_mean gather sub sqrt div reshape cast',
    importLayerNormalization,
  ),
  LpNormalization: since(1, 'reduce_sum abs maximum div mul sqrt', importLpNormalization),
  LRN: since(1, 'sum_pool mul reshape add pow div', importLrn),
  MeanVarianceNormalization: since(
    9,
    'reduce_mean gather sub mul sqrt add div',
    importMeanVarianceNormalization,
  ),
  RMSNormalization: since(23, 'rms_norm reshape mul', importRmsNormalization),
  SimplifiedLayerNormalization: since(1, 'rms_norm mul', importSimplifiedLayerNormalization),
};
