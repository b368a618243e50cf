import { conv2d } from './conv2d.ts';
import { conv3d } from './conv3d.ts';
import { convTranspose } from './conv-transpose.ts';
import { deformConv } from './deform-conv.ts';
import { maxRoiPool } from './max-roi-pool.ts';
import { POOL_OPS } from './pool.ts';

export const CONVOLUTION_OPS = [
  conv2d,
  conv3d,
  convTranspose,
  deformConv,
  maxRoiPool,
  ...POOL_OPS,
] as const;

export type ConvolutionName = (typeof CONVOLUTION_OPS)[number]['name'];
