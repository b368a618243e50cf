import type { OpReference } from '../op-reference.ts';
import { matmulReference } from './matmul.reference.ts';
import { gemmReference } from './gemm.reference.ts';
import { detReference } from './det.reference.ts';
import type { LinearName } from './linear-ops.ts';

export const LINEAR_REFERENCES = {
  matmul: matmulReference,
  gemm: gemmReference,
  det: detReference,
} satisfies Record<LinearName, OpReference>;
