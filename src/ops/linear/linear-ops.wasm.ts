import { ofFloats } from '../wasm-kernels.ts';
import type { WasmCall, WasmLowering } from '../wasm-lowering.ts';
import type { LinearName } from './linear-ops.ts';
import { gemmProblem, type MatmulProblem, matmulProblem } from './matmul-problem.ts';
import { productKernel } from './product.wasm.ts';

const product = (problemOf: (call: WasmCall) => MatmulProblem): WasmLowering =>
  ofFloats((call) => productKernel(problemOf(call)));

export const LINEAR_WASM: Readonly<Partial<Record<LinearName, WasmLowering>>> = {
  matmul: product(matmulProblem),
  gemm: product(gemmProblem),
};
