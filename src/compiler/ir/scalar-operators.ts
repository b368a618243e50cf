import type { BuiltinName } from '../../bytecode/builtins.ts';
import { MACHINE_OPERATORS } from './machine-operators.ts';
import type { ScalarOperator } from './scalar-operator.ts';
import { SHAPE_OPERATORS } from './shape-operators.ts';
import { ANY_TYPE, INT_TYPE, UNIT_TYPE } from './type.ts';

/** The tensor on another device; the value itself where it is there already. */
export const DEVICE_COPY = 'device_copy';

/** Ends the program with an error; its type argument is the type of the value that it never gives. */
export const STOP = 'stop';

/** The value itself, as one of any type: of a result whose rank differs between branches. */
export const AS_ANY = 'as_any';

function binary(builtin: BuiltinName): ScalarOperator {
  return {
    name: builtin,
    inputs: ['int', 'int'],
    attributes: {},
    result: INT_TYPE,
    builtin,
  };
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
    {
      name: 'dim',
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
    ...MACHINE_OPERATORS,
    ...SHAPE_OPERATORS,
  ].map((op: ScalarOperator) => [op.name, op]),
);
