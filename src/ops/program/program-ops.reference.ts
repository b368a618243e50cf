import type { OpReference } from '../op-reference.ts';
import { wgslKernelReference } from './wgsl-kernel.reference.ts';
import type { ProgramName } from './program-ops.ts';

export const PROGRAM_REFERENCES = {
  wgsl_kernel: wgslKernelReference,
} satisfies Record<ProgramName, OpReference>;
