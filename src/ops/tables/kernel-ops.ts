// In the order of the families: neighbours in the bundle compress well.
import type { OpDefinition } from '../define-op.ts';
import { cachedAttention } from '../attention/cached-attention.ts';
import { linearAttention } from '../attention/linear-attention.ts';
import { scaledDotProductAttention } from '../attention/scaled-dot-product-attention.ts';
import { threefryWords } from '../random/threefry-words.ts';
import { bitcast } from '../elementwise/bitcast.ts';
import {
  BITWISE_OPS,
  COMPARISON_OPS,
  BINARY_OPS,
  modulo,
} from '../elementwise/elementwise-binary.ts';
import { cast } from '../elementwise/cast.ts';
import { UNARY_OPS, ROUNDING_OPS, TRANSCENDENTAL_OPS } from '../elementwise/elementwise-unary.ts';
import { det } from '../linear/det.ts';
import { gemm } from '../linear/gemm.ts';
import { matmul } from '../linear/matmul.ts';
import { conv2d, conv3d } from '../convolution/conv2d.ts';
import { convTranspose } from '../convolution/conv-transpose.ts';
import { deformConv } from '../convolution/deform-conv.ts';
import { maxRoiPool, POOL_OPS } from '../convolution/pool.ts';
import { batchNorm, ROW_NORM_OPS } from '../normalization/normalization.ts';
import { SOFTMAX_OPS } from '../normalization/softmax.ts';
import { ARG_REDUCE_OPS } from '../reduction/arg-reduce.ts';
import { cumulative } from '../reduction/cumulative.ts';
import { REDUCE_OPS } from '../reduction/reduce.ts';
import { gatherElements } from '../indexing/gather-elements.ts';
import { gatherNd } from '../indexing/gather-nd.ts';
import { checkIndices, trilu } from '../indexing/indexing.ts';
import { oneHot } from '../indexing/one-hot.ts';
import { reverseSequence } from '../indexing/reverse-sequence.ts';
import { scatterElements } from '../indexing/scatter-elements.ts';
import { scatterNd } from '../indexing/scatter-nd.ts';
import { tensorScatter } from '../indexing/tensor-scatter.ts';
import { topK } from '../indexing/top-k.ts';
import { concat } from '../movement/concat.ts';
import { gather } from '../movement/gather.ts';
import { broadcastTo, full, reshape, tile, transpose } from '../movement/movement.ts';
import { pad } from '../movement/pad.ts';
import { slice } from '../movement/slice.ts';
import { dft } from '../signal/dft.ts';
import { frames } from '../signal/frames.ts';
import { gridSample } from '../spatial/grid-sample.ts';
import { resample } from '../spatial/resample.ts';
import { repeat, roiAlign } from '../spatial/spatial.ts';
import { wgslKernel } from '../program/wgsl-kernel.ts';
import { recurrent } from '../recurrent/recurrent.ts';
import { convInteger, matmulInteger } from '../quantization/matmul-integer.ts';
import { dequantize, quantize } from '../quantization/quantize.ts';
import { gatherMatmulNbits, matmulNbits } from '../quantization/matmul-nbits.ts';

/** The operators that devices may have kernels for, by the folder that they are in. */
export const KERNEL_FAMILIES = {
  elementwise: [
    ...UNARY_OPS,
    ...ROUNDING_OPS,
    ...TRANSCENDENTAL_OPS,
    ...BINARY_OPS,
    modulo,
    ...BITWISE_OPS,
    ...COMPARISON_OPS,
    cast,
    bitcast,
    threefryWords,
  ],
  linear: [matmul, gemm, det],
  convolution: [conv2d, conv3d, convTranspose, deformConv, maxRoiPool, ...POOL_OPS],
  normalization: [batchNorm, ...ROW_NORM_OPS, ...SOFTMAX_OPS],
  recurrent: [recurrent],
  attention: [cachedAttention, linearAttention, scaledDotProductAttention],
  reduction: [...REDUCE_OPS, ...ARG_REDUCE_OPS, cumulative],
  movement: [transpose, reshape, broadcastTo, concat, slice, gather, pad, full, tile],
  /** Those whose meaning the program brings along. */
  program: [wgslKernel],
  indexing: [
    gatherElements,
    gatherNd,
    oneHot,
    reverseSequence,
    tensorScatter,
    trilu,
    checkIndices,
    scatterElements,
    scatterNd,
    topK,
  ],
  spatial: [resample, repeat, gridSample, roiAlign],
  signal: [dft, frames],
  quantization: [quantize, dequantize, matmulInteger, convInteger, matmulNbits, gatherMatmulNbits],
} as const;

type Families = typeof KERNEL_FAMILIES;

/** Names of the operators of a family, by default of any. */
export type KernelOpName<Family extends keyof Families = keyof Families> =
  Families[Family][number]['name'];

/**
 * The operators that devices may have kernels for, by name. All others run on the host, which knows
 * them from `coreOperators`, so that whoever runs programs on WebGPU needs none of them.
 */
export const KERNEL_OPS: ReadonlyMap<string, OpDefinition> = new Map(
  Object.values<readonly OpDefinition[]>(KERNEL_FAMILIES)
    .flat()
    .map((op) => [op.name, op]),
);
