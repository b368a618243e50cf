import { BUILTIN_PREFIX } from '../../bytecode/builtins.ts';
import { UsageError } from '../../core/errors.ts';
import type { PreparedKernels } from '../../device/device.ts';
import { createBuiltins } from '../builtins/create-builtins.ts';
import { adaptHostFunction, type ConvertResult, type HostFunctions } from './host-function.ts';
import type { PackedFunction } from '../values/value.ts';
import type { VmState } from '../vm-state.ts';

/** Gives packed functions by name. Names are looked up once, when an executable is linked. */
export interface FunctionLibrary {
  readonly name: string;
  /** Further instructions that a call counts for at yield points: many where it holds the thread. */
  callCost(name: string): number;
  get(name: string): PackedFunction | undefined;
  /** See {@link PreparedKernels.compileForSizes}; undefined where nothing depends on sizes. */
  readonly compileForSizes?: PreparedKernels['compileForSizes'];
  readonly tune?: PreparedKernels['tune'];
  readonly references?: PreparedKernels['references'];
  /** The prepared kernels, in the library of a device. */
  readonly kernels?: Pick<PreparedKernels, 'get'>;
  dispose(): void;
}

/** The count of a JS function, of which nothing is known. Closures may be over one. */
const HOST_FUNCTION_COST = 64;

/** Builtins that may take long: they move elements, or as many slots or steps as the file says. */
const BUILTIN_COSTS: ReadonlyMap<string, number> = new Map([
  ['copy', 1 << 16],
  ['to_device', 1 << 16],
  ['print', 1 << 16],
  ['alloc_storage', 1 << 8],
  ['alloc_shape_heap', 1 << 12],
  ['compute_shape', 1 << 12],
  ['invoke_closure', HOST_FUNCTION_COST],
]);

/** The builtins, under their full names `vm.builtin.*`. */
export function builtinLibrary(state: VmState): FunctionLibrary {
  const builtins = new Map<string, PackedFunction>(
    Object.entries(createBuiltins(state)).map(([name, call]) => [BUILTIN_PREFIX + name, call]),
  );
  return {
    name: 'builtins',
    callCost: (name) => BUILTIN_COSTS.get(name.slice(BUILTIN_PREFIX.length)) ?? 0,
    get: (name) => builtins.get(name),
    dispose: () => undefined,
  };
}

/** The functions that a user registers; what they give is converted as told. Throws UsageError for a name reserved for builtins. */
export function hostLibrary(
  functions: HostFunctions,
  state: VmState,
  converters?: ReadonlyMap<string, ConvertResult>,
): FunctionLibrary {
  const packed = new Map<string, PackedFunction>();
  for (const [name, call] of Object.entries(functions)) {
    if (name.startsWith(BUILTIN_PREFIX)) {
      throw new UsageError({
        where: 'registering functions',
        got: `the name ${name}`,
        expected: `a name that does not begin with ${BUILTIN_PREFIX}`,
      });
    }
    if (typeof call === 'object') continue;
    packed.set(name, adaptHostFunction(name, call, state, converters?.get(name)));
  }
  return {
    name: 'host functions',
    callCost: () => HOST_FUNCTION_COST,
    get: (name) => packed.get(name),
    dispose: () => undefined,
  };
}
