import type { Adjoint } from '../adjoint/adjoint.ts';
import { convTransposeAdjoint } from './conv-transpose.adjoint.ts';
import { convolutionAdjoint } from './convolution.adjoint.ts';
import type { ConvolutionName } from './convolution-ops.ts';
import { deformConvAdjoint } from './deform-conv.adjoint.ts';
import { maxRoiPoolAdjoint } from './max-roi-pool.adjoint.ts';
import { globalPoolAdjoint, maxPoolAdjoint, sumPoolAdjoint } from './pool.adjoint.ts';

export const CONVOLUTION_ADJOINTS = {
  conv2d: convolutionAdjoint,
  conv3d: convolutionAdjoint,
  conv_transpose: convTransposeAdjoint,
  deform_conv: deformConvAdjoint,
  max_roi_pool: maxRoiPoolAdjoint,
  max_pool: maxPoolAdjoint,
  max_pool_indices: 'discrete',
  avg_pool: sumPoolAdjoint(true),
  sum_pool: sumPoolAdjoint(false),
  global_max_pool: globalPoolAdjoint('reduce_max'),
  global_avg_pool: globalPoolAdjoint('reduce_mean'),
} satisfies Record<ConvolutionName, Adjoint>;
