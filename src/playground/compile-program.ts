import { compile, parseModule, passDifferences } from '../frontend/index.ts';

/** The lines that a pass changed, with `-` and `+`. */
interface PassChange {
  readonly pass: string;
  readonly difference: string;
}

/** A program in all its forms. */
interface CompiledProgram {
  readonly passes: readonly PassChange[];
  /** The listing of the executable. */
  readonly bytecode: string;
  readonly bytes: Uint8Array;
}

/** A page that compiles must not wait for minutes: a program that is written here is small. */
const LIMITS = { work: 3_000_000, nodes: 20_000 };

/** Compiles a text of the language. Throws ParseError, TypeCheckError, UnsupportedError or CompileLimitError. */
export function compileProgram(text: string): CompiledProgram {
  const passes: PassChange[] = [];
  const instrument = passDifferences((pass, difference) => passes.push({ pass, difference }));
  const executable = compile(parseModule(text), {
    instruments: [instrument],
    compileLimits: LIMITS,
  });
  return { passes, bytecode: executable.toText(), bytes: executable.toBytes() };
}
