import { cachedAttentionCases } from '../attention/cached-attention.cases.ts';
import { linearAttentionCases } from '../attention/linear-attention.cases.ts';
import { scaledDotProductAttentionCases } from '../attention/scaled-dot-product-attention.cases.ts';
import { convTransposeCases } from '../convolution/conv-transpose.cases.ts';
import { conv2dCases } from '../convolution/conv2d.cases.ts';
import { conv3dCases } from '../convolution/conv3d.cases.ts';
import { deformConvCases } from '../convolution/deform-conv.cases.ts';
import { maxRoiPoolCases } from '../convolution/max-roi-pool.cases.ts';
import { POOL_CASES } from '../convolution/pool.cases.ts';
import { arangeCases, dimsTensorCases } from '../dynamic/dims-tensor.cases.ts';
import { melWeightsCases } from '../dynamic/mel-weights.cases.ts';
import { nonMaxSuppressionCases } from '../dynamic/non-max-suppression.cases.ts';
import { nonzeroCases } from '../dynamic/nonzero.cases.ts';
import { rangeCases } from '../dynamic/range.cases.ts';
import { SIZE_CASES } from '../dynamic/sizes.cases.ts';
import { sliceIndicesCases } from '../dynamic/slice-indices.cases.ts';
import {
  uniqueCountsCases,
  uniqueIndicesCases,
  uniqueInverseCases,
} from '../dynamic/unique.cases.ts';
import { bitcastCases } from '../elementwise/bitcast.cases.ts';
import { BITWISE_CASES } from '../elementwise/bitwise.cases.ts';
import { castCases } from '../elementwise/cast.cases.ts';
import { COMPARISON_CASES } from '../elementwise/comparison.cases.ts';
import { BINARY_CASES } from '../elementwise/elementwise-binary.cases.ts';
import { UNARY_CASES } from '../elementwise/elementwise-unary.cases.ts';
import { MODULO_CASES } from '../elementwise/modulo.cases.ts';
import { ROUNDING_CASES } from '../elementwise/rounding.cases.ts';
import { TRANSCENDENTAL_CASES } from '../elementwise/transcendental.cases.ts';
import { checkIndicesCases } from '../indexing/check-indices.cases.ts';
import { gatherElementsCases } from '../indexing/gather-elements.cases.ts';
import { gatherNdCases } from '../indexing/gather-nd.cases.ts';
import { oneHotCases } from '../indexing/one-hot.cases.ts';
import { reverseSequenceCases } from '../indexing/reverse-sequence.cases.ts';
import { scatterElementsCases } from '../indexing/scatter-elements.cases.ts';
import { scatterNdCases } from '../indexing/scatter-nd.cases.ts';
import { tensorScatterCases } from '../indexing/tensor-scatter.cases.ts';
import { topKCases } from '../indexing/top-k.cases.ts';
import { triluCases } from '../indexing/trilu.cases.ts';
import { detCases } from '../linear/det.cases.ts';
import { gemmCases } from '../linear/gemm.cases.ts';
import { matmulCases } from '../linear/matmul.cases.ts';
import { broadcastToCases } from '../movement/broadcast-to.cases.ts';
import { concatCases } from '../movement/concat.cases.ts';
import { fullCases } from '../movement/full.cases.ts';
import { gatherCases } from '../movement/gather.cases.ts';
import { padCases } from '../movement/pad.cases.ts';
import { reshapeCases } from '../movement/reshape.cases.ts';
import { sliceCases } from '../movement/slice.cases.ts';
import { tileCases } from '../movement/tile.cases.ts';
import { transposeCases } from '../movement/transpose.cases.ts';
import { batchNormCases } from '../normalization/batch-norm.cases.ts';
import { ROW_NORM_CASES } from '../normalization/row-norm.cases.ts';
import { SOFTMAX_CASES } from '../normalization/softmax.cases.ts';
import { wgslKernelCases } from '../program/wgsl-kernel.cases.ts';
import { convIntegerCases } from '../quantization/conv-integer.cases.ts';
import { dequantizeCases } from '../quantization/dequantize.cases.ts';
import { matmulIntegerCases } from '../quantization/matmul-integer.cases.ts';
import { gatherMatmulNbitsCases, matmulNbitsCases } from '../quantization/matmul-nbits.cases.ts';
import { quantizeCases } from '../quantization/quantize.cases.ts';
import { THREEFRY_CASES } from '../random/threefry-words.cases.ts';
import { recurrentCases } from '../recurrent/recurrent.cases.ts';
import { ARG_REDUCE_CASES } from '../reduction/arg-reduce.cases.ts';
import { cumulativeCases } from '../reduction/cumulative.cases.ts';
import { REDUCE_CASES } from '../reduction/reduce.cases.ts';
import { dftCases } from '../signal/dft.cases.ts';
import { framesCases } from '../signal/frames.cases.ts';
import { twiddlesCases } from '../signal/twiddles.cases.ts';
import { gridSampleCases } from '../spatial/grid-sample.cases.ts';
import { repeatCases } from '../spatial/repeat.cases.ts';
import { resampleCases } from '../spatial/resample.cases.ts';
import { resizeTableCases } from '../spatial/resize-table.cases.ts';
import { roiAlignCases } from '../spatial/roi-align.cases.ts';
import { internalError } from '../../core/errors.ts';
import type { OpDefinition } from '../define-op.ts';
import type { OpCases } from '../op-cases.ts';
import { CORE_OPERATORS, type OpName } from '../tables/core-operators.ts';

