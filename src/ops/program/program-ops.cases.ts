import type { OpCases } from '../op-cases.ts';
import { wgslKernelCases } from './wgsl-kernel.cases.ts';
import type { ProgramName } from './program-ops.ts';

export const PROGRAM_CASES = {
  wgsl_kernel: wgslKernelCases,
} satisfies Record<ProgramName, OpCases>;
