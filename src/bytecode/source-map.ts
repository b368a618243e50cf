import type { SourcePlace } from '../core/source-place.ts';
import { type DecodedSourceMap, decodeSourceMap, type SourceRun } from './decode-source-map.ts';
import type { ExecutableData } from './executable.ts';
import { ArgumentKind, argumentKind, argumentValue, decodeRange, operandSpec } from './isa.ts';

/** Where in its source each instruction of a program comes from. */
export class SourceMap {
  readonly #program: ExecutableData;
  readonly #decoded: DecodedSourceMap;
  readonly #numbers: ReadonlyMap<string, number>;

  private constructor(program: ExecutableData, decoded: DecodedSourceMap) {
    this.#program = program;
    this.#decoded = decoded;
    this.#numbers = new Map(program.functions.map(({ name }, i) => [name, i]));
  }

  /** The source map of a program; undefined if it has none. Throws FormatError or VerifyError for a damaged one. */
  static of(program: ExecutableData): SourceMap | undefined {
    if (program.sourceMapBytes === undefined) return undefined;
    const counts = instructionCounts(program);
    return new SourceMap(program, decodeSourceMap(program.sourceMapBytes, counts));
  }

  /** All places that an instruction comes from, each once. */
  get places(): readonly SourcePlace[] {
    return this.#decoded.places;
  }

  /**
   * The places of an instruction, counted from 0 within its function: several where a kernel computes several
   * nodes of the source, none where nothing is known.
   */
  at(functionName: string, instruction: number): readonly SourcePlace[] {
    const runs = this.#runs(functionName);
    let [low, high] = [0, runs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((runs[middle]?.start ?? 0) <= instruction) low = middle + 1;
      else high = middle;
    }
    return this.#placesOf(runs[low - 1]);
  }

  /** The places that a primitive function comes from, by way of all its calls. */
  ofPrimitive(name: string): readonly SourcePlace[] {
    const { functions, functionTable, code } = this.#program;
    const callee = functionTable.findIndex(
      (entry) => entry.kind === 'primitive' && entry.name === name,
    );
    const found = new Set<SourcePlace>();
    for (const fn of functions) {
      const end = fn.codeStart + fn.codeLength;
      let number = 0;
      for (const { spec, operands } of decodeRange(code, fn.codeStart, end)) {
        const isCall = operands.some(
          (word, i) =>
            operandSpec(spec, i).kind === 'callee' &&
            argumentKind(word) === ArgumentKind.function &&
            argumentValue(word) === callee,
        );
        if (isCall) for (const place of this.at(fn.name, number)) found.add(place);
        number++;
      }
    }
    return [...found];
  }

  #runs(functionName: string): readonly SourceRun[] {
    return this.#decoded.functions[this.#numbers.get(functionName) ?? -1] ?? [];
  }

  #placesOf(run: SourceRun | undefined): SourcePlace[] {
    return (run?.places ?? []).flatMap((index) => this.#decoded.places[index] ?? []);
  }
}

/** The number of instructions of each function. */
function instructionCounts({ functions, code }: ExecutableData): number[] {
  return functions.map(({ codeStart, codeLength }) => {
    let count = 0;
    for (const _ of decodeRange(code, codeStart, codeStart + codeLength)) count++;
    return count;
  });
}
