import { det } from './det.ts';
import { gemm } from './gemm.ts';
import { matmul } from './matmul.ts';

export const LINEAR_OPS = [matmul, gemm, det] as const;

export type LinearName = (typeof LINEAR_OPS)[number]['name'];
