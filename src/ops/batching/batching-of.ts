import { normalizeAxis } from '../../core/tensor/shape.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { boolAttribute, floatAttribute, intAttribute } from '../attributes.ts';
import type { OpDefinition } from '../define-op.ts';
import * as rules from './batching-rules.ts';
import {
  ones,
  type BatchedCall,
  type BatchedInput,
  type BatchingRule,
  inputAt,
  mapsOnly,
  whole,
} from './batching-rules.ts';

/** Matrix products: the mapped axis is a further axis of batches, or of rows where one matrix is the same for all. */
const matmulRule: BatchingRule = (call) => {
  const { graph, name, output, size, attributes } = call;
  const [a, b] = [inputAt(call, 0), inputAt(call, 1)];
  if (!mapsOnly(call, 0, 1) || call.inputs.length > 2) return undefined;
  if (!b.isMapped && b.shape.length === 2) {
    return graph.call(name, [a.tensor, b.tensor], attributes);
  }
  const [left, right] = [matrixOf(a, 'row'), matrixOf(b, 'column')];
  const rank = Math.max(left.length, right.length);
  const aligned = (
    { tensor, isMapped }: BatchedInput,
    shape: readonly BatchedInput['shape'][number][],
  ) => graph.reshape(tensor, isMapped ? [size, ...ones(rank - shape.length), ...shape] : shape);
  const product = graph.call(name, [aligned(a, left), aligned(b, right)], attributes);
  return graph.reshape(product, [size, ...output.shape]);
};

function matrixOf({ shape }: BatchedInput, as: 'row' | 'column'): BatchedInput['shape'] {
  if (shape.length !== 1) return shape;
  return as === 'row' ? [1, ...shape] : [...shape, 1];
}

/** alpha a b + beta c, written out. */
const gemmRule: BatchingRule = (call) => {
  const { graph, attributes } = call;
  const of = (index: number, isTransposed: boolean): BatchedInput => {
    const input = inputAt(call, index);
    if (!isTransposed) return input;
    const tensor = graph.transposeLast(input.tensor);
    return { ...input, tensor, shape: input.shape.toReversed() };
  };
  const a = of(0, boolAttribute(attributes, 'trans_a'));
  const b = of(1, boolAttribute(attributes, 'trans_b'));
  const product = matmulRule({ ...call, name: 'matmul', inputs: [a, b], attributes: {} });
  if (product === undefined) return undefined;
  const scaled = graph.mul(wholeProduct(product, call), floatAttribute(attributes, 'alpha'));
  const c = call.inputs[2];
  if (c === undefined) return scaled;
  const { size } = call;
  const shape = [...ones(2 - c.shape.length), ...c.shape];
  const added = c.isMapped ? graph.reshape(c.tensor, [size, ...shape]) : c.tensor;
  return graph.add(scaled, graph.mul(added, floatAttribute(attributes, 'beta')));
};

/** A product of two operands that are the same for all has no mapped axis. */
function wholeProduct(
  product: GraphTensor,
  { inputs, graph, size, output }: BatchedCall,
): GraphTensor {
  const isMapped = inputs.slice(0, 2).some((input) => input.isMapped);
  return isMapped ? product : graph.broadcastTo(product, [size, ...output.shape]);
}

/** Of mapped elements, the same places; of mapped places, those of each row. */
const gatherRule: BatchingRule = (call) => {
  const { graph, attributes, name, size, output } = call;
  const [x, indices] = [inputAt(call, 0), inputAt(call, 1)];
  const axis = normalizeAxis(intAttribute(attributes, 'axis'), x.shape.length, name);
  if (!indices.isMapped) {
    return graph.call(name, [x.tensor, indices.tensor], { ...attributes, axis: axis + 1 });
  }
  if (!x.isMapped) {
    // The axes of the places, the mapped one first among them, stand where the axis was.
    const found = graph.call(name, [x.tensor, indices.tensor], { ...attributes, axis });
    const order = found.shape.map((_, at) => at).filter((at) => at !== axis);
    return graph.transpose(found, [axis, ...order]);
  }
  const toFront = x.shape.map((_, at) => at + 1).filter((at) => at !== axis + 1);
  const turned = graph.transpose(x.tensor, [0, axis + 1, ...toFront]);
  const places = graph.reshape(indices.tensor, [size, ...indices.shape, 1]);
  const found = graph.call('gather_nd', [turned, places], { batch_dims: 1 });
  // The axes before the axis lie behind those of the places.
  const count = indices.shape.length;
  const before = Array.from({ length: axis }, (_, at) => 1 + count + at);
  const own = indices.shape.map((_, at) => 1 + at);
  const after = output.shape.slice(axis + count).map((_, at) => 1 + count + axis + at);
  return graph.transpose(found, [0, ...before, ...own, ...after]);
};

