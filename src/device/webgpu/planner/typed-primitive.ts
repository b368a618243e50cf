import type { DType } from '../../../core/dtype.ts';
import { CONCRETE_DIMS } from '../../../core/dim-context.ts';
import { UnsupportedError } from '../../../core/errors.ts';
import type {
  Attributes,
  ConcreteTensorType,
  OperatorCall,
  PrimitiveFunction,
} from '../../../core/primitive-function.ts';
import type { Shape } from '../../../core/shape.ts';
import { bindAttributes } from '../../../ops/bind-attributes.ts';
import { completeAttributes } from '../../../ops/attributes.ts';
import type { OpDefinition } from '../../../ops/define-op.ts';
import { type ElementType, elementTypeOf } from './element-type.ts';

/** Operators by name. */
export type Operators = ReadonlyMap<string, OpDefinition>;

/** Shapes of the tensors of one call: parameters, then results. */
export interface CallShapes {
  readonly params: readonly Shape[];
  readonly results: readonly Shape[];
}

/** A primitive whose values all have concrete types. */
export interface TypedPrimitive {
  readonly name: string;
  readonly paramCount: number;
  /** Types of all values: parameters, then calls. */
  readonly types: readonly ConcreteTensorType[];
  readonly calls: readonly TypedCall[];
  /** Values that are results, in the order of the destination arguments. */
  readonly results: readonly number[];
}

export interface TypedCall {
  readonly value: number;
  readonly op: OpDefinition;
  readonly inputs: readonly number[];
  readonly attributes: Attributes;
}

/** Infers the type of every value. Throws UnsupportedError for what kernels do not have. */
export function typePrimitive(
  primitive: PrimitiveFunction,
  shapes: CallShapes,
  operators: Operators,
): TypedPrimitive {
  const types: ConcreteTensorType[] = primitive.params.map(({ dtype }, i) => ({
    dtype,
    shape: shapes.params[i] ?? [],
  }));
  const calls: TypedCall[] = [];
  for (const call of bindAttributes(primitive, shapes)) {
    const op = operatorOf(call, operators, primitive.name);
    const attributes = completeAttributes(op, call.attributes);
    const inputs = call.inputs.map((input) => (input < 0 ? undefined : types[input]));
    for (const [i, type] of inputs.entries()) {
      if (type !== undefined)
        requireOperand(op, i, { dtype: type.dtype, primitive: primitive.name });
    }
    calls.push({ value: types.length, op, inputs: call.inputs, attributes });
    types.push(op.infer(inputs, attributes, CONCRETE_DIMS));
  }
  for (const { dtype } of types) requireElementType(dtype, primitive.name);
  return {
    name: primitive.name,
    paramCount: primitive.params.length,
    types,
    calls,
    results: primitive.results.map(({ value }) => value),
  };
}

export function operatorOf(
  call: OperatorCall,
  operators: Operators,
  primitive: string,
): OpDefinition {
  const op = operators.get(call.op);
  if (op !== undefined) return op;
  throw new UnsupportedError({
    where: `kernel ${primitive}`,
    got: `operator ${call.op}`,
    expected: 'an operator of this version',
  });
}

/** Whether an operator takes a dtype as its input; kernels exist for no other. */
export function takesDType(op: OpDefinition, input: number, dtype: DType): boolean {
  const spec = op.inputs[input] ?? op.inputs.at(-1);
  return spec?.dtypes.includes(dtype) ?? true;
}

function requireOperand(
  op: OpDefinition,
  input: number,
  { dtype, primitive }: { readonly dtype: DType; readonly primitive: string },
): void {
  if (takesDType(op, input, dtype)) return;
  throw new UnsupportedError({
    where: `kernel ${primitive}`,
    got: `${op.name} of ${dtype}`,
    expected: (op.inputs[input] ?? op.inputs.at(-1))?.dtypes.join(', ') ?? 'no inputs',
  });
}

/** The WGSL type of a dtype. Throws UnsupportedError that names the kernel. */
export function requireElementType(
  dtype: ConcreteTensorType['dtype'],
  primitive: string,
): ElementType {
  const type = elementTypeOf(dtype);
  if (type !== undefined) return type;
  throw new UnsupportedError({
    where: `kernel ${primitive}`,
    got: `a ${dtype} tensor`,
    expected: 'float32, int32, uint32, int64 or bool, which WebGPU kernels have',
    remedy: 'Run it on the host device.',
  });
}
