import type { DType } from '../../core/dtype.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes, TensorTypeOf } from '../../core/primitive-function.ts';
import type { Dim } from '../../core/dim.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { matmul } from '../linear/matmul.ts';
import { wholeMatmulKernels } from '../linear/matmul-lowering.ts';
import { matmulProblem } from '../linear/matmul-problem.ts';
import type { Operands } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import {
  requireZeroPoints,
  subtractZeroPoints,
  withoutZeroPoints,
  type ZeroPointed,
} from './zero-points.ts';

export const BYTES: readonly DType[] = ['uint8', 'int8'];

const A: ZeroPointed = { input: 0, zero: 2, axis: -2 };
const B: ZeroPointed = { input: 1, zero: 3, axis: -1 };

/** The exact product of matrices of bytes, as int32. */
export const matmulInteger: OpDefinition = defineOp({
  name: 'matmul_integer',
  kind: 'anchor',
  summary:
    'The matrix product of bytes less their zero points, exact in int32, batch dimensions ' +
    'broadcast. Zero points of a are one or one for each row, those of b one or one for each column.',
  inputs: [
    { name: 'a', dtypes: BYTES },
    { name: 'b', dtypes: BYTES },
    { name: 'a_zero_point', dtypes: BYTES, optional: true },
    { name: 'b_zero_point', dtypes: BYTES, optional: true },
  ],
  attributes: {},
  infer(inputs, attributes, dims) {
    for (const pair of [A, B]) requireZeroPoints(inputs, pair, { where: 'matmul_integer', dims });
    const { shape } = matmul.infer(asAlike(inputs.slice(0, 2)), attributes, dims);
    return { dtype: 'int32', shape };
  },
  reference(inputs, attributes, output) {
    const operands = [A, B].map((pair) => withoutZeroPoints(inputs, pair));
    fillExactly(matmul, { operands, attributes, output });
  },
  lower(call) {
    return subtractZeroPoints(wholeMatmulKernels(matmulProblem(call), call.caps), call, [A, B]);
  },
  tolerance: { rtol: 0, atol: 0 },
  cases: () => [
    integerCase([
      [3, 5],
      [5, 7],
    ]),
    integerCase([[3, 5], [5, 7], [], []]),
    integerCase([[5, 4], [4, 8], [5], [8]]),
    integerCase([[2, 3, 4], [4, 3], [1], [3]], ['int8', 'uint8']),
    integerCase([[4], [4, 6], [], []], ['uint8', 'int8']),
    integerCase([[2, 1, 3, 8], [4, 8, 5], [3], [5]], ['int8', 'int8']),
    integerCase([[0, 4], [4, 3], [], []]),
    integerCase([[3, 0], [0, 4], [], []]),
    integerCase([[33, 64], [64, 68], [], []], ['uint8', 'int8']),
    integerCase([[66, 130], [130, 71], [66], [71]], ['int8', 'uint8']),
    integerCase([[1, 512], [512, 100], [], [100]], ['uint8', 'int8']),
  ],
  badCases: () => [
    integerCase([
      [2, 3],
      [4, 5],
    ]),
    integerCase([[2, 3], [3, 5], [3]]),
    integerCase([[2, 3], [3, 5], [], [2]]),
    {
      title: 'floats',
      inputs: [
        { dtype: 'float32', shape: [2, 2] },
        { dtype: 'float32', shape: [2, 2] },
      ],
    },
  ],
});

/** The types with the first one's dtype, for the shape rules of floats, which want one dtype. */
export function asAlike<D extends Dim>(
  types: Operands<TensorTypeOf<D>>,
): Operands<TensorTypeOf<D>> {
  const { dtype } = operand(types, 0);
  return types.map((type) => type && { ...type, dtype });
}

/** int32 computed by the reference of an operator on floats, whose sums in double are exact. */
export function fillExactly(op: OpDefinition, { operands, attributes, output }: ExactCall): void {
  const sums = HostTensor.zeros('float64', output.shape);
  op.reference?.(operands, attributes, sums);
  const { elements } = output;
  // An Int32Array keeps the low 32 bits.
  for (let i = 0; i < elements.length; i++) elements[i] = Number(sums.elements[i] ?? 0);
}

interface ExactCall {
  readonly operands: Operands<HostTensor>;
  readonly attributes: Attributes;
  readonly output: HostTensor;
}

type Shapes = readonly (readonly number[])[];

/** Shapes of a, b and the zero points. */
function integerCase(shapes: Shapes, [a, b]: readonly [DType, DType] = ['uint8', 'uint8']): OpCase {
  const range = (dtype: DType): readonly [number, number] =>
    dtype === 'int8' ? [-128, 128] : [0, 256];
  return {
    title: `${a} by ${b} ${shapes.map((shape) => `(${shape.join(', ')})`).join(' ')}`,
    inputs: shapes.map((shape, i) => {
      const dtype = i % 2 === 0 ? a : b;
      return { dtype, shape, range: range(dtype) };
    }),
  };
}
