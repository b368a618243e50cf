import type { OpDefinition } from '../define-op.ts';
import type { BatchingRule } from './batching.ts';
import { gatherNdRule, gatherRule, scatterNdRule } from './batching-of-indices.ts';
import { gemmRule, matmulRule } from './batching-of-products.ts';
import * as rules from './batching-rules.ts';

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
