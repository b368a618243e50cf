import { BUILTIN_PREFIX } from '../../bytecode/builtins.ts';
import type { ExecutableData } from '../../bytecode/executable.ts';
import { printPrimitive } from '../../bytecode/text/print.ts';
import { printInstructions } from '../../bytecode/text/print-instruction.ts';
import { SourceMap } from '../../bytecode/source-map.ts';
import { formatPlace } from '../../core/contracts/source-place.ts';
import { codeSteps } from '../../bytecode/code-steps.ts';

/** An instruction, and what it belongs to. */
export interface CodeLine {
  readonly text: string;
  /** The primitive function that it calls. */
  readonly kernel: string | undefined;
  /** Allocation, shapes and other bookkeeping. */
  readonly isMinor: boolean;
  /** Nodes or lines of the source that it comes from, by their place in `sources`. */
  readonly sources: readonly number[];
}

/** The bytecode of a function with what it comes from and what it calls. */
export interface FunctionCode {
  readonly lines: readonly CodeLine[];
  /** Nodes of the model or lines of the text, in the order of the instructions. */
  readonly sources: readonly string[];
  /** Primitive functions that it calls, as they stand in a listing, by name. */
  readonly kernels: Readonly<Record<string, string>>;
}

/** The bytecode of a function; empty for one that does not exist. */
export function functionCode(program: ExecutableData, functionName: string): FunctionCode {
  const fn = program.functions.find(({ name }) => name === functionName);
  if (fn === undefined) return { lines: [], sources: [], kernels: {} };
  const map = SourceMap.of(program);
  const primitives = new Map(program.primitives.map((each) => [each.name, each]));
  const numberOf = new Map<string, number>();
  const kernels: Record<string, string> = {};
  const texts = printInstructions(program, fn);
  const lines = codeSteps(program, fn).map(({ callee }, instruction): CodeLine => {
    const entry = callee === undefined ? undefined : program.functionTable[callee];
    const primitive = entry?.kind === 'primitive' ? primitives.get(entry.name) : undefined;
    if (primitive !== undefined) kernels[primitive.name] ??= printPrimitive(primitive);
    const sources = (map?.at(functionName, instruction) ?? []).map((place) => {
      const text = formatPlace(place);
      const known = numberOf.get(text) ?? numberOf.size;
      numberOf.set(text, known);
      return known;
    });
    const number = String(instruction).padStart(String(texts.length - 1).length);
    return {
      text: `${number}: ${texts[instruction] ?? ''}`,
      kernel: primitive?.name,
      isMinor: entry?.kind === 'packed' && entry.name.startsWith(BUILTIN_PREFIX),
      sources,
    };
  });
  return { lines, sources: [...numberOf.keys()], kernels };
}
