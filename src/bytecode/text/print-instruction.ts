import type { BytecodeFunction, ExecutableData } from '../executable.ts';
import type { Instruction } from '../isa.ts';
import * as isa from '../isa.ts';
import { formatName } from './text-format.ts';

/** The first line of the first function in a listing. */
const FIRST_FUNCTION_LINE = 3;
/** Lines of a function beside its instructions: the header, the closing brace, an empty line. */
const FUNCTION_FRAME_LINES = 3;

/**
 * The instructions of a function as they stand in a listing, without their numbers, and without the places that
 * they come from.
 */
export function printInstructions(program: ExecutableData, fn: BytecodeFunction): string[] {
  const instructions = [
    ...isa.decodeRange(program.code, fn.codeStart, fn.codeStart + fn.codeLength),
  ];
  const indexOfPc = new Map(instructions.map(({ pc }, index) => [pc, index]));
  return instructions.map((instruction) => printInstruction(instruction, { program, indexOfPc }));
}

/** Where an instruction stands in the listing of its executable. */
interface ListingLine {
  /** From 1. */
  readonly line: number;
  /** The instruction, such as `%2 = call test.add(%0, 1)`. */
  readonly text: string;
}

/**
 * The listing line of an instruction, by its number within the function, without printing the
 * rest; undefined when there is no such function or instruction.
 */
export function listingLine(
  program: ExecutableData,
  functionName: string,
  instruction: number,
): ListingLine | undefined {
  let line = FIRST_FUNCTION_LINE;
  for (const fn of program.functions) {
    if (fn.name === functionName) {
      const text = printInstructions(program, fn)[instruction];
      return text === undefined ? undefined : { line: line + 1 + instruction, text };
    }
    const end = fn.codeStart + fn.codeLength;
    for (const _ of isa.decodeRange(program.code, fn.codeStart, end)) line++;
    line += FUNCTION_FRAME_LINES;
  }
  return undefined;
}

interface PrintContext {
  readonly program: ExecutableData;
  readonly indexOfPc: ReadonlyMap<number, number>;
}

function printInstruction(instruction: Instruction, context: PrintContext): string {
  const { spec, operands } = instruction;
  const texts = new Map<string, string[]>();
  let destination = '';
  for (const [position, word] of operands.entries()) {
    const { name, kind } = isa.operandSpec(spec, position);
    if (kind === 'destination' && word === isa.VOID_REGISTER) continue;
    const text =
      kind === 'offset'
        ? String(context.indexOfPc.get(isa.jumpTarget(instruction.pc, word)) ?? '?')
        : printArgument(word, kind === 'callee', context.program);
    if (kind === 'destination') destination = `${text} = `;
    const known = texts.get(name);
    if (known === undefined) texts.set(name, [text]);
    else known.push(text);
  }
  const rest = spec.syntax.replace(/\{(\w+)\}/g, (_, name: string) =>
    (texts.get(name) ?? []).join(', '),
  );
  return `${destination}${spec.name} ${rest}`;
}

function printArgument(word: number, isCallee: boolean, program: ExecutableData): string {
  const value = isa.argumentValue(word);
  switch (isa.argumentKind(word)) {
    case isa.ArgumentKind.register:
      if (value === isa.VOID_REGISTER) return '%void';
      return value === isa.VM_REGISTER ? '%vm' : `%${value}`;
    case isa.ArgumentKind.immediate:
      return String(value);
    case isa.ArgumentKind.constant:
      return `c[${value}]`;
    default: {
      const name = formatName(program.functionTable[value]?.name ?? `f[${value}]`);
      return isCallee ? name : `@${name}`;
    }
  }
}
