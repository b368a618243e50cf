import type { BuiltinName } from '../../bytecode/builtins.ts';
import type { PackedFunction } from '../value.ts';
import type { VmState } from '../vm-state.ts';
import { adtBuiltins } from './adt-builtins.ts';
import { controlBuiltins } from './control-builtins.ts';
import { intBuiltins } from './int-builtins.ts';
import { memoryBuiltins } from './memory-builtins.ts';
import { shapeBuiltins } from './shape-builtins.ts';

/** One implementation for each entry of `BUILTINS`. */
export function createBuiltins(state: VmState): Record<BuiltinName, PackedFunction> {
  return {
    ...memoryBuiltins(state),
    ...shapeBuiltins(state),
    ...adtBuiltins(state),
    ...controlBuiltins(state),
    ...intBuiltins,
  } satisfies Record<BuiltinName, PackedFunction>;
}
