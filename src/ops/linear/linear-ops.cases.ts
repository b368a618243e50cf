import type { OpCases } from '../op-cases.ts';
import { matmulCases } from './matmul.cases.ts';
import { gemmCases } from './gemm.cases.ts';
import { detCases } from './det.cases.ts';
import type { LinearName } from './linear-ops.ts';

export const LINEAR_CASES = {
  matmul: matmulCases,
  gemm: gemmCases,
  det: detCases,
} satisfies Record<LinearName, OpCases>;
