import { CONCRETE_DIMS } from '../core/dims/dim-context.ts';
import type { Dim } from '../core/dims/dim.ts';
import { ShapeError } from '../core/errors.ts';
import type {
  Attributes,
  ConcreteTensorType,
  TensorType,
  TensorTypeOf,
} from '../core/contracts/primitive-function.ts';
import { completeAttributes } from './attributes.ts';
import type { InputSpec, OpDefinition } from './define-op.ts';
import type { Operands } from './lowering/lowering.ts';
import { formatType } from './operand-checks.ts';

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
  return { attributes: complete, output: possible(op, op.infer(inputs, complete, CONCRETE_DIMS)) };
}

/**
 * A type that tensors can have. Sizes in attributes may add up to less than nothing; that of a dynamic
 * operator, which is not known yet, is -1.
 */
export function possible<T extends TensorType>(op: OpDefinition, type: T): T {
  const least = op.kind === 'dynamic' ? -1 : 0;
  if (type.shape.some((dim) => typeof dim === 'number' && dim < least)) {
    const got = `a result of ${formatType(type)}`;
    throw new ShapeError({ where: op.name, got, expected: 'sizes from 0 up' });
  }
  return type;
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
