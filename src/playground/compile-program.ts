import {
  compile,
  parseModule,
  passDifferences,
  type PassInstrument,
  printModule,
} from '../frontend/index.ts';

/** The lines that a pass changed, with `-` and `+`. */
interface PassChange {
  readonly pass: string;
  readonly difference: string;
}

interface CompiledProgram {
  readonly passes: readonly PassChange[];
  /** Its data types, and its functions with the types that were inferred, a line each. */
  readonly types: string;
  /** The listing of the executable. */
  readonly bytecode: string;
  readonly bytes: Uint8Array;
}

/** A page that compiles must not wait for minutes: a program that is written here is small. */
const LIMITS = { work: 3_000_000, nodes: 20_000 };

/** Compiles a text of the language. Throws ParseError, TypeCheckError, UnsupportedError or CompileLimitError. */
export function compileProgram(text: string): CompiledProgram {
  const passes: PassChange[] = [];
  let types = '';
  const signatures: PassInstrument = {
    afterPass({ pass, after }) {
      if (pass === 'infer-types' && types === '') types = signaturesOf(printModule(after));
    },
  };
  const differences = passDifferences((pass, difference) => passes.push({ pass, difference }));
  const executable = compile(parseModule(text), {
    instruments: [signatures, differences],
    compileLimits: LIMITS,
  });
  return { passes, types, bytecode: executable.toText(), bytes: executable.toBytes() };
}

/** Lines of a program that define something, without the bodies. */
function signaturesOf(program: string): string {
  const lines = program.split('\n').filter((line) => /^(?:private def|def|type) /.test(line));
  return lines
    .map((line) => (line.startsWith('type') ? line : line.replace(/ \{$/, '')))
    .join('\n');
}
