import { type OptionKind, requireKind } from '../../core/check-options.ts';
import { UsageError, VerifyError } from '../../core/errors.ts';
import type { SourcePlace } from '../../core/contracts/source-place.ts';
import type { DraftFunction, DraftInstruction } from './draft.ts';
import type { FunctionSignature } from '../executable.ts';
import type { ArgumentKindName, InstructionName } from '../isa.ts';
import * as isa from '../isa.ts';

/** An operand of an instruction, made by a builder. */
export interface Operand {
  /** The meaning of `value`. */
  readonly kind: ArgumentKindName;
  /** Register, constant or function number, or the immediate itself. */
  readonly value: number;
}

/** A register of the function. */
export interface RegisterOperand extends Operand {
  readonly kind: 'register';
}

/** A reference to a function, to call it or to make a closure of it. */
export interface FunctionOperand extends Operand {
  readonly kind: 'function';
}

/** An operand, or an integer that stands for itself. */
export type OperandLike = Operand | number;

/** A place in a function that jumps go to. */
interface Label {
  /** Its place among the labels of the function. */
  readonly index: number;
}

interface CallOptions {
  /** The register that receives the result; `f.void` drops it. Default: a fresh register. */
  readonly into?: RegisterOperand;
}

/** The part of an executable that its functions need. */
export interface FunctionContext {
  intConstant(value: number): Operand;
  functionReference(name: string): FunctionOperand;
  /**
   * Returns true if a call of this function gives no value: a primitive, or a builtin that returns
   * void.
   */
  returnsVoid(callee: FunctionOperand): boolean;
  functionName(callee: number): string;
  warn(message: string): void;
}

const OPERAND: OptionKind = [
  'a register, a constant or an integer',
  (value) => Object.hasOwn(isa.ArgumentKind, String((Object(value) as Partial<Operand>).kind)),
];

/** Emits the instructions of one function. Made by `ExecBuilder.function`. */
export class FunctionBuilder {
  /** The name of the function. */
  readonly name: string;
  /** Names of its parameters; registers 0, 1, … hold them. */
  readonly paramNames: readonly string[];
  /** As a destination it drops the result, as an argument it is null. */
  readonly void: RegisterOperand = { kind: 'register', value: isa.VOID_REGISTER };
  /** The machine's state, for packed functions that ask for it. */
  readonly vm: RegisterOperand = { kind: 'register', value: isa.VM_REGISTER };
  readonly #context: FunctionContext;
  readonly #signature: FunctionSignature | undefined;
  readonly #instructions: DraftInstruction[] = [];
  readonly #labels: Label[] = [];
  /** Instructions before which labels stand, once they do. */
  readonly #placed = new Map<Label, number>();
  #places: readonly SourcePlace[] = [];
  #nextRegister: number;

  constructor(
    context: FunctionContext,
    name: string,
    { params, signature }: { params: readonly string[]; signature?: FunctionSignature | undefined },
  ) {
    this.#context = context;
    this.name = name;
    this.paramNames = params;
    this.#signature = signature;
    this.#nextRegister = params.length;
  }

