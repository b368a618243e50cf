import { elementCount } from '../../core/shape.ts';
import type { WorkFunction } from '../work-function.ts';
import type { LinearName } from './linear-ops.ts';
import { gemmProblem, type MatmulProblem, matmulProblem } from './matmul-problem.ts';

const product =
  (problemOf: (call: Parameters<WorkFunction>[0]) => MatmulProblem): WorkFunction =>
  (call) => {
    const { k } = problemOf(call);
    return 2 * elementCount(call.output.shape) * k;
  };

export const LINEAR_WORK: Readonly<Partial<Record<LinearName, WorkFunction>>> = {
  matmul: product(matmulProblem),
  gemm: product(gemmProblem),
};
