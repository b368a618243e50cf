import type { Lowering } from '../lowering.ts';
import { lowerConv2d } from './conv2d-lowering.ts';
import { lowerConv3d } from './conv3d-lowering.ts';
import { lowerConvTranspose } from './conv-transpose-lowering.ts';
import type { ConvolutionName } from './convolution-ops.ts';
import { lowerDeformConv } from './deform-conv-lowering.ts';
import { lowerMaxRoiPool } from './max-roi-pool-lowering.ts';
import { lowerGlobalPool, lowerPool } from './pool-lowering.ts';

export const CONVOLUTION_WEBGPU = {
  conv2d: lowerConv2d,
  conv3d: lowerConv3d,
  conv_transpose: lowerConvTranspose,
  deform_conv: lowerDeformConv,
  max_roi_pool: lowerMaxRoiPool,
  max_pool: lowerPool('max'),
  max_pool_indices: lowerPool('place'),
  avg_pool: lowerPool('mean'),
  sum_pool: lowerPool('sum'),
  global_max_pool: lowerGlobalPool('max'),
  global_avg_pool: lowerGlobalPool('mean'),
} satisfies Record<ConvolutionName, Lowering>;