/** What tests and documents the core operators, by name. */
const CASES: Readonly<Record<string, OpCases>> = {
  ...UNARY_CASES,
  ...ROUNDING_CASES,
  ...TRANSCENDENTAL_CASES,
  ...BINARY_CASES,
  ...MODULO_CASES,
  ...BITWISE_CASES,
  ...COMPARISON_CASES,
  cast: castCases,
  bitcast: bitcastCases,
  ...THREEFRY_CASES,
  matmul: matmulCases,
  gemm: gemmCases,
  det: detCases,
  conv2d: conv2dCases,
  conv3d: conv3dCases,
  conv_transpose: convTransposeCases,
  deform_conv: deformConvCases,
  max_roi_pool: maxRoiPoolCases,
  ...POOL_CASES,
  batch_norm: batchNormCases,
  ...ROW_NORM_CASES,
  ...SOFTMAX_CASES,
  recurrent: recurrentCases,
  cached_attention: cachedAttentionCases,
  linear_attention: linearAttentionCases,
  scaled_dot_product_attention: scaledDotProductAttentionCases,
  ...REDUCE_CASES,
  ...ARG_REDUCE_CASES,
  cumulative: cumulativeCases,
  transpose: transposeCases,
  reshape: reshapeCases,
  broadcast_to: broadcastToCases,
  concat: concatCases,
  slice: sliceCases,
  gather: gatherCases,
  pad: padCases,
  full: fullCases,
  tile: tileCases,
  wgsl_kernel: wgslKernelCases,
  gather_elements: gatherElementsCases,
  gather_nd: gatherNdCases,
  one_hot: oneHotCases,
  reverse_sequence: reverseSequenceCases,
  tensor_scatter: tensorScatterCases,
  trilu: triluCases,
  check_indices: checkIndicesCases,
  scatter_elements: scatterElementsCases,
  scatter_nd: scatterNdCases,
  top_k: topKCases,
  resample: resampleCases,
  repeat: repeatCases,
  grid_sample: gridSampleCases,
  roi_align: roiAlignCases,
  dft: dftCases,
  frames: framesCases,
  quantize: quantizeCases,
  dequantize: dequantizeCases,
  matmul_integer: matmulIntegerCases,
  conv_integer: convIntegerCases,
  matmul_nbits: matmulNbitsCases,
  gather_matmul_nbits: gatherMatmulNbitsCases,
  nonzero: nonzeroCases,
  non_max_suppression: nonMaxSuppressionCases,
  unique_indices: uniqueIndicesCases,
  unique_counts: uniqueCountsCases,
  unique_inverse: uniqueInverseCases,
  range: rangeCases,
  mel_weights: melWeightsCases,
  ...SIZE_CASES,
  slice_indices: sliceIndicesCases,
  dims_tensor: dimsTensorCases,
  arange: arangeCases,
  resize_table: resizeTableCases,
  twiddles: twiddlesCases,
} satisfies Record<OpName, OpCases>;

/** An operator with what tests it. */
export type TestedOp = OpDefinition & OpCases;

/** The operator with its cases. */
export function withCases(op: OpDefinition): TestedOp {
  const cases = CASES[op.name];
  if (cases === undefined) throw internalError(`operator ${op.name} has no cases`);
  return { ...op, ...cases };
}

/** The operator of a name with its cases. */
export const testedOp = (name: string): TestedOp => withCases(CORE_OPERATORS.require(name));

/** Every operator with its cases, by name. */
export const TESTED_OPS: ReadonlyMap<string, TestedOp> = new Map(
  [...CORE_OPERATORS].map((op) => [op.name, withCases(op)]),
);
