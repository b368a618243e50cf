import type { Adjoint } from '../adjoint/adjoint.ts';
import { detAdjoint } from './det.adjoint.ts';
import { gemmAdjoint } from './gemm.adjoint.ts';
import type { LinearName } from './linear-ops.ts';
import { matmulAdjoint } from './matmul.adjoint.ts';

export const LINEAR_ADJOINTS = {
  matmul: matmulAdjoint,
  gemm: gemmAdjoint,
  det: detAdjoint,
} satisfies Record<LinearName, Adjoint>;
