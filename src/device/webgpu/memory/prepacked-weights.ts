import { OutOfMemoryError } from '../../../core/errors.ts';
import type { DeviceTensor, PrepackingBudget } from '../../device.ts';
import { asWebGpuBuffer, type BufferTable, type BufferUser, type WebGpuBuffer } from './buffers.ts';
import type { CompiledLaunch, CompiledPlan } from '../kernels/compiled-plan.ts';
import type { DeviceFaults } from '../faults/device-faults.ts';

/** Constants in the form that a kernel wants: what one launch makes of them, which is done once. */
class PrepackedLaunch implements BufferUser {
  /** Buffers that the launch fills, by its bindings; undefined where it reads. */
  readonly buffers: readonly (WebGpuBuffer | undefined)[];
  readonly byteLength: number;
  /** True once the launch that fills the buffers was recorded. */
  isFilled = false;
  readonly #sources: readonly WebGpuBuffer[];
  readonly #onEnd: () => void;

  constructor(
    buffers: readonly (WebGpuBuffer | undefined)[],
    sources: readonly WebGpuBuffer[],
    onEnd: (made: PrepackedLaunch) => void,
  ) {
    this.buffers = buffers;
    this.byteLength = buffers.reduce((sum, buffer) => sum + (buffer?.byteLength ?? 0), 0);
    this.#sources = sources;
    this.#onEnd = () => onEnd(this);
    for (const source of sources) source.users.add(this);
  }

  /** A constant that it was made of is destroyed, or its program ends. */
  drop(): void {
    for (const source of this.#sources) source.users.delete(this);
    for (const buffer of this.buffers) buffer?.destroy();
    this.#onEnd();
  }
}

/** Work that calls of a plan with certain constants need not do again. */
export interface PrepackedCall {
  /** Launches of the plan that read nothing but constants. */
  readonly launches: ReadonlyMap<CompiledLaunch, PrepackedLaunch>;
  /** Buffers in place of scratch, by its index. */
  readonly scratch: readonly (WebGpuBuffer | undefined)[];
  /** Constants that it holds for. */
  readonly sources: readonly Source[];
}

interface Source extends Pick<DeviceTensor, 'buffer' | 'byteOffset'> {
  /** The index of the argument; -1 for a tensor that is itself prepacked. */
  readonly index: number;
}

/**
 * Scratch of launches that read constants only, kept from one call to the next as far as the budget
 * goes. The same launch over the same constants is done once for all plans, whatever their sizes.
 */
export class PrepackedWeights {
  readonly #buffers: BufferTable;
  readonly #budget: PrepackingBudget;
  readonly #prepacked = new Map<string, PrepackedLaunch>();
  readonly #faults: Pick<DeviceFaults, 'count'>;
  /** Faults of the device that it knows of. */
  #faultCount: number;
  #calls = new WeakMap<CompiledPlan, PrepackedCall[]>();

  constructor(buffers: BufferTable, budget: PrepackingBudget, faults: Pick<DeviceFaults, 'count'>) {
    this.#buffers = buffers;
    this.#budget = budget;
    this.#faults = faults;
    this.#faultCount = faults.count;
  }

  find(plan: CompiledPlan, args: readonly DeviceTensor[]): PrepackedCall {
    if (this.#faultCount !== this.#faults.count) {
      // The launch that filled one of them may have been refused.
      this.#faultCount = this.#faults.count;
      this.dispose();
      this.#calls = new WeakMap();
    }
    const known = this.#calls.get(plan) ?? [];
    for (const call of known) {
      if (call.sources.every((source) => isSame(source, args[source.index]))) return call;
    }
    const call = this.#prepare(plan, args);
    if (call.sources.length > 0) this.#calls.set(plan, [...known, call]);
    return call;
  }

  /** Launches that calls of a plan found done; undefined when none was with constants. */
  doneOf(plan: CompiledPlan): readonly CompiledLaunch[] | undefined {
    return this.#calls.get(plan)?.flatMap(({ launches }) => [...launches.keys()]);
  }

  dispose(): void {
    for (const prepacked of this.#prepacked.values()) prepacked.drop();
  }

  #prepare(plan: CompiledPlan, args: readonly DeviceTensor[]): PrepackedCall {
    const launches = new Map<CompiledLaunch, PrepackedLaunch>();
    const scratch: (WebGpuBuffer | undefined)[] = [];
    const sources: Source[] = [];
    for (const launch of plan.launches) {
      const read = launch.prepacks ? constantsOf(launch, args, scratch) : undefined;
      if (read === undefined) continue;
      sources.push(...read.filter(({ index }) => index >= 0));
      const prepacked = this.#prepack(launch, read);
      if (prepacked === undefined) continue;
      launches.set(launch, prepacked);
      for (const [i, { index }] of launch.bindings.entries()) {
        const buffer = prepacked.buffers[i];
        if (buffer !== undefined) scratch[index] = buffer;
      }
    }
    return { launches, scratch, sources };
  }

  /** Undefined beyond the budget. */
  #prepack(launch: CompiledLaunch, read: readonly Source[]): PrepackedLaunch | undefined {
    const sources = read.map(({ buffer }) => asWebGpuBuffer(buffer));
    const places = read.map(({ byteOffset }, i) => `${sources[i]?.id}+${byteOffset}`);
    const { pipeline, params, workgroups, byteLengths } = launch;
    const key = [pipeline.key, params?.key, workgroups, byteLengths, places].join(';');
    const known = this.#prepacked.get(key);
    if (known !== undefined) return known;
    const lengths = byteLengths.map((length, i) => (launch.writes[i] === true ? length : 0));
    const byteLength = lengths.reduce((sum, length) => sum + length, 0);
    if (!this.#budget.reserve(byteLength)) return undefined;
    const made: (WebGpuBuffer | undefined)[] = [];
    try {
      for (const length of lengths) {
        made.push(
          length > 0 ? this.#buffers.create(length, `prepacked ${launch.label}`) : undefined,
        );
      }
    } catch (error) {
      for (const buffer of made) buffer?.destroy();
      this.#budget.reserve(-byteLength);
      if (error instanceof OutOfMemoryError) return undefined;
      throw error;
    }
    const prepacked = new PrepackedLaunch(made, sources, () => {
      this.#prepacked.delete(key);
      this.#budget.reserve(-byteLength);
    });
    this.#prepacked.set(key, prepacked);
    return prepacked;
  }
}

/** The constants that a launch reads; undefined where it reads anything else. */
function constantsOf(
  { bindings, writes }: CompiledLaunch,
  args: readonly DeviceTensor[],
  scratch: readonly (WebGpuBuffer | undefined)[],
): Source[] | undefined {
  const read: Source[] = [];
  for (const [i, { kind, index }] of bindings.entries()) {
    if (writes[i] === true || kind === 'empty') continue;
    const [tensor, buffer] =
      kind === 'argument' ? [args[index], undefined] : [undefined, scratch[index]];
    if (tensor?.isReadOnly === true) {
      read.push({ index, buffer: tensor.buffer, byteOffset: tensor.byteOffset });
    } else if (buffer !== undefined) {
      read.push({ index: -1, buffer, byteOffset: 0 });
    } else {
      return undefined;
    }
  }
  return read;
}

function isSame(a: Source, b: DeviceTensor | undefined): boolean {
  return a.buffer === b?.buffer && a.byteOffset === b.byteOffset;
}
