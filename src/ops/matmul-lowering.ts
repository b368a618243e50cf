import direct from '../../shaders/matmul-direct.wgsl?raw';
import { f32, type KernelSpec, type LoweringCall, u32 } from './lowering.ts';
import { gemmProblem, type MatmulProblem, matmulProblem } from './matmul-problem.ts';

/** Kernels of `matmul`. */
export function lowerMatmul(call: LoweringCall): readonly KernelSpec[] {
  return [directKernel(matmulProblem(call))];
}

/** Kernels of `gemm`. */
export function lowerGemm(call: LoweringCall): readonly KernelSpec[] {
  return [directKernel(gemmProblem(call))];
}

function directKernel(problem: MatmulProblem): KernelSpec {
  const { m, n, batch } = problem;
  return {
    name: 'matmul-direct',
    source: direct,
    constants: { HAS_C: problem.c !== undefined },
    params: problemParams(problem),
    workgroupSize: [16, 4, 1],
    workgroups: [Math.ceil(n / 16), Math.ceil(m / 4), batch[0] * batch[1]],
    reads: [
      { hook: 'a', from: { kind: 'input', index: 0 }, width: 1 },
      { hook: 'b', from: { kind: 'input', index: 1 }, width: 1 },
      { hook: 'c', from: { kind: 'input', index: 2 }, width: 1 },
    ],
    writes: [{ hook: '', to: { kind: 'output' }, width: 1 }],
  };
}

function problemParams(problem: MatmulProblem): KernelSpec['params'] {
  const { a, b, c } = problem;
  return {
    m: u32(problem.m),
    n: u32(problem.n),
    k: u32(problem.k),
    batch_size1: u32(problem.batch[1]),
    a_batch0: u32(a.batch[0]),
    a_batch1: u32(a.batch[1]),
    a_row: u32(a.row),
    a_k: u32(a.column),
    b_batch0: u32(b.batch[0]),
    b_batch1: u32(b.batch[1]),
    b_k: u32(b.row),
    b_column: u32(b.column),
    c_row: u32(c?.row ?? 0),
    c_column: u32(c?.column ?? 0),
    alpha: f32(problem.alpha),
    beta: f32(problem.beta),
  };
}
