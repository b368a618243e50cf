import type { ExecutableData } from '../../bytecode/executable.ts';
import { SourceMap } from '../../bytecode/source-map.ts';
import type { CodePlace } from '../../core/paused-call.ts';
import type { PrimitiveFunction } from '../../core/primitive-function.ts';
import { formatPlace } from '../../core/source-place.ts';
import type { InstrumentedCall } from '../instrument-calls.ts';
import type { Value } from '../value.ts';

/** A call of a kernel within a program. */
export interface KernelCall {
  /** The name of the kernel. */
  readonly kernel: string;
  /** Nodes of the model or lines of the source that the kernel computes, in order. */
  readonly sources: readonly string[];
  /** The instruction that called the kernel. */
  readonly at: CodePlace | undefined;
}

/** Tells calls of a program's kernels from others, and what they gave. */
export class KernelCalls {
  readonly #primitives: ReadonlyMap<string, PrimitiveFunction>;
  readonly #sources: SourceMap | undefined;

  constructor(program: ExecutableData) {
    this.#primitives = new Map(program.primitives.map((each) => [each.name, each]));
    this.#sources = SourceMap.of(program);
  }

  /** The primitive function that is called; undefined for other calls. */
  primitiveOf({ kind, name }: InstrumentedCall): PrimitiveFunction | undefined {
    return kind === 'kernel' ? this.#primitives.get(name) : undefined;
  }

  /** What a call gave: in the tensors behind its inputs, or, of sizes that only it knows, as its result. */
  resultsOf(
    { args }: InstrumentedCall,
    { params }: PrimitiveFunction,
    result: Value | undefined,
  ): readonly Value[] {
    const given = args.slice(params.length);
    return given.length > 0 ? given : [result ?? null];
  }

  /** Where a call stands, for which the machine waits. */
  describe(call: InstrumentedCall): KernelCall {
    const at = call.place();
    const places = at && this.#sources?.at(at.function, at.instruction);
    return { kernel: call.name, at, sources: places?.map(formatPlace) ?? [] };
  }
}
