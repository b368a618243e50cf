import type { CallShapes } from '../../../core/contracts/call-shapes.ts';
import type { DType } from '../../../core/tensor/dtype.ts';
import { ShapeError, UnsupportedError } from '../../../core/errors.ts';
import type {
  Attributes,
  ConcreteTensorType,
  OperatorCall,
  PrimitiveFunction,
} from '../../../core/contracts/primitive-function.ts';
import { elementCount, sameShape } from '../../../core/tensor/shape.ts';
import { bindAttributes } from '../../../ops/bind-attributes.ts';
import type { OpDefinition } from '../../../ops/define-op.ts';
import type { OperatorTable } from '../../../ops/operator.ts';
import { formatType } from '../../../ops/operand-checks.ts';
import { inferConcreteCall } from '../../../ops/infer-concrete-call.ts';
import { overwrittenInput } from '../../overwritten-input.ts';
import { type ElementType, elementTypeOf } from './element-type.ts';

/** A primitive whose values all have concrete types. */
export interface TypedPrimitive {
  readonly name: string;
  readonly paramCount: number;
  /** Types of all values: parameters, then calls. */
  readonly types: readonly ConcreteTensorType[];
  readonly calls: readonly TypedCall[];
  /** Values that are results, in the order of the destination arguments. */
  readonly results: readonly number[];
  /** True if all calls have the same shapes: only then may code depend on tensor sizes. */
  readonly hasFixedShapes: boolean;
  /** See {@link overwrittenInput}: its result holds that input when it is launched. */
  readonly overwrites: number | undefined;
  /** See {@link PrimitiveFunction.inPlace}. */
  readonly inPlace: number | undefined;
}

export interface TypedCall {
  readonly value: number;
  readonly op: OpDefinition;
  readonly inputs: readonly number[];
  readonly attributes: Attributes;
}

/**
 * Infers the type of every value. Throws UnsupportedError for what kernels do not have, ShapeError
 * for what does not fit.
 */
export function typePrimitive(
  primitive: PrimitiveFunction,
  shapes: CallShapes,
  operators: OperatorTable,
): TypedPrimitive {
  const types: ConcreteTensorType[] = [];
  const read = readValues(primitive);
  const addType = (type: ConcreteTensorType): void => {
    if (read.has(types.length)) requireElementType(type.dtype, primitive.name);
    requireIndexable(type, primitive.name);
    types.push(type);
  };
  for (const [i, { dtype }] of primitive.params.entries()) {
    addType({ dtype, shape: shapes.params[i] ?? [] });
  }
  const calls: TypedCall[] = [];
  for (const call of bindAttributes(primitive, shapes, operators)) {
    const op = operatorOf(call, operators, primitive.name);
    const inputs = call.inputs.map((input) => (input < 0 ? undefined : types[input]));
    const { attributes, output } = inferConcreteCall(op, inputs, call.attributes);
    calls.push({ value: types.length, op, inputs: call.inputs, attributes });
    addType(output);
  }
  checkResults(primitive, types, shapes.results);
  return {
    name: primitive.name,
    paramCount: primitive.params.length,
    types,
    calls,
    results: primitive.results.map(({ value }) => value),
    hasFixedShapes: hasFixedShapes(primitive),
    overwrites: overwrittenInput(primitive, operators),
    inPlace: primitive.inPlace,
  };
}

function hasFixedShapes({ params, results }: PrimitiveFunction): boolean {
  const types = [...params, ...results.map(({ type }) => type)];
  return types.every(({ shape }) => shape.every((dim) => typeof dim === 'number'));
}

/** All values but parameters that are there for their sizes only. */
export function readValues({ params, body, results }: PrimitiveFunction): ReadonlySet<number> {
  const values = body.flatMap(({ inputs }, call) => [...inputs, params.length + call]);
  return new Set([...values, ...results.map(({ value }) => value)]);
}

function checkResults(
  { name, results }: PrimitiveFunction,
  types: readonly ConcreteTensorType[],
  shapes: CallShapes['results'],
): void {
  for (const [index, { value, type }] of results.entries()) {
    const actual = types[value];
    const shape = shapes[index] ?? actual?.shape;
    if (actual === undefined || shape === undefined) continue;
    if (type.dtype === actual.dtype && sameShape(shape, actual.shape)) continue;
    throw new ShapeError({
      where: `kernel ${name}, result ${index}`,
      got: formatType(actual),
      expected: `${formatType({ dtype: type.dtype, shape })}, that of the destination`,
    });
  }
}

/** Kernels count elements in 32 bits. */
function requireIndexable(type: ConcreteTensorType, primitive: string): void {
  if (Math.max(elementCount(type.shape), ...type.shape) < 2 ** 32) return;
  throw new UnsupportedError({
    where: `kernel ${primitive}`,
    got: `a value ${formatType(type)}`,
    expected: 'less than 2^32 elements',
  });
}

function operatorOf(call: OperatorCall, operators: OperatorTable, primitive: string): OpDefinition {
  const op = operators.get(call.op);
  if (op !== undefined) return op;
  throw new UnsupportedError({
    where: `kernel ${primitive}`,
    got: `operator ${call.op}`,
    expected: 'an operator of this version',
  });
}

/** Returns true if an operator takes the dtype at this input; kernels exist for no other. */
export function takesDType(op: OpDefinition, input: number, dtype: DType): boolean {
  const spec = op.inputs[input] ?? op.inputs.at(-1);
  return spec?.dtypes.includes(dtype) ?? true;
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
    expected: 'a dtype that WebGPU kernels have',
    remedy: 'Run it on the host device.',
  });
}
