import type { ExecutableData } from '../../bytecode/executable.ts';
import { SourceMap } from '../../bytecode/source-map.ts';
import type { CodePlace } from '../../core/contracts/paused-call.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import { formatPlace, type SourcePlace } from '../../core/contracts/source-place.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { InstrumentedCall } from '../profile/instrument-calls.ts';
import { overlap } from '../link/kernel-library.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import { TensorValue, type Value } from '../values/value.ts';

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
  #lastCalls: ReturnType<SourceMap['lastCalls']> | undefined;

  constructor(program: ExecutableData) {
    this.#primitives = new Map(program.primitives.map((each) => [each.name, each]));
    this.#sources = SourceMap.of(program);
  }

  /** The primitive function that is called; undefined for other calls. */
  primitiveOf({ kind, name }: InstrumentedCall): PrimitiveFunction | undefined {
    return kind === 'kernel' ? this.#primitives.get(name) : undefined;
  }

  /**
   * The results of a call: the tensors after its inputs, or what it returns where only the kernel
   * knows the sizes.
   */
  resultsOf(
    { args }: InstrumentedCall,
    { params }: PrimitiveFunction,
    result: Value | undefined,
  ): readonly Value[] {
    const given = args.slice(params.length);
    return given.length > 0 ? given : [result ?? null];
  }

  /** All places of the source that kernels, or other instructions, come from. */
  get places(): readonly SourcePlace[] {
    return this.#sources?.places ?? [];
  }

  /** The places of an instruction in the source. */
  placesOf(at: CodePlace | undefined): readonly SourcePlace[] {
    return (at && this.#sources?.at(at.function, at.instruction)) ?? [];
  }

  /** Returns true if no later kernel call of the same function comes from the same place. */
  isLastOf(place: SourcePlace, at: CodePlace | undefined): boolean {
    this.#lastCalls ??= this.#sources?.lastCalls();
    return at !== undefined && this.#lastCalls?.get(at.function)?.get(place) === at.instruction;
  }

  /** The primitive function of a name. */
  primitive(name: string): PrimitiveFunction | undefined {
    return this.#primitives.get(name);
  }

  /** A call with its place in the source. */
  describe({ kernel, at }: Pick<KernelCall, 'kernel' | 'at'>): KernelCall {
    return { kernel, at, sources: this.placesOf(at).map(formatPlace) };
  }
}

/** Inputs of kernels of several operators, readable also where results overwrite them. */
export class KernelInputs {
  readonly #saved = new WeakMap<InstrumentedCall, Promise<readonly HostTensor[]>>();

  /** Before a call: reads what it is going to write over. Devices keep the order of reads and launches. */
  save(call: InstrumentedCall, { params, body }: PrimitiveFunction, machine: VirtualMachine): void {
    const inputs = tensorsOf(call.args.slice(0, params.length));
    const results = tensorsOf(call.args.slice(params.length));
    const isInPlace = inputs.some((input) =>
      results.some((result) => input.storage === result.storage && overlap(input, result)),
    );
    if (body.length < 2 || !isInPlace) return;
    const read = machine.read(inputs);
    // Whoever wants it hears of a failure.
    read.catch(() => undefined);
    this.#saved.set(call, read);
  }

  /** After it: the tensors that it has read. */
  read(
    call: InstrumentedCall,
    { params }: PrimitiveFunction,
    machine: VirtualMachine,
  ): Promise<readonly HostTensor[]> {
    return this.#saved.get(call) ?? machine.read(tensorsOf(call.args.slice(0, params.length)));
  }
}

const tensorsOf = (values: readonly Value[]): TensorValue[] =>
  values.filter((value) => value instanceof TensorValue);

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
