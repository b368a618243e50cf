import type { OpDefinition } from '../define-op.ts';
import { wgslKernel } from './wgsl-kernel.ts';

/** Operators whose meaning the program brings along. */
export const PROGRAM_OPS: readonly OpDefinition[] = [wgslKernel];
