import { type Draft, type DraftConstant, type DraftFunction, mapArguments } from './draft.ts';
import type { FunctionEntry } from '../executable.ts';
import { VM_REGISTER } from '../isa.ts';

/**
 * Numbers registers, constants and function references in the order in which the code first uses
 * them, so that equal programs get equal executables however they were built. Parameters keep
 * registers 0 to n - 1. What the code never uses is dropped from constants and function table.
 */
export function formalize(draft: Draft): Draft {
  const constants = new FirstUse<DraftConstant>(draft.constants);
  const table = new FirstUse<FunctionEntry>(draft.functionTable);
  const functions = draft.functions.map((fn) => formalizeFunction(fn, constants, table));
  return { ...draft, functions, constants: constants.used, functionTable: table.used };
}

function formalizeFunction(
  fn: DraftFunction,
  constants: FirstUse<DraftConstant>,
  table: FirstUse<FunctionEntry>,
): DraftFunction {
  const registers = new Map(fn.paramNames.map((_, index) => [index, index]));
  const renumber = (register: number): number => {
    if (register >= VM_REGISTER) return register;
    const known = registers.get(register);
    if (known !== undefined) return known;
    const fresh = registers.size;
    registers.set(register, fresh);
    return fresh;
  };
  return mapArguments(fn, {
    register: renumber,
    constant: (index) => constants.renumber(index),
    function: (index) => table.renumber(index),
  });
}

/** Renumbers indices into a list in order of first use. */
class FirstUse<T> {
  readonly used: T[] = [];
  readonly #all: readonly T[];
  readonly #numbers = new Map<number, number>();

  constructor(all: readonly T[]) {
    this.#all = all;
  }

  renumber(index: number): number {
    const known = this.#numbers.get(index);
    if (known !== undefined) return known;
    const item = this.#all[index];
    // The verifier reports an index beyond the list; it must stay beyond.
    if (item === undefined) return index;
    const fresh = this.used.length;
    this.used.push(item);
    this.#numbers.set(index, fresh);
    return fresh;
  }
}
