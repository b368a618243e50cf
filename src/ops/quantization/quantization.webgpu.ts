import { lowerConv2d } from '../convolution/conv2d-lowering.ts';
import { lowerConv3d } from '../convolution/conv3d-lowering.ts';
import { wholeMatmulKernels } from '../linear/matmul-lowering.ts';
import { matmulProblem } from '../linear/matmul-problem.ts';
import type { KernelSpec, LoweringCall } from '../lowering/lowering.ts';
import { operand } from '../operand-checks.ts';
import { W, X, A, B } from './matmul-integer.ts';
import { subtractZeroPoints } from './subtract-zero-points.ts';

/** Kernels of `matmul_integer`: those of floats, which load integers less their zero points. */
export function lowerMatmulInteger(call: LoweringCall): readonly KernelSpec[] {
  return subtractZeroPoints(wholeMatmulKernels(matmulProblem(call), call.caps), call, [A, B]);
}

/** Kernels of `conv_integer`, in the same way. */
export function lowerConvInteger(call: LoweringCall): readonly KernelSpec[] {
  const { inputs } = call;
  const lower = operand(inputs, 0).shape.length === 5 ? lowerConv3d : lowerConv2d;
  return subtractZeroPoints(lower({ ...call, inputs: inputs.slice(0, 2) }), call, [X, W]);
}
