import type { BuiltinName } from '../../bytecode/builtins.ts';
import { intBuiltins } from '../../bytecode/int-builtins.ts';
import { internalError } from '../../core/errors.ts';
import type { PackedFunction, Value } from '../value.ts';
import type { VmState } from '../vm-state.ts';
import { adtBuiltins } from './adt-builtins.ts';
import { controlBuiltins } from './control-builtins.ts';
import { memoryBuiltins } from './memory-builtins.ts';
import { expectInt } from './operand.ts';
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
