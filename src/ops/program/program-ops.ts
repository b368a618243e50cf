import { wgslKernel } from './wgsl-kernel.ts';

/** Operators whose meaning the program brings along. */
export const PROGRAM_OPS = [wgslKernel] as const;

export type ProgramName = (typeof PROGRAM_OPS)[number]['name'];
