import { cachedAttentionReference } from '../attention/cached-attention.reference.ts';
import { linearAttentionReference } from '../attention/linear-attention.reference.ts';
import { scaledDotProductAttentionReference } from '../attention/scaled-dot-product-attention.reference.ts';
import { convTransposeReference } from '../convolution/conv-transpose.reference.ts';
import { conv2dReference } from '../convolution/conv2d.reference.ts';
import { conv3dReference } from '../convolution/conv3d.reference.ts';
import { deformConvReference } from '../convolution/deform-conv.reference.ts';
import { maxRoiPoolReference } from '../convolution/max-roi-pool.reference.ts';
import { POOL_REFERENCES } from '../convolution/pool.reference.ts';
import {
  arangeReference,
  dimsTensorReference,
  nonzeroReference,
  rangeReference,
  sliceIndicesReference,
  uniqueCountsReference,
  uniqueIndicesReference,
  uniqueInverseReference,
} from '../dynamic/dynamic.reference.ts';
import { melWeightsReference } from '../dynamic/mel-weights.reference.ts';
import { nonMaxSuppressionReference } from '../dynamic/non-max-suppression.reference.ts';
import { SIZE_REFERENCES } from '../dynamic/sizes.reference.ts';
import { bitcastReference, castReference } from '../elementwise/cast.reference.ts';
import {
  checkIndicesReference,
  gatherElementsReference,
  gatherNdReference,
  oneHotReference,
  reverseSequenceReference,
  scatterElementsReference,
  scatterNdReference,
  tensorScatterReference,
  topKReference,
  triluReference,
} from '../indexing/indexing.reference.ts';
import { detReference, gemmReference } from '../linear/gemm.reference.ts';
import { matmulReference } from '../linear/matmul.reference.ts';
import {
  broadcastToReference,
  concatReference,
  fullReference,
  gatherReference,
  padReference,
  sliceReference,
  transposeReference,
} from '../movement/movement.reference.ts';
import {
  ROW_NORM_REFERENCES,
  batchNormReference,
} from '../normalization/normalization.reference.ts';
import { SOFTMAX_REFERENCES } from '../normalization/softmax.reference.ts';
import { wgslKernelReference } from '../program/wgsl-kernel.reference.ts';
import {
  gatherMatmulNbitsReference,
  matmulNbitsReference,
} from '../quantization/matmul-nbits.reference.ts';
import {
  convIntegerReference,
  matmulIntegerReference,
} from '../quantization/quantization.reference.ts';
import { recurrentReference } from '../recurrent/recurrent.reference.ts';
import { ARG_REDUCE_REFERENCES } from '../reduction/arg-reduce.reference.ts';
import { cumulativeReference } from '../reduction/cumulative.reference.ts';
import { REDUCE_REFERENCES } from '../reduction/reduce.reference.ts';
import { dftReference, framesReference } from '../signal/signal.reference.ts';
import { twiddlesReference } from '../signal/twiddles.reference.ts';
import { gridSampleReference } from '../spatial/grid-sample.reference.ts';
import { resizeTableReference } from '../spatial/resize-table.reference.ts';
import { roiAlignReference } from '../spatial/roi-align.reference.ts';
import { resampleReference } from '../spatial/spatial.reference.ts';
import { internalError } from '../../core/errors.ts';
import { elementwiseReference } from '../elementwise/elementwise.reference.ts';
import { injectiveReference } from '../index-expression/injective.reference.ts';
import type { OpReference, StaticReference } from '../op-reference.ts';
import type { Operator } from '../operator.ts';
import type { OpName } from './core-operators.ts';
import type { KernelOpName } from './kernel-ops.ts';

/** Core operators that need not have one: a formula or an index map says it. */
type Derived =
  | KernelOpName<'elementwise'>
  | 'quantize'
  | 'dequantize'
  | 'reshape'
  | 'tile'
  | 'repeat';

/** Host computations of the core operators, by name. */
const REFERENCES: Readonly<Record<string, OpReference>> = {
  // Of small floats too, which have no formula.
  cast: castReference,
  bitcast: bitcastReference,
  matmul: matmulReference,
  gemm: gemmReference,
  det: detReference,
  conv2d: conv2dReference,
  conv3d: conv3dReference,
  conv_transpose: convTransposeReference,
  deform_conv: deformConvReference,
  max_roi_pool: maxRoiPoolReference,
  ...POOL_REFERENCES,
  batch_norm: batchNormReference,
  ...ROW_NORM_REFERENCES,
  ...SOFTMAX_REFERENCES,
  recurrent: recurrentReference,
  cached_attention: cachedAttentionReference,
  linear_attention: linearAttentionReference,
  scaled_dot_product_attention: scaledDotProductAttentionReference,
  ...REDUCE_REFERENCES,
  ...ARG_REDUCE_REFERENCES,
  cumulative: cumulativeReference,
  transpose: transposeReference,
  broadcast_to: broadcastToReference,
  concat: concatReference,
  slice: sliceReference,
  gather: gatherReference,
  pad: padReference,
  full: fullReference,
  wgsl_kernel: wgslKernelReference,
  gather_elements: gatherElementsReference,
  gather_nd: gatherNdReference,
  one_hot: oneHotReference,
  reverse_sequence: reverseSequenceReference,
  tensor_scatter: tensorScatterReference,
  trilu: triluReference,
  check_indices: checkIndicesReference,
  scatter_elements: scatterElementsReference,
  scatter_nd: scatterNdReference,
  top_k: topKReference,
  resample: resampleReference,
  grid_sample: gridSampleReference,
  roi_align: roiAlignReference,
  dft: dftReference,
  frames: framesReference,
  matmul_integer: matmulIntegerReference,
  conv_integer: convIntegerReference,
  matmul_nbits: matmulNbitsReference,
  gather_matmul_nbits: gatherMatmulNbitsReference,
  nonzero: nonzeroReference,
  non_max_suppression: nonMaxSuppressionReference,
  unique_indices: uniqueIndicesReference,
  unique_counts: uniqueCountsReference,
  unique_inverse: uniqueInverseReference,
  range: rangeReference,
  mel_weights: melWeightsReference,
  ...SIZE_REFERENCES,
  slice_indices: sliceIndicesReference,
  dims_tensor: dimsTensorReference,
  arange: arangeReference,
  resize_table: resizeTableReference,
  twiddles: twiddlesReference,
} satisfies Record<Exclude<OpName, Derived>, OpReference> & Partial<Record<Derived, OpReference>>;

/** The host computation of an operator; undefined if only WebGPU runs it. */
export function referenceOf(op: Operator): OpReference | undefined {
  const own = op.reference === 'core' ? REFERENCES[op.name] : op.reference;
  if (own !== undefined) return own;
  if (op.scalar?.formula) return elementwiseReference(op.scalar.formula);
  return op.indexMap && injectiveReference(op);
}

/** The reference of an operator that was found to have one. */
export function opReference(op: Operator): OpReference {
  const reference = referenceOf(op);
  if (reference) return reference;
  throw internalError(`${op.name} has no reference`);
}

/** The same of an operator that writes into a destination. */
export function staticReference(op: Operator): StaticReference {
  const reference = opReference(op);
  if ('reference' in reference) return reference;
  throw internalError(`${op.name} has a result of unknown size`);
}
