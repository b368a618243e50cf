import type { OpDefinition } from '../define-op.ts';
import { conv2d } from './conv2d.ts';
import { POOL_OPS } from './pool2d.ts';

export const CONVOLUTION_OPS: readonly OpDefinition[] = [conv2d, ...POOL_OPS];