  /** The register of a parameter. Throws UsageError for a name that the function does not have. */
  param(name: string): RegisterOperand {
    const index = this.paramNames.indexOf(name);
    if (index < 0) {
      throw this.#misuse(
        `parameter ${JSON.stringify(name)}`,
        this.paramNames.length === 0 ? 'none' : `one of ${this.paramNames.join(', ')}`,
      );
    }
    return { kind: 'register', value: index };
  }

  /** A register by number; `build()` renumbers them in order of use. */
  r(number: number): RegisterOperand {
    if (!Number.isInteger(number) || number < 0 || number >= isa.VM_REGISTER) {
      throw this.#misuse(`register ${number}`, `an integer from 0 to ${isa.VM_REGISTER - 1}`);
    }
    this.#nextRegister = Math.max(this.#nextRegister, number + 1);
    return { kind: 'register', value: number };
  }

  /** A register that nothing uses yet. */
  fresh(): RegisterOperand {
    return this.r(this.#nextRegister);
  }

  /** An integer operand; beyond 28 bits it becomes a constant. */
  imm(value: number): Operand {
    if (!Number.isSafeInteger(value)) {
      throw this.#misuse(
        `immediate ${value}`,
        'a safe integer',
        'Use a float constant for other numbers.',
      );
    }
    if (value < isa.MIN_IMMEDIATE || value > isa.MAX_IMMEDIATE)
      return this.#context.intConstant(value);
    return { kind: 'immediate', value: value + 0 };
  }

  /**
   * Calls a bytecode function, a primitive or a packed function; its own name or a reference.
   * Returns the register of the result: a fresh one, `options.into`, or `%void` for primitives and
   * builtins that return nothing.
   */
  call(
    callee: string | FunctionOperand,
    args: readonly OperandLike[] = [],
    options: CallOptions = {},
  ): RegisterOperand {
    requireKind(() => `function ${this.name}`, 'list', ['arguments that are', args]);
    const target = typeof callee === 'string' ? this.#context.functionReference(callee) : callee;
    requireKind(() => `function ${this.name}`, OPERAND, ['a call of', target]);
    const operands = args.map((arg) => this.#word(arg));
    const result = options.into ?? (this.#context.returnsVoid(target) ? this.void : this.fresh());
    this.#emit('call', [this.#word(result), this.#word(target), ...operands]);
    return result;
  }

  /** Returns a value to the caller. */
  ret(value: OperandLike): void {
    this.#emit('ret', [this.#word(value)]);
  }

  /** Goes on with the next instruction when the register holds a true value, else at the label. */
  if(condition: RegisterOperand, otherwise: Label): void {
    this.#emit('if', [this.#word(condition), this.#labelIndex(otherwise)]);
  }

  /** Jumps to a label. */
  goto(target: Label): void {
    this.#emit('goto', [this.#labelIndex(target)]);
  }

  /**
   * The instructions that follow come from these places of the source; none: from nowhere that is known. Several
   * belong to a kernel that computes several nodes.
   */
  at(...places: readonly SourcePlace[]): void {
    this.#places = places;
  }

  /** A label; it must be placed once, before or after the jumps to it. */
  label(): Label {
    const label = { index: this.#labels.length };
    this.#labels.push(label);
    return label;
  }

  /** Puts a label before the next instruction. */
  place(label: Label): void {
    this.#labelIndex(label);
    if (this.#placed.has(label)) {
      throw this.#misuse('a label that was placed before', 'each label at one place');
    }
    this.#placed.set(label, this.#instructions.length);
  }

  /**
   * Checks the function and gives it to the executable. Throws VerifyError for a register that is
   * used but never written and for a label that was not placed; a parameter that is never used is
   * a warning.
   */
  finish(): DraftFunction {
    const labels = this.#labels.map((label) => {
      const place = this.#placed.get(label);
      if (place !== undefined) return place;
      throw new VerifyError({
        where: `function ${this.name}`,
        got: `label ${label.index} without a place`,
        expected: 'every label to be placed',
        remedy: 'Call place(label) before the instruction that the jump goes to.',
      });
    });
    this.#checkRegisters();
    return {
      name: this.name,
      paramNames: this.paramNames,
      signature: this.#signature,
      instructions: this.#instructions,
      labels,
    };
  }

  #checkRegisters(): void {
    const written = new Set<number>(this.paramNames.keys());
    const read = new Map<number, number>();
    for (const [index, { spec, operands }] of this.#instructions.entries()) {
      for (const [position, word] of operands.entries()) {
        const { kind } = isa.operandSpec(spec, position);
        if (kind === 'offset' || isa.argumentKind(word) !== isa.ArgumentKind.register) continue;
        const register = isa.argumentValue(word);
        if (kind === 'destination') written.add(register);
        else if (!read.has(register)) read.set(register, index);
      }
    }
    for (const [register, index] of read) {
      if (register >= isa.VM_REGISTER || written.has(register)) continue;
      throw new VerifyError({
        where: `function ${this.name}, instruction ${index} (${this.#describe(index)})`,
        got: `register %${register}, which nothing writes`,
        expected: 'a parameter or the result of a call',
      });
    }
    for (const [index, name] of this.paramNames.entries()) {
      if (read.has(index)) continue;
      this.#context.warn(`function ${this.name}: the input ${name} (%${index}) is never used`);
    }
  }

  #describe(index: number): string {
    const instruction = this.#instructions[index];
    if (instruction === undefined) return '';
    const { spec, operands } = instruction;
    const callee = spec.operands.findIndex(({ kind }) => kind === 'callee');
    const name = this.#context.functionName(isa.argumentValue(operands[callee] ?? 0));
    return callee < 0 ? spec.name : `${spec.name} ${name}`;
  }

  #labelIndex(label: Label): number {
    const { index } = Object(label) as Partial<Label>;
    if (index !== undefined && this.#labels[index] === label) return index;
    throw this.#misuse('what is no label of it', 'one that label() of this function made');
  }

  #misuse(got: string, expected: string, remedy?: string): UsageError {
    return new UsageError({ where: `function ${this.name}`, got, expected, remedy });
  }

  #word(operand: OperandLike): number {
    const own = typeof operand === 'number' ? this.imm(operand) : operand;
    requireKind(() => `function ${this.name}`, OPERAND, ['the operand', own]);
    return isa.encodeArgument(own.kind, own.value);
  }

  #emit(name: InstructionName, operands: readonly number[]): void {
    this.#instructions.push({ spec: isa.instructionSpec(name), operands, places: this.#places });
  }
}
