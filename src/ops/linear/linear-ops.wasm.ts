import type { WasmCall, WasmLowering } from '../wasm-lowering.ts';
import type { LinearName } from './linear-ops.ts';
import { gemmProblem, type MatmulProblem, matmulProblem } from './matmul-problem.ts';
import { productKernel } from './product.wasm.ts';

const product =
  (problemOf: (call: WasmCall) => MatmulProblem): WasmLowering =>
  (call) => {
    const types = [...call.inputs, call.output];
    const isFloat = types.every((type) => type === undefined || type.dtype === 'float32');
    return isFloat ? productKernel(problemOf(call)) : undefined;
  };

export const LINEAR_WASM: Readonly<Partial<Record<LinearName, WasmLowering>>> = {
  matmul: product(matmulProblem),
  gemm: product(gemmProblem),
};
