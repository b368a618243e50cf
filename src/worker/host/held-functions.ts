import type { ProgramTypes } from '../../bytecode/executable.ts';
import { UsageError } from '../../core/errors.ts';
import type { HostInput } from '../../runtime/link/host-function.ts';
import {
  constructorNames,
  type FunctionType,
  TypedValues,
} from '../../runtime/values/typed-values.ts';
import type { ClosureValue, PackedFunctionValue, Value } from '../../runtime/values/value.ts';
import type { VirtualMachine } from '../../runtime/virtual-machine.ts';
import type { HandleId } from '../protocol/reply.ts';

export type FunctionValue = ClosureValue | PackedFunctionValue;

export interface HeldFunction {
  readonly value: FunctionValue;
  readonly type: FunctionType | undefined;
  readonly call: (...args: readonly HostInput[]) => Promise<Value>;
}

/** The functions of a program that a page holds. */
export class HeldFunctions {
  readonly #held = new Map<HandleId, HeldFunction>();

  get size(): number {
    return this.#held.size;
  }

  keep(
    handle: HandleId,
    value: FunctionValue,
    { machine, type }: { machine: VirtualMachine; type: FunctionType | undefined },
  ): void {
    // It retains the function.
    this.#held.set(handle, { value, type, call: machine.toFunction(value, type) });
  }

  /** Throws UsageError for one that was disposed of. */
  get(handle: HandleId): HeldFunction {
    const held = this.#held.get(handle);
    if (held !== undefined) return held;
    throw new UsageError({
      where: 'function of a program',
      got: 'a handle that was disposed of',
      expected: 'a live one',
    });
  }

  release(handle: HandleId, machine: VirtualMachine): void {
    const held = this.#held.get(handle);
    if (held !== undefined) machine.release(held.value);
    this.#held.delete(handle);
  }

  /** Those of a machine that is gone. */
  clear(): void {
    this.#held.clear();
  }
}

export const newHeld = (): HeldFunctions => new HeldFunctions();

/** Names of constructors and types of functions in a result, by its declared type. */
interface ResultTypes {
  readonly names: ReadonlyMap<Value, string>;
  readonly functions: ReadonlyMap<Value, FunctionType>;
}

/** The names of constructors in a result, and the types of its functions; undefined where no types are known. */
export function resultTypes(
  types: ProgramTypes | undefined,
  result: Value,
  type: FunctionType['result'] | undefined,
): ResultTypes | undefined {
  if (types === undefined || type === undefined) return undefined;
  const names = new Map<Value, string>();
  const functions = new Map<Value, FunctionType>();
  constructorNames(new TypedValues(types), result, type, names, functions);
  return { names, functions };
}
