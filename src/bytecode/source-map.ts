import type { SourcePlace } from '../core/contracts/source-place.ts';
import {
  type DecodedSourceMap,
  decodeSourceMap,
  type SourceRun,
} from './file/decode-source-map.ts';
import type { ExecutableData } from './executable.ts';
import type { Instruction } from './isa.ts';
import * as isa from './isa.ts';

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
      for (const instruction of isa.decodeRange(code, fn.codeStart, end)) {
        if (calleeOf(instruction) === callee)
          for (const place of this.at(fn.name, number)) found.add(place);
        number++;
      }
    }
    return [...found];
  }

  /**
   * The last call of a primitive function within each function for each place: it completes what a node of the source
   * does. By the name of the function, then by place.
   */
  lastCalls(): ReadonlyMap<string, ReadonlyMap<SourcePlace, number>> {
    const { functions, functionTable, code } = this.#program;
    const all = new Map<string, ReadonlyMap<SourcePlace, number>>();
    for (const fn of functions) {
      const last = new Map<SourcePlace, number>();
      let number = 0;
      for (const instruction of isa.decodeRange(code, fn.codeStart, fn.codeStart + fn.codeLength)) {
        const callee = functionTable[calleeOf(instruction) ?? -1];
        const places = callee?.kind === 'primitive' ? this.at(fn.name, number) : [];
        for (const place of places) last.set(place, number);
        number++;
      }
      all.set(fn.name, last);
    }
    return all;
  }

  #runs(functionName: string): readonly SourceRun[] {
    return this.#decoded.functions[this.#numbers.get(functionName) ?? -1] ?? [];
  }

  #placesOf(run: SourceRun | undefined): SourcePlace[] {
    return (run?.places ?? []).flatMap((index) => this.#decoded.places[index] ?? []);
  }
}

/** The number of the function that an instruction calls, in the table of functions. */
function calleeOf({ spec, operands }: Instruction): number | undefined {
  const word = operands.find(
    (operand, i) =>
      isa.operandSpec(spec, i).kind === 'callee' &&
      isa.argumentKind(operand) === isa.ArgumentKind.function,
  );
  return word === undefined ? undefined : isa.argumentValue(word);
}

function instructionCounts({ functions, code }: ExecutableData): number[] {
  return functions.map(({ codeStart, codeLength }) => {
    let count = 0;
    for (const _ of isa.decodeRange(code, codeStart, codeStart + codeLength)) count++;
    return count;
  });
}
