import type { BytecodeFunction, ExecutableData, ShapeProgram } from '../executable.ts';
import { MatchCode } from '../builtins.ts';
import { ArgumentKind, argumentKind, argumentValue } from '../isa.ts';
import { applyDimOperator, type Dim, evaluateDim } from '../../core/dims/dim.ts';
import { forEachSymbol } from '../../core/dims/dim-symbols.ts';

/** Numbers for symbols of a program. */
export type Sizes = ReadonlyMap<string, number>;

/** Symbols of the sizes of a function's parameters, in their order. */
export function symbolsOf({ signature }: BytecodeFunction): readonly string[] {
  const symbols = new Set<string>();
  for (const type of signature?.params ?? []) {
    if (type.kind !== 'tensor') continue;
    for (const dim of type.shape) forEachSymbol(dim, (symbol) => symbols.add(symbol));
  }
  return [...symbols];
}

/** The ints that a function computes of the sizes of its inputs, followed instruction by instruction. */
export class KnownSizes {
  readonly #program: ExecutableData;
  readonly #params: readonly (readonly Dim[] | undefined)[];
  readonly #sizes: Sizes;
  readonly #slots = new Map<number, number>();
  readonly #registers = new Map<number, number>();

  constructor(program: ExecutableData, { signature }: BytecodeFunction, sizes: Sizes) {
    this.#program = program;
    this.#sizes = sizes;
    this.#params = (signature?.params ?? []).map((type) =>
      type.kind === 'tensor' ? type.shape : undefined,
    );
  }

  /** Takes a call of a builtin by its short name, with the words of its arguments. */
  follow(builtin: string, words: readonly number[], writes: number | undefined): void {
    const value = this.#result(builtin, words);
    if (writes === undefined) return;
    if (value === undefined) this.#registers.delete(writes);
    else this.#registers.set(writes, value);
  }

  /** The number of an argument: an immediate, a constant, or what a register is known to hold. */
  numberOf(word: number | undefined): number | undefined {
    if (word === undefined) return undefined;
    const value = argumentValue(word);
    switch (argumentKind(word)) {
      case ArgumentKind.immediate:
        return value;
      case ArgumentKind.constant: {
        const constant = this.#program.constants[value];
        return constant?.kind === 'int' ? constant.value : undefined;
      }
      case ArgumentKind.register:
        return this.#registers.get(value);
      default:
        return undefined;
    }
  }

  #result(builtin: string, words: readonly number[]): number | undefined {
    const [first, second] = words;
    if (builtin === 'match_shape' && first !== undefined) this.#match(argumentValue(first), words);
    if (second === undefined) return undefined;
    if (builtin === 'load_shape') return this.#slots.get(argumentValue(second));
    if (builtin === 'compute_shape') {
      const program = this.#program.shapePrograms[argumentValue(second)];
      if (program !== undefined) this.#compute(program);
    }
    return undefined;
  }

  #match(register: number, [, , rank = 0, ...pairs]: readonly number[]): void {
    const dims = this.#params[register];
    for (let axis = 0; axis < argumentValue(rank); axis++) {
      const [code, slot] = [pairs[2 * axis] ?? 0, pairs[2 * axis + 1] ?? 0].map(argumentValue);
      const dim = dims?.[axis];
      const size = dim === undefined ? undefined : evaluateDim(dim, this.#sizes);
      if (code === MatchCode.store) this.#store(slot ?? 0, size);
    }
  }

  #compute({ steps }: ShapeProgram): void {
    const stack: (number | undefined)[] = [];
    for (const step of steps) {
      if (step.op === 'const') stack.push(step.value);
      else if (step.op === 'load') stack.push(this.#slots.get(step.slot));
      else if (step.op === 'store') this.#store(step.slot, stack.pop());
      else {
        const [right, left] = [stack.pop(), stack.pop()];
        const isKnown = left !== undefined && right !== undefined;
        stack.push(isKnown ? applyDimOperator(step.op, left, right) : undefined);
      }
    }
  }

  #store(slot: number, value: number | undefined): void {
    if (value === undefined) this.#slots.delete(slot);
    else this.#slots.set(slot, value);
  }
}
