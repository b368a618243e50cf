import type { BuiltinName } from '../../../bytecode/builtins.ts';
import { ShapeError } from '../../../core/errors.ts';
import type { Attributes } from '../../../core/contracts/primitive-function.ts';
import { GRADIENT_OPERATORS } from './gradient-operators.ts';
import { MACHINE_OPERATORS } from './machine-operators.ts';
import type { ScalarOperator } from './scalar-operator.ts';
import { SHAPE_OPERATORS } from './shape-operators.ts';
import { TRAINING_OPERATORS } from './training-operators.ts';
import { ANY_TYPE, FLOAT_TYPE, INT_TYPE, type Type, UNIT_TYPE } from '../type.ts';

/** The size of an axis of a tensor. */
export const DIM = 'dim';

/** The tensor on another device; the value itself where it is there already. */
export const DEVICE_COPY = 'device_copy';

/** Ends the program with an error; its type argument is the type of the value that it never gives. */
export const STOP = 'stop';

/** The value itself, as one of any type: of a result whose rank differs between branches. */
export const AS_ANY = 'as_any';

/** A function of JavaScript by its name; its type argument is the type of what the function gives. */
export const CALL_PACKED = 'call_packed';

/** Writes a message and values to the log of the session. */
export const PRINT = 'print';

/** Ends the program with a message where a condition does not hold. */
export const ASSERT = 'assert';

/** A number of the host with a fraction: `#0.5`. */
export const FLOAT = 'float';

/** A tensor of rank 1 of numbers of the host, `tensor_of(%i, %j, dtype="int64")`. */
export const TENSOR_OF = 'tensor_of';

/** Ints as dimensions: a tensor without elements of the shape `(0, i, j)`, whose sizes a `let` names. */
export const SIZES_OF = 'sizes_of';

/** The dtypes of tensors that numbers of the host become. */
const NUMBER_DTYPES = [
  ...(['float32', 'float64', 'float16', 'bool'] as const),
  ...(['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64'] as const),
];

function binary(builtin: BuiltinName): ScalarOperator {
  const attributes = {};
  return { name: builtin, inputs: ['int', 'int'], attributes, result: INT_TYPE, builtin };
}

function onFloats(builtin: BuiltinName, result = FLOAT_TYPE): ScalarOperator {
  return { name: builtin, inputs: ['float', 'float'], attributes: {}, result, builtin };
}

function tensorOf(inputs: readonly Type[], { dtype }: Attributes): Type {
  const known = NUMBER_DTYPES.find((name) => name === dtype);
  if (known === undefined) {
    throw new ShapeError({
      where: `${TENSOR_OF}: attribute dtype`,
      got: JSON.stringify(dtype),
      expected: NUMBER_DTYPES.join(', '),
    });
  }
  return { kind: 'tensor', dtype: known, shape: [inputs.length] };
}

function sizesOf(inputs: readonly Type[]): Type {
  return { kind: 'tensor', dtype: 'int32', shape: [0, ...inputs.map(() => '?')] };
}

/** Returns true if the sizes of an operator's result do not follow from those of its operands. */
export function givesSizes(name: string): boolean {
  return name === SIZES_OF || name === CALL_PACKED;
}

/** The scalar operators of the IR by name. `int_eq` and `int_lt` give 0 or 1. */
export const SCALAR_OPERATORS: ReadonlyMap<string, ScalarOperator> = new Map(
  [
    binary('int_add'),
    binary('int_sub'),
    binary('int_mul'),
    binary('int_floordiv'),
    binary('int_mod'),
    binary('int_eq'),
    binary('int_lt'),
    onFloats('float_add'),
    onFloats('float_sub'),
    onFloats('float_mul'),
    onFloats('float_div'),
    onFloats('float_pow'),
    onFloats('float_eq', INT_TYPE),
    onFloats('float_lt', INT_TYPE),
    {
      name: FLOAT,
      inputs: [],
      attributes: { value: { type: 'float' } },
      result: FLOAT_TYPE,
    } satisfies ScalarOperator,
    {
      name: 'float_from_int',
      inputs: ['int'],
      attributes: {},
      result: FLOAT_TYPE,
      builtin: 'float_from_int',
    } satisfies ScalarOperator,
    {
      name: 'int_from_float',
      inputs: ['float'],
      attributes: {},
      result: INT_TYPE,
      builtin: 'int_from_float',
    } satisfies ScalarOperator,
    {
      name: TENSOR_OF,
      inputs: [],
      rest: 'number',
      attributes: { dtype: { type: 'dtype' } },
      result: tensorOf,
    } satisfies ScalarOperator,
    {
      name: SIZES_OF,
      inputs: [],
      rest: 'int',
      attributes: {},
      result: sizesOf,
      builtin: 'make_sizes',
    } satisfies ScalarOperator,
    {
      name: CALL_PACKED,
      inputs: [],
      rest: 'any',
      attributes: { name: { type: 'string' } },
      result: (_inputs, _attributes, [type = UNIT_TYPE]) => type,
      hasEffect: true,
    } satisfies ScalarOperator,
    {
      name: PRINT,
      inputs: [],
      rest: 'any',
      attributes: { message: { type: 'string', default: '' } },
      result: UNIT_TYPE,
      hasEffect: true,
    } satisfies ScalarOperator,
    {
      name: ASSERT,
      inputs: ['condition'],
      attributes: { message: { type: 'string' } },
      result: UNIT_TYPE,
      hasEffect: true,
    } satisfies ScalarOperator,
    {
      name: DIM,
      inputs: ['tensor'],
      attributes: { axis: { type: 'int' } },
      result: INT_TYPE,
    } satisfies ScalarOperator,
    {
      name: DEVICE_COPY,
      inputs: ['tensor'],
      attributes: { device: { type: 'string', oneOf: ['host', 'session'] } },
      result: 'operand',
    } satisfies ScalarOperator,
    {
      name: STOP,
      inputs: [],
      attributes: { message: { type: 'string' } },
      result: (_inputs, _attributes, [type = UNIT_TYPE]) => type,
    } satisfies ScalarOperator,
    { name: AS_ANY, inputs: ['any'], attributes: {}, result: ANY_TYPE } satisfies ScalarOperator,
    ...GRADIENT_OPERATORS,
    ...MACHINE_OPERATORS,
    ...SHAPE_OPERATORS,
    ...TRAINING_OPERATORS,
  ].map((op: ScalarOperator) => [op.name, op]),
);
