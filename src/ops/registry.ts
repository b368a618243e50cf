import { CONCRETE_DIMS } from '../core/dim-context.ts';
import type { Dim } from '../core/dim.ts';
import { ShapeError, UnsupportedError } from '../core/errors.ts';
import type {
  Attributes,
  ConcreteTensorType,
  TensorType,
  TensorTypeOf,
} from '../core/primitive-function.ts';
import { completeAttributes } from './attributes.ts';
import { batchNorm } from './batch-norm.ts';
import { broadcastTo } from './broadcast-to.ts';
import { cast } from './cast.ts';
import { COMPARISON_OPS } from './comparison.ts';
import { concat } from './concat.ts';
import { conv2d } from './conv2d.ts';
import type { InputSpec, OpDefinition } from './define-op.ts';
import { BINARY_OPS } from './elementwise-binary.ts';
import { UNARY_OPS } from './elementwise-unary.ts';
import { full } from './full.ts';
import { gather } from './gather.ts';
import { gemm } from './gemm.ts';
import { layerNorm } from './layer-norm.ts';
import type { Operands } from './lowering.ts';
import { matmul } from './matmul.ts';
import { formatType } from './operand-checks.ts';
import { pad } from './pad.ts';
import { POOL_OPS } from './pool2d.ts';
import { REDUCE_OPS } from './reduce.ts';
import { reshape } from './reshape.ts';
import { slice } from './slice.ts';
import { SOFTMAX_OPS } from './softmax.ts';
import { transpose } from './transpose.ts';

/** Every operator by name. */
export const OPS: ReadonlyMap<string, OpDefinition> = new Map(
  [
    ...UNARY_OPS,
    ...BINARY_OPS,
    ...COMPARISON_OPS,
    cast,
    matmul,
    gemm,
    conv2d,
    ...POOL_OPS,
    batchNorm,
    layerNorm,
    ...SOFTMAX_OPS,
    ...REDUCE_OPS,
    transpose,
    reshape,
    broadcastTo,
    concat,
    slice,
    gather,
    pad,
    full,
  ].map((op) => [op.name, op]),
);

/** The operator of a name. Throws UnsupportedError when there is none. */
export function opDefinition(name: string): OpDefinition {
  const op = OPS.get(name);
  if (op !== undefined) return op;
  throw new UnsupportedError({ got: `operator ${name}`, expected: 'an operator that Weft has' });
}

/** A call that has been checked: complete attributes and the type of the result. */
export interface InferredCall<D extends Dim> {
  readonly attributes: Attributes;
  readonly output: TensorTypeOf<D>;
}

/**
 * Checks a call's attributes, number of inputs and dtypes, then infers the type of its result, all
 * dimensions being numbers; `inferCall` also takes symbols.
 * Throws UnsupportedError for attributes the operator does not have, ShapeError for all else.
 */
export function inferConcreteCall(
  op: OpDefinition,
  inputs: Operands<ConcreteTensorType>,
  attributes: Attributes,
): InferredCall<number> {
  const complete = checkCall(op, inputs, attributes);
  return { attributes: complete, output: op.infer(inputs, complete, CONCRETE_DIMS) };
}

/** Checks a call but for its shapes, and gives its complete attributes. */
export function checkCall(
  op: OpDefinition,
  inputs: Operands<TensorType>,
  attributes: Attributes,
): Attributes {
  const complete = completeAttributes(op, attributes);
  checkInputs(op, inputs);
  return complete;
}

function checkInputs(op: OpDefinition, inputs: Operands<TensorType>): void {
  const last = op.inputs.at(-1);
  const isVariadic = last?.variadic === true;
  const required = op.inputs.filter((spec) => spec.optional !== true && spec.variadic !== true);
  if (inputs.length < required.length || (!isVariadic && inputs.length > op.inputs.length)) {
    throw new ShapeError({
      where: op.name,
      got: inputs.length === 1 ? '1 input' : `${inputs.length} inputs`,
      expected: describeInputs(op.inputs),
    });
  }
  for (const [i, type] of inputs.entries()) {
    const spec = op.inputs[i] ?? last;
    if (spec !== undefined) checkInput(type, spec, op.name);
  }
}

function checkInput(type: TensorType | undefined, spec: InputSpec, name: string): void {
  const where = `${name}: input ${spec.name}`;
  if (type === undefined) {
    if (spec.optional === true) return;
    throw new ShapeError({ where, got: 'nothing', expected: 'a tensor' });
  }
  if (spec.dtypes.includes(type.dtype)) return;
  throw new ShapeError({ where, got: formatType(type), expected: spec.dtypes.join(', ') });
}

function describeInputs(specs: readonly InputSpec[]): string {
  if (specs.length === 0) return 'none';
  const names = specs.map(({ name, optional, variadic }) =>
    variadic === true ? `${name}...` : optional === true ? `${name} (optional)` : name,
  );
  return names.join(', ');
}
