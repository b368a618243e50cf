import type { ExecutableData } from '../../bytecode/executable.ts';
import { SourceMap } from '../../bytecode/source-map.ts';
import { UsageError } from '../../core/errors.ts';
import type { CodePlace } from '../../core/contracts/paused-call.ts';
import { shortList } from '../../core/short-list.ts';
import { formatPlace, type SourcePlace } from '../../core/contracts/source-place.ts';
import { ValueNames } from '../compare/value-places.ts';
import type { LinkedFunction } from '../link/linked-code.ts';
import type { Breakpoint, DebugFrame, SetBreakpoint } from './debug-types.ts';
import type { KernelInstructions } from '../observe/kernel-instructions.ts';

/** Finds the instructions that breakpoints stand for, and where instructions come from. */
export class BreakpointPlaces {
  readonly #program: ExecutableData;
  readonly #functions: readonly LinkedFunction[];
  readonly #kernels: KernelInstructions;
  readonly #sources: SourceMap | undefined;

  constructor(
    program: ExecutableData,
    functions: readonly LinkedFunction[],
    kernels: KernelInstructions,
  ) {
    this.#program = program;
    this.#functions = functions;
    this.#kernels = kernels;
    this.#sources = SourceMap.of(program);
  }

  /** Throws UsageError for a function, an instruction or a name that the program does not have. */
  resolve(breakpoint: Breakpoint): SetBreakpoint {
    if ('at' in breakpoint) return { breakpoint, places: [this.#checked(breakpoint.at)] };
    if ('node' in breakpoint) return { breakpoint, places: this.#ofNode(breakpoint.node) };
    const isKnown =
      'output' in breakpoint
        ? breakpoint.output === 'nan' || breakpoint.output === 'infinity'
        : breakpoint.outputAbove > 0;
    if (isKnown) return { breakpoint, places: [] };
    throw refused(JSON.stringify(breakpoint), "output 'nan' or 'infinity', or outputAbove above 0");
  }

  /** The place with the places of the source that it was compiled from. */
  describe({ function: name, instruction }: CodePlace): DebugFrame {
    const sources = this.#sources?.at(name, instruction) ?? [];
    return { function: name, instruction, sources: sources.map(formatPlace) };
  }

  functionOf(name: string): LinkedFunction {
    const found = this.#functions.find(({ source }) => source.name === name);
    if (found !== undefined) return found;
    const names = shortList(this.#functions.map(({ source }) => source.name));
    throw refused(`the function name ${JSON.stringify(name)}`, `one of ${names}`);
  }

  #checked(at: CodePlace): CodePlace {
    const { code } = this.functionOf(at.function);
    if (code[at.instruction] !== undefined) return at;
    const got = `instruction ${at.instruction} of ${at.function}`;
    throw refused(got, `an instruction from 0 to ${code.length - 1}`);
  }

  /** Calls of kernels that compute a node; where there are none, the first instruction of each function. */
  #ofNode(name: string): readonly CodePlace[] {
    const named = new ValueNames(this.#program.metadata).candidates(name);
    const isNamed = ({ source, line, column }: SourcePlace): boolean =>
      line === undefined
        ? named.some((place) => place.source === source)
        : name === `${source}:${line}` || name === `${source}:${line}:${column ?? 1}`;
    const places = this.#functions.flatMap((callee) => {
      const from = [...callee.code.keys()].filter((instruction) =>
        this.#sources?.at(callee.source.name, instruction).some(isNamed),
      );
      const calls = from.filter((instruction) =>
        this.#kernels.calledAt(callee.code[instruction]?.codeIndex ?? 0),
      );
      const found = calls.length > 0 ? calls : from.slice(0, 1);
      return found.map((instruction) => ({ function: callee.source.name, instruction }));
    });
    if (places.length > 0) return places;
    const all = [...new Set((this.#sources?.places ?? []).map(nameOf))];
    throw refused(
      `the name ${JSON.stringify(name)}`,
      all.length === 0 ? 'a program with names of its source' : `a name such as ${shortList(all)}`,
    );
  }
}

const nameOf = ({ source, line }: SourcePlace): string =>
  line === undefined ? source : `${source}:${line}`;

function refused(got: string, expected: string): UsageError {
  return new UsageError({ where: 'debug, breakpoint', got, expected });
}
