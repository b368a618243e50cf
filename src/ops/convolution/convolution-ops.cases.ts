import type { OpCases } from '../op-cases.ts';
import { conv2dCases } from './conv2d.cases.ts';
import { conv3dCases } from './conv3d.cases.ts';
import { convTransposeCases } from './conv-transpose.cases.ts';
import { deformConvCases } from './deform-conv.cases.ts';
import { maxRoiPoolCases } from './max-roi-pool.cases.ts';
import { POOL_CASES } from './pool.cases.ts';
import type { ConvolutionName } from './convolution-ops.ts';

export const CONVOLUTION_CASES = {
  conv2d: conv2dCases,
  conv3d: conv3dCases,
  conv_transpose: convTransposeCases,
  deform_conv: deformConvCases,
  max_roi_pool: maxRoiPoolCases,
  ...POOL_CASES,
} satisfies Record<ConvolutionName, OpCases>;
