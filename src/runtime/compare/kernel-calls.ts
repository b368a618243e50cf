import type { ExecutableData } from '../../bytecode/executable.ts';
import { SourceMap } from '../../bytecode/source-map.ts';
import type { CodePlace } from '../../core/contracts/paused-call.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import { formatPlace, type SourcePlace } from '../../core/contracts/source-place.ts';

export interface KernelCall {
  /** The name of the kernel. */
  readonly kernel: string;
  /** Nodes of the model or lines of the source that the kernel computes, in order. */
  readonly sources: readonly string[];
  /** The instruction that called the kernel. */
  readonly at: CodePlace | undefined;
}

/** The kernels of a program, and where in its source their calls come from. */
export class KernelCalls {
  readonly #primitives: ReadonlyMap<string, PrimitiveFunction>;
  readonly #sources: SourceMap | undefined;
  #lastCalls: ReturnType<SourceMap['lastCalls']> | undefined;

  constructor(program: ExecutableData) {
    this.#primitives = new Map(program.primitives.map((each) => [each.name, each]));
    this.#sources = SourceMap.of(program);
  }

  /** All places of the source that kernels, or other instructions, come from. */
  get places(): readonly SourcePlace[] {
    return this.#sources?.places ?? [];
  }

  placesOf(at: CodePlace | undefined): readonly SourcePlace[] {
    return (at && this.#sources?.at(at.function, at.instruction)) ?? [];
  }

  /** Returns true if no later kernel call of the same function comes from the same place. */
  isLastOf(place: SourcePlace, at: CodePlace | undefined): boolean {
    this.#lastCalls ??= this.#sources?.lastCalls();
    return at !== undefined && this.#lastCalls?.get(at.function)?.get(place) === at.instruction;
  }

  primitive(name: string): PrimitiveFunction | undefined {
    return this.#primitives.get(name);
  }

  /** A call with its place in the source. */
  describe({ kernel, at }: Pick<KernelCall, 'kernel' | 'at'>): KernelCall {
    return { kernel, at, sources: this.placesOf(at).map(formatPlace) };
  }
}

/**
 * Which of the sources of a kernel an operator of it computes. They stand in the order of the operators, each once: so all
 * are known where there are as many, else only the first and the last.
 */
export function sourceOf<T>(
  { body }: Pick<PrimitiveFunction, 'body'>,
  sources: readonly T[],
  index: number,
): T | undefined {
  if (sources.length === 1 || sources.length === body.length) return sources[index] ?? sources[0];
  if (index === body.length - 1) return sources.at(-1);
  return index === 0 ? sources[0] : undefined;
}
