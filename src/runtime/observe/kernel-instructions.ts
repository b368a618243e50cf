import type { ExecutableData, FunctionEntry } from '../../bytecode/executable.ts';
import { argumentValue, decodeInstruction, Opcode } from '../../bytecode/isa.ts';
import type { CodePlace } from '../../core/contracts/paused-call.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import { read } from '../call.ts';
import type { Frame } from '../frame.ts';
import { LinkedOp } from '../link/linked-code.ts';
import { TensorValue, type Value } from '../values/value.ts';

/** A call of a kernel that is about to be made. */
export interface KernelLaunch {
  readonly primitive: PrimitiveFunction;
  readonly at: CodePlace;
  readonly inputs: readonly Value[];
  /** True if its results go to tensors that it is given; false if it makes them itself. */
  readonly hasRoom: boolean;
  /** The tensors that it gave, once it was made. */
  readonly results: () => readonly TensorValue[];
}

interface KnownInstruction {
  readonly entry: FunctionEntry | undefined;
  readonly kernel: PrimitiveFunction | undefined;
  readonly name: string;
}

/** Tells instructions that call kernels from others. */
export class KernelInstructions {
  readonly #program: ExecutableData;
  readonly #primitives: ReadonlyMap<string, PrimitiveFunction>;
  /** Decoded instructions, by the index of their first word in the code. */
  readonly #known = new Map<number, KnownInstruction>();

  constructor(program: ExecutableData) {
    this.#program = program;
    this.#primitives = new Map(program.primitives.map((each) => [each.name, each]));
  }

  /** The kernel that the instruction at a word of the code calls. */
  calledAt(codeIndex: number): PrimitiveFunction | undefined {
    return this.#at(codeIndex).kernel;
  }

  /**
   * The name of the function that the instruction at a word of the code calls; of other
   * instructions the opcode's, `call` for a call of a closure.
   */
  nameAt(codeIndex: number): string {
    return this.#at(codeIndex).name;
  }

  /** The entry of the function table that the instruction at a word of the code calls. */
  entryAt(codeIndex: number): FunctionEntry | undefined {
    return this.#at(codeIndex).entry;
  }

  #at(codeIndex: number): KnownInstruction {
    const known = this.#known.get(codeIndex);
    if (known !== undefined) return known;
    const { code, functionTable } = this.#program;
    const { spec, operands } = decodeInstruction(code, codeIndex);
    const entry =
      spec.opcode === Opcode.call ? functionTable[argumentValue(operands[1] ?? 0)] : undefined;
    const kernel = entry?.kind === 'primitive' ? this.#primitives.get(entry.name) : undefined;
    const found = { entry, kernel, name: entry?.name ?? spec.name };
    this.#known.set(codeIndex, found);
    return found;
  }

  /** Registers of a frame whose memory the next kernels write before anything reads it. */
  unwritten({ function: { code }, pc }: Frame): ReadonlySet<number> {
    const unwritten = new Set<number>();
    const seen = new Set<number>();
    for (const { op, args, destination, codeIndex } of code.slice(pc)) {
      const inputs = this.calledAt(codeIndex)?.params.length ?? args.length;
      for (const [i, operand] of args.entries()) {
        if (i >= inputs && !seen.has(operand)) unwritten.add(operand);
        seen.add(operand);
      }
      seen.add(destination);
      // The branch may lead elsewhere.
      if (op === LinkedOp.if || op === LinkedOp.goto || op === LinkedOp.ret) break;
    }
    return unwritten;
  }

  /** The call of a kernel that a frame makes next; undefined where that is none. */
  next(
    { function: callee, registers, pc }: Frame,
    constants: readonly Value[],
  ): KernelLaunch | undefined {
    const instruction = callee.code[pc];
    if (instruction === undefined) return undefined;
    const primitive = this.calledAt(instruction.codeIndex);
    if (primitive === undefined) return undefined;
    const args = instruction.args.map((operand) => read(operand, registers, constants));
    const { length } = primitive.params;
    const behind = args.slice(length);
    // Kernels of sizes that only they know give their results, all others write behind their inputs.
    const results = (): readonly TensorValue[] =>
      (behind.length > 0 ? behind : [registers[instruction.destination] ?? null]).filter(
        (value) => value instanceof TensorValue,
      );
    const at = { function: callee.source.name, instruction: pc };
    return { primitive, at, inputs: args.slice(0, length), hasRoom: behind.length > 0, results };
  }
}
