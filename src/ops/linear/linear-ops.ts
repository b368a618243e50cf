import type { OpDefinition } from '../define-op.ts';
import { det } from './det.ts';
import { gemm } from './gemm.ts';
import { matmul } from './matmul.ts';

export const LINEAR_OPS: readonly OpDefinition[] = [matmul, gemm, det];
