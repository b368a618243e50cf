import type { BuiltinName } from '../../bytecode/builtins.ts';
import { intBuiltins } from '../../bytecode/int-builtins.ts';
import { internalError, RuntimeError } from '../../core/errors.ts';
import { AdtValue, describeValue, type PackedFunction, type Value } from '../value.ts';
import type { VmState } from '../vm-state.ts';
import { controlBuiltins } from './control-builtins.ts';
import { memoryBuiltins } from './memory-builtins.ts';
import { expectAdt, expectInt } from './operand.ts';
import { numberBuiltins } from './number-builtins.ts';
import { shapeBuiltins } from './shape-builtins.ts';

const INT_BUILTINS = intBuiltins<Value>(notInts);

/** One implementation for each entry of `BUILTINS`. */
export function createBuiltins(state: VmState): Record<BuiltinName, PackedFunction> {
  return {
    ...memoryBuiltins(state),
    ...shapeBuiltins(state),
    ...adtBuiltins(state),
    ...controlBuiltins(state),
    ...numberBuiltins(state),
    ...INT_BUILTINS,
  } satisfies Record<BuiltinName, PackedFunction>;
}

function notInts(a: Value, b: Value): never {
  expectInt(a, 'int arithmetic');
  expectInt(b, 'int arithmetic');
  throw internalError('both operands are ints');
}

/** Tuples and other ADT values. */
function adtBuiltins({ fields: count }: VmState) {
  return {
    make_tuple: (...fields: Value[]) => new AdtValue(0, fields, count),
    tuple_get: (tuple: Value, index: Value) => field(tuple, index, 'tuple_get'),
    make_adt: (tag: Value, ...fields: Value[]) =>
      new AdtValue(expectInt(tag, 'make_adt'), fields, count),
    get_tag: (adt: Value) => expectAdt(adt, 'get_tag').tag,
    get_field: (adt: Value, index: Value) => field(adt, index, 'get_field'),
  } satisfies Partial<Record<BuiltinName, PackedFunction>>;
}

function field(value: Value, index: Value, where: string): Value {
  const { fields } = expectAdt(value, where);
  const position = expectInt(index, where);
  const found = fields[position];
  if (found !== undefined) return found;
  throw new RuntimeError({
    where,
    got: `field ${position} of ${describeValue(value)}`,
    expected:
      fields.length === 0 ? 'a value with fields' : `a field from 0 to ${fields.length - 1}`,
  });
}
