import { BUILTIN_PREFIX } from '../bytecode/builtins.ts';
import { UsageError } from '../core/errors.ts';
import { createBuiltins } from './builtins/create-builtins.ts';
import { adaptHostFunction, type HostFunction } from './host-function.ts';
import type { PackedFunction } from './value.ts';
import type { VmState } from './vm-state.ts';

/** Gives packed functions by name. Names are looked up once, when an executable is linked. */
export interface Module {
  readonly name: string;
  /** Further instructions that a call counts for at yield points: many where it holds the thread. */
  readonly callCost: number;
  get(name: string): PackedFunction | undefined;
  dispose(): void;
}

/** The builtins, under their full names `vm.builtin.*`. */
export function builtinModule(state: VmState): Module {
  const builtins = new Map<string, PackedFunction>(
    Object.entries(createBuiltins(state)).map(([name, call]) => [BUILTIN_PREFIX + name, call]),
  );
  return {
    name: 'builtins',
    callCost: 0,
    get: (name) => builtins.get(name),
    dispose: () => undefined,
  };
}

/** The functions that a user registers. Throws UsageError for a name reserved for builtins. */
export function hostModule(
  functions: Readonly<Record<string, HostFunction>>,
  state: VmState,
): Module {
  const packed = new Map<string, PackedFunction>();
  for (const [name, call] of Object.entries(functions)) {
    if (name.startsWith(BUILTIN_PREFIX)) {
      throw new UsageError({
        where: 'registering functions',
        got: `the name ${name}`,
        expected: `a name that does not begin with ${BUILTIN_PREFIX}`,
      });
    }
    packed.set(name, adaptHostFunction(name, call, state));
  }
  return {
    name: 'host functions',
    callCost: 64,
    get: (name) => packed.get(name),
    dispose: () => undefined,
  };
}
