import {
  cachedAttentionReference,
  linearAttentionReference,
  scaledDotProductAttentionReference,
} from '../attention/attention.reference.ts';
import {
  convTransposeReference,
  conv2dReference,
  conv3dReference,
} from '../convolution/convolution.reference.ts';
import { deformConvReference } from '../convolution/deform-conv.reference.ts';
import { maxRoiPoolReference, POOL_REFERENCES } from '../convolution/pool.reference.ts';
import {
  arangeReference,
  dimsTensorReference,
  nonzeroReference,
  rangeReference,
  sliceIndicesReference,
  uniqueCountsReference,
  uniqueIndicesReference,
  uniqueInverseReference,
  nonMaxSuppressionReference,
} from '../dynamic/dynamic.reference.ts';
import { melWeightsReference, SIZE_REFERENCES } from '../dynamic/sizes.reference.ts';
import {
  bitcastReference,
  castReference,
  elementwiseReference,
} from '../elementwise/elementwise.reference.ts';
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
import { detReference, gemmReference, matmulReference } from '../linear/matmul.reference.ts';
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
  SOFTMAX_REFERENCES,
} from '../normalization/normalization.reference.ts';
import { wgslKernelReference } from '../program/wgsl-kernel.reference.ts';
import {
  gatherMatmulNbitsReference,
  matmulNbitsReference,
  convIntegerReference,
  matmulIntegerReference,
} from '../quantization/quantization.reference.ts';
import { recurrentReference } from '../recurrent/recurrent.reference.ts';
import {
  ARG_REDUCE_REFERENCES,
  cumulativeReference,
  REDUCE_REFERENCES,
} from '../reduction/reduction.reference.ts';
import { dftReference, framesReference, twiddlesReference } from '../signal/signal.reference.ts';
import {
  gridSampleReference,
  roiAlignReference,
  resampleReference,
} from '../spatial/spatial.reference.ts';
import { resizeTableReference } from '../spatial/resize-table.reference.ts';
import { internalError } from '../../core/errors.ts';
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
