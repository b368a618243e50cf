import {
  lowerAttention,
  lowerCachedAttention,
  lowerLinearAttention,
} from '../attention/attention.webgpu.ts';
import { lowerConv2d } from '../convolution/conv2d-lowering.ts';
import { lowerConv3d } from '../convolution/conv3d-lowering.ts';
import {
  lowerConvTranspose,
  lowerDeformConv,
  lowerMaxRoiPool,
} from '../convolution/convolution.webgpu.ts';
import { POOL_LOWERINGS } from '../convolution/pool-lowering.ts';
import {
  lowerScatterElements,
  lowerScatterNd,
  lowerTensorScatter,
} from '../indexing/indexing.webgpu.ts';
import { lowerTopK } from '../indexing/top-k-lowering.ts';
import { lowerDet } from '../linear/det.webgpu.ts';
import { lowerGemm, lowerMatmul } from '../linear/matmul-lowering.ts';
import { NORM_LOWERINGS } from '../normalization/norm-lowering.ts';
import { SOFTMAX_LOWERINGS } from '../normalization/softmax-lowering.ts';
import { lowerGatherMatmulNbits, lowerMatmulNbits } from '../quantization/matmul-nbits-lowering.ts';
import { lowerConvInteger, lowerMatmulInteger } from '../quantization/quantization.webgpu.ts';
import { lowerRecurrent } from '../recurrent/recurrent-lowering.ts';
import { REDUCE_LOWERINGS } from '../reduction/reduce-lowering.ts';
import { lowerArgReduce, lowerCumulative } from '../reduction/reduction.webgpu.ts';
import { lowerDft } from '../signal/dft.webgpu.ts';
import { lowerGridSample, lowerResample, lowerRoiAlign } from '../spatial/spatial.webgpu.ts';
import type { OpDefinition } from '../define-op.ts';
import type { Lowering } from '../lowering/lowering.ts';
import type { KernelOpName } from './kernel-ops.ts';

/** Kernels of the core operators in WGSL, by name; only what runs programs on WebGPU loads them. */
const WEBGPU_LOWERINGS: Readonly<Record<string, Lowering | undefined>> = {
  matmul: lowerMatmul,
  gemm: lowerGemm,
  det: lowerDet,
  conv2d: lowerConv2d,
  conv3d: lowerConv3d,
  conv_transpose: lowerConvTranspose,
  deform_conv: lowerDeformConv,
  max_roi_pool: lowerMaxRoiPool,
  ...POOL_LOWERINGS,
  ...NORM_LOWERINGS,
  ...SOFTMAX_LOWERINGS,
  recurrent: lowerRecurrent,
  cached_attention: lowerCachedAttention,
  linear_attention: lowerLinearAttention,
  scaled_dot_product_attention: lowerAttention,
  ...REDUCE_LOWERINGS,
  arg_max: lowerArgReduce('max'),
  arg_min: lowerArgReduce('min'),
  cumulative: lowerCumulative,
  tensor_scatter: lowerTensorScatter,
  scatter_elements: lowerScatterElements,
  scatter_nd: lowerScatterNd,
  top_k: lowerTopK,
  resample: lowerResample,
  grid_sample: lowerGridSample,
  roi_align: lowerRoiAlign,
  dft: lowerDft,
  matmul_integer: lowerMatmulInteger,
  conv_integer: lowerConvInteger,
  matmul_nbits: lowerMatmulNbits,
  gather_matmul_nbits: lowerGatherMatmulNbits,
} satisfies Partial<Record<KernelOpName, Lowering>>;

/** How an operator's kernels are made; undefined where it has none. */
export function webgpuLowering({ name, lower }: OpDefinition): Lowering | undefined {
  return lower === 'core' ? WEBGPU_LOWERINGS[name] : lower;
}
