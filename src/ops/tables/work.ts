import { elementCount } from '../../core/tensor/shape.ts';
import type { OpDefinition } from '../define-op.ts';
import { scalarCost } from '../formula/scalar-cost.ts';
import { gemmProblem, type MatmulProblem, matmulProblem } from '../linear/matmul-problem.ts';
import type { KernelOpName } from './kernel-ops.ts';
import type { Attributes, ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import type { Operands } from '../lowering/lowering.ts';

const product =
  (problemOf: (call: WorkCall) => MatmulProblem): WorkFunction =>
  (call) => {
    const { k } = problemOf(call);
    return 2 * elementCount(call.output.shape) * k;
  };

/** Products with weights whose rows are as long as those of the first operand. */
const productOfRows: WorkFunction = ({ inputs, output }) =>
  2 * elementCount(output.shape) * (inputs[0]?.shape.at(-1) ?? 1);

/** Each element of the result takes the weights of its channel. */
const convolution: WorkFunction = ({ inputs, output }) =>
  2 * elementCount(output.shape) * elementCount(inputs[1]?.shape.slice(1) ?? []);

/** Each element of the queries, and of the result, meets all keys. */
const attention: WorkFunction = ({ inputs, output }) => {
  const keys = inputs[1]?.shape.at(-2) ?? 1;
  return 2 * keys * (elementCount(inputs[0]?.shape ?? []) + elementCount(output.shape));
};

/** Operators that compute far more than they read. */
const WORK: Readonly<Record<string, WorkFunction | undefined>> = {
  matmul: product(matmulProblem),
  gemm: product(gemmProblem),
  matmul_integer: productOfRows,
  matmul_nbits: productOfRows,
  gather_matmul_nbits: productOfRows,
  conv2d: convolution,
  conv3d: convolution,
  deform_conv: convolution,
  conv_integer: convolution,
  // Each element of the input goes to the weights of its channel.
  conv_transpose: ({ inputs }) =>
    2 * elementCount(inputs[0]?.shape ?? []) * elementCount(inputs[1]?.shape.slice(1) ?? []),
  cached_attention: attention,
  scaled_dot_product_attention: attention,
  // Each position changes the state and is multiplied by it.
  linear_attention: ({ inputs }) =>
    4 * (inputs[0]?.shape[1] ?? 1) * elementCount(inputs[3]?.shape ?? []),
  // Each element of the projected input takes a column of the weights.
  recurrent: ({ inputs }) => 2 * elementCount(inputs[0]?.shape ?? []) * (inputs[1]?.shape[1] ?? 1),
  // As its definition has it: a product with the twiddles.
  dft: ({ inputs, output }) => 4 * elementCount(output.shape) * (inputs[1]?.shape[0] ?? 1),
} satisfies Partial<Record<KernelOpName, WorkFunction>>;

/** The cost of each element that is read or written, where nothing else is known. */
const USUAL_COST = 4;
/** The cost of a scalar function that calls functions. */
const LONG_COST = 32;

/** Additions and multiplications of a call, about: what nobody counted for is some for each element. */
export function operatorWork(op: OpDefinition, call: WorkCall): number {
  const own = WORK[op.name];
  if (own !== undefined) return own(call);
  const { inputs, output } = call;
  if (op.kind === 'injective') return 0;
  if (op.scalar !== undefined) {
    const dtypes = inputs.map((type) => type?.dtype ?? output.dtype);
    const { attributes } = call;
    const cost = scalarCost(op.scalar, { dtypes, attributes, output: output.dtype }) ?? LONG_COST;
    return elementCount(output.shape) * cost;
  }
  const sizes = [...inputs, output].map((type) => elementCount(type?.shape ?? []));
  return Math.max(...sizes) * USUAL_COST;
}

/** The call that is estimated: concrete types, complete attributes. */
interface WorkCall {
  readonly inputs: Operands<ConcreteTensorType>;
  readonly output: ConcreteTensorType;
  readonly attributes: Attributes;
}

/** Additions and multiplications of a call, about. */
type WorkFunction = (call: WorkCall) => number;
