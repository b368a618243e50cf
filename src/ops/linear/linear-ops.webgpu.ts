import type { Lowering } from '../lowering.ts';
import { lowerDet } from './det-lowering.ts';
import type { LinearName } from './linear-ops.ts';
import { lowerGemm, lowerMatmul } from './matmul-lowering.ts';

export const LINEAR_WEBGPU = {
  matmul: lowerMatmul,
  gemm: lowerGemm,
  det: lowerDet,
} satisfies Record<LinearName, Lowering>;
