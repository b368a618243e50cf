import {
  cachedAttentionAdjoint,
  linearAttentionAdjoint,
  scaledDotProductAttentionAdjoint,
} from '../attention/attention.adjoint.ts';
import {
  convolutionAdjoint,
  convTransposeAdjoint,
  deformConvAdjoint,
  maxRoiPoolAdjoint,
} from '../convolution/convolution.adjoint.ts';
import { POOL_ADJOINTS } from '../convolution/pool.adjoint.ts';
import { rangeAdjoint } from '../dynamic/range.adjoint.ts';
import {
  gatherElementsAdjoint,
  gatherNdAdjoint,
  oneHotAdjoint,
  reverseSequenceAdjoint,
  tensorScatterAdjoint,
  triluAdjoint,
  scatterElementsAdjoint,
  scatterNdAdjoint,
} from '../indexing/indexing.adjoint.ts';
import { detAdjoint, gemmAdjoint, matmulAdjoint } from '../linear/linear.adjoint.ts';
import {
  broadcastAdjoint,
  concatAdjoint,
  gatherAdjoint,
  padAdjoint,
  reshapeAdjoint,
  sliceAdjoint,
  tileAdjoint,
  transposeAdjoint,
} from '../movement/movement.adjoint.ts';
import { NORM_ADJOINTS } from '../normalization/normalization.adjoint.ts';
import {
  gatherMatmulNbitsAdjoint,
  matmulNbitsAdjoint,
} from '../quantization/matmul-nbits.adjoint.ts';
import { recurrentAdjoint } from '../recurrent/recurrent.adjoint.ts';
import { REDUCTION_ADJOINTS } from '../reduction/reduction.adjoint.ts';
import { dftAdjoint, framesAdjoint } from '../signal/signal.adjoint.ts';
import { gridSampleAdjoint, repeatAdjoint, resampleAdjoint } from '../spatial/spatial.adjoint.ts';
import { roiAlignAdjoint } from '../spatial/roi-align.adjoint.ts';
import type { Adjoint, AdjointRule } from '../adjoint/adjoint.ts';
import { formulaAdjoint } from '../adjoint/formula-adjoint.ts';
import type { Operator } from '../operator.ts';
import type { OpName } from './core-operators.ts';
import type { KernelOpName } from './kernel-ops.ts';
import { isFloat } from '../elementwise/number-dtypes.ts';

/** Also of small floats, which have no formula. */
const castAdjoint: AdjointRule = ({ inputs: [x], output, cotangent, graph }) =>
  x !== undefined && isFloat(output.dtype) ? [graph.cast(cotangent, x.dtype)] : [];

/** Read off the result, so that the operand need not be kept, and what computes it can end in the relu. */
const reluAdjoint: AdjointRule = ({ output, cotangent, graph }) => [
  graph.where(graph.lessEqual(output, 0), 0, cotangent),
];

/** Core operators that need not have one: formulas say theirs, compositions have that of their parts. */
type Derived = KernelOpName<'elementwise'> | 'dequantize' | 'wgsl_kernel' | 'resize_table';

/** Adjoints of the core operators, by name. Only the compiler has them: no device differentiates. */
const ADJOINTS: Readonly<Record<string, Adjoint>> = {
  relu: reluAdjoint,
  cast: castAdjoint,
  matmul: matmulAdjoint,
  gemm: gemmAdjoint,
  det: detAdjoint,
  conv2d: convolutionAdjoint,
  conv3d: convolutionAdjoint,
  conv_transpose: convTransposeAdjoint,
  deform_conv: deformConvAdjoint,
  max_roi_pool: maxRoiPoolAdjoint,
  ...POOL_ADJOINTS,
  ...NORM_ADJOINTS,
  recurrent: recurrentAdjoint,
  cached_attention: cachedAttentionAdjoint,
  linear_attention: linearAttentionAdjoint,
  scaled_dot_product_attention: scaledDotProductAttentionAdjoint,
  ...REDUCTION_ADJOINTS,
  transpose: transposeAdjoint,
  reshape: reshapeAdjoint,
  broadcast_to: broadcastAdjoint,
  concat: concatAdjoint,
  slice: sliceAdjoint,
  gather: gatherAdjoint,
  pad: padAdjoint,
  full: () => [],
  tile: tileAdjoint,
  gather_elements: gatherElementsAdjoint,
  gather_nd: gatherNdAdjoint,
  one_hot: oneHotAdjoint,
  reverse_sequence: reverseSequenceAdjoint,
  tensor_scatter: tensorScatterAdjoint,
  trilu: triluAdjoint,
  scatter_elements: scatterElementsAdjoint,
  scatter_nd: scatterNdAdjoint,
  resample: resampleAdjoint,
  repeat: repeatAdjoint,
  grid_sample: gridSampleAdjoint,
  roi_align: roiAlignAdjoint,
  dft: dftAdjoint,
  frames: framesAdjoint,
  matmul_nbits: matmulNbitsAdjoint,
  gather_matmul_nbits: gatherMatmulNbitsAdjoint,
  range: rangeAdjoint,
  is_nan: 'discrete',
  is_positive_infinity: 'discrete',
  equal: 'discrete',
  less: 'discrete',
  less_equal: 'discrete',
  greater: 'discrete',
  greater_equal: 'discrete',
  logical_not: 'discrete',
  bitwise_and: 'discrete',
  bitwise_or: 'discrete',
  bitwise_xor: 'discrete',
  bitwise_not: 'discrete',
  shift_left: 'discrete',
  shift_right: 'discrete',
  threefry: 'discrete',
  bitcast: 'discrete',
  max_pool_indices: 'discrete',
  arg_max: 'discrete',
  arg_min: 'discrete',
  check_indices: 'discrete',
  top_k: 'discrete',
  quantize: 'discrete',
  matmul_integer: 'discrete',
  conv_integer: 'discrete',
  nonzero: 'discrete',
  non_max_suppression: 'discrete',
  unique_indices: 'discrete',
  unique_counts: 'discrete',
  unique_inverse: 'discrete',
  sizes: 'discrete',
  reshape_sizes: 'discrete',
  broadcast_sizes: 'discrete',
  unsqueeze_sizes: 'discrete',
  squeeze_sizes: 'discrete',
  reduce_sizes: 'discrete',
  axis_sizes: 'discrete',
  resized_axis_sizes: 'discrete',
  signed_sizes: 'discrete',
  pad_sizes: 'discrete',
  slice_indices: 'discrete',
  dims_tensor: 'discrete',
  arange: 'discrete',
  twiddles: 'discrete',
  floor: 'zero',
  ceil: 'zero',
  round: 'zero',
  sign: 'zero',
  // Edges are rounded to places of the spectrum.
  mel_weights: 'zero',
} satisfies Record<Exclude<OpName, Derived>, Adjoint> & Partial<Record<Derived, Adjoint>>;

/** The adjoint of an operator; undefined where it has none. */
export function adjointOf(op: Operator): Adjoint | undefined {
  if (op.adjoint !== undefined) return op.adjoint;
  if (Object.hasOwn(ADJOINTS, op.name)) return ADJOINTS[op.name];
  const formula = op.scalar?.formula;
  return formula === undefined ? undefined : formulaAdjoint(formula);
}