const gatherNdRule: BatchingRule = (call) => {
  const tensors = call.inputs.map((input) => whole(input, call));
  const count = intAttribute(call.attributes, 'batch_dims') + 1;
  return call.graph.call(call.name, tensors, { ...call.attributes, batch_dims: count });
};

/** The number along the mapped axis is a further index. */
const scatterNdRule: BatchingRule = (call) => {
  const { graph, name, size, attributes } = call;
  const [x, indices, updates] = [0, 1, 2].map((index) => inputAt(call, index));
  if (x === undefined || indices === undefined || updates === undefined) return undefined;
  const { dtype } = indices.tensor;
  const rows = indices.shape.slice(0, -1);
  const numbers = graph.reshape(graph.cast(graph.count(size), dtype), [
    size,
    ...ones(rows.length + 1),
  ]);
  const places = graph.concat(
    [graph.broadcastTo(numbers, [size, ...rows, 1]), whole(indices, call)],
    rows.length + 1,
  );
  return graph.call(name, [whole(x, call), places, whole(updates, call)], attributes);
};

/** Rules by operator; elementwise operators share one. */
const RULES: Readonly<Record<string, BatchingRule>> = {
  matmul: matmulRule,
  matmul_integer: matmulRule,
  gemm: gemmRule,
  det: rules.trailing,
  layer_norm: rules.trailing,
  rms_norm: rules.trailing,
  matmul_nbits: rules.trailing,
  gather_matmul_nbits: rules.leading(0, 3),
  trilu: rules.trailing,
  conv2d: rules.moreExamples(0),
  conv3d: rules.moreExamples(0),
  conv_transpose: rules.moreExamples(0),
  conv_integer: rules.moreExamples(0),
  deform_conv: rules.moreExamples(0, 2, 3),
  max_pool: rules.moreExamples(0),
  avg_pool: rules.moreExamples(0),
  sum_pool: rules.moreExamples(0),
  global_max_pool: rules.moreExamples(0),
  global_avg_pool: rules.moreExamples(0),
  batch_norm: rules.moreExamples(0),
  grid_sample: rules.moreExamples(0, 1),
  tensor_scatter: rules.moreExamples(0, 1, 2),
  cached_attention: rules.moreExamples(0, 1, 2, 3, 4, 5),
  scaled_dot_product_attention: (call) =>
    // The bias of the scores may differ from example to example.
    call.inputs.length > 3 ? undefined : rules.moreExamples(0, 1, 2)(call),
  softmax: rules.alongAxis(),
  log_softmax: rules.alongAxis(),
  cumulative: rules.alongAxis(),
  arg_max: rules.alongAxis(),
  arg_min: rules.alongAxis(),
  top_k: rules.alongAxis(),
  concat: rules.alongAxis(),
  frames: rules.alongAxis(),
  gather_elements: rules.alongAxis(),
  scatter_elements: rules.alongAxis(),
  resample: rules.alongAxisOfFirst(),
  one_hot: rules.alongAxisOfFirst(({ output }) => output.shape.length),
  dft: rules.dftRule,
  reverse_sequence: rules.reverseSequenceRule,
  reduce_sum: rules.overAxes,
  reduce_mean: rules.overAxes,
  reduce_prod: rules.overAxes,
  reduce_max: rules.overAxes,
  reduce_min: rules.overAxes,
  transpose: rules.transposeRule,
  reshape: rules.reshapeRule,
  broadcast_to: rules.broadcastRule,
  slice: rules.sliceRule,
  pad: rules.padRule,
  tile: rules.prepend('repeats', 1),
  repeat: rules.prepend('repeats', 1),
  gather: gatherRule,
  gather_nd: gatherNdRule,
  scatter_nd: scatterNdRule,
};

/** How an operator computes all places along an axis at once; undefined for one that goes from place to place. */
export function batchingOf({ name, kind }: OpDefinition): BatchingRule | undefined {
  if (Object.hasOwn(RULES, name)) return RULES[name];
  return kind === 'elementwise' ? rules.elementwise : undefined;
}
