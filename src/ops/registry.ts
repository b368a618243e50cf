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
import type { InputSpec, OpDefinition } from './define-op.ts';
import { ATTENTION_OPS } from './attention/attention-ops.ts';
import { ELEMENTWISE_OPS } from './elementwise/elementwise-ops.ts';
import { LINEAR_OPS } from './linear/linear-ops.ts';
import { CONVOLUTION_OPS } from './convolution/convolution-ops.ts';
import { NORMALIZATION_OPS } from './normalization/normalization-ops.ts';
import { REDUCTION_OPS } from './reduction/reduction-ops.ts';
import { DYNAMIC_OPS } from './dynamic/dynamic-ops.ts';
import { INDEXING_OPS } from './indexing/indexing-ops.ts';
import { MOVEMENT_OPS } from './movement/movement-ops.ts';
import { SIGNAL_OPS } from './signal/signal-ops.ts';
import { SPATIAL_OPS } from './spatial/spatial-ops.ts';
import { PROGRAM_OPS } from './program/program-ops.ts';
import { RECURRENT_OPS } from './recurrent/recurrent-ops.ts';
import { QUANTIZATION_OPS } from './quantization/quantization-ops.ts';
import type { Operands } from './lowering.ts';
import { formatType } from './operand-checks.ts';

/** Every operator by name. */
export const OPS: ReadonlyMap<string, OpDefinition> = new Map(
  [
    ...ELEMENTWISE_OPS,
    ...LINEAR_OPS,
    ...CONVOLUTION_OPS,
    ...NORMALIZATION_OPS,
    ...RECURRENT_OPS,
    ...ATTENTION_OPS,
    ...REDUCTION_OPS,
    ...MOVEMENT_OPS,
    ...PROGRAM_OPS,
    ...INDEXING_OPS,
    ...DYNAMIC_OPS,
    ...SPATIAL_OPS,
    ...SIGNAL_OPS,
    ...QUANTIZATION_OPS,
  ].map((op) => [op.name, op]),
);

/** The operator of a name. Throws UnsupportedError when there is none. */
export function opDefinition(name: string): OpDefinition {
  const op = OPS.get(name);
  if (op !== undefined) return op;
  throw new UnsupportedError({ got: `operator ${name}`, expected: 'an operator that Weft has' });
}

/** Whether the sizes of an operator's result depend on elements. False for a name that is none. */
export function isDynamicOperator(name: string): boolean {
  return OPS.get(name)?.kind === 'dynamic';
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
