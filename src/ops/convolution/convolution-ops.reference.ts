import type { OpReference } from '../op-reference.ts';
import { conv2dReference } from './conv2d.reference.ts';
import { conv3dReference } from './conv3d.reference.ts';
import { convTransposeReference } from './conv-transpose.reference.ts';
import { deformConvReference } from './deform-conv.reference.ts';
import { maxRoiPoolReference } from './max-roi-pool.reference.ts';
import { POOL_REFERENCES } from './pool.reference.ts';
import type { ConvolutionName } from './convolution-ops.ts';

export const CONVOLUTION_REFERENCES = {
  conv2d: conv2dReference,
  conv3d: conv3dReference,
  conv_transpose: convTransposeReference,
  deform_conv: deformConvReference,
  max_roi_pool: maxRoiPoolReference,
  ...POOL_REFERENCES,
} satisfies Record<ConvolutionName, OpReference>;
