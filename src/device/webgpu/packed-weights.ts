import { OutOfMemoryError } from '../../core/errors.ts';
import type { DeviceTensor, PackingBudget } from '../device.ts';
import { asWebGpuBuffer, type BufferTable, type BufferUser, type WebGpuBuffer } from './buffers.ts';
import type { CompiledLaunch, CompiledPlan } from './compiled-plan.ts';
import type { DeviceFaults } from './device-faults.ts';

/** Constants in the form that a kernel wants: what one launch makes of them, which is done once. */
class Pack implements BufferUser {
  /** By binding of the launch; undefined where it reads. */
  readonly buffers: readonly (WebGpuBuffer | undefined)[];
  readonly byteLength: number;
  /** Whether the launch was recorded. */
  isFilled = false;
  readonly #sources: readonly WebGpuBuffer[];
  readonly #onEnd: () => void;

  constructor(
    buffers: readonly (WebGpuBuffer | undefined)[],
    sources: readonly WebGpuBuffer[],
    onEnd: (pack: Pack) => void,
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
export interface PackedCall {
  /** Launches of the plan that read nothing but constants. */
  readonly packs: ReadonlyMap<CompiledLaunch, Pack>;
  /** Buffers in place of scratch, by its index. */
  readonly scratch: readonly (WebGpuBuffer | undefined)[];
  /** Constants that it holds for. */
  readonly sources: readonly Source[];
}

interface Source extends Pick<DeviceTensor, 'buffer' | 'byteOffset'> {
  /** Of the argument; -1 for what is packed itself. */
  readonly index: number;
}

/**
 * Scratch of launches that read constants only, kept from one call to the next as far as the budget
 * goes. The same launch over the same constants is done once for all plans, whatever their sizes.
 */
export class PackedWeights {
  readonly #buffers: BufferTable;
  readonly #budget: PackingBudget;
  readonly #packs = new Map<string, Pack>();
  readonly #faults: Pick<DeviceFaults, 'count'>;
  /** Faults of the device that it knows of. */
  #faultCount: number;
  #calls = new WeakMap<CompiledPlan, PackedCall[]>();

  constructor(buffers: BufferTable, budget: PackingBudget, faults: Pick<DeviceFaults, 'count'>) {
    this.#buffers = buffers;
    this.#budget = budget;
    this.#faults = faults;
    this.#faultCount = faults.count;
  }

  find(plan: CompiledPlan, args: readonly DeviceTensor[]): PackedCall {
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
    return this.#calls.get(plan)?.flatMap(({ packs }) => [...packs.keys()]);
  }

  dispose(): void {
    for (const pack of this.#packs.values()) pack.drop();
  }

  #prepare(plan: CompiledPlan, args: readonly DeviceTensor[]): PackedCall {
    const packs = new Map<CompiledLaunch, Pack>();
    const scratch: (WebGpuBuffer | undefined)[] = [];
    const sources: Source[] = [];
    for (const launch of plan.launches) {
      const read = launch.packs ? constantsOf(launch, args, scratch) : undefined;
      if (read === undefined) continue;
      sources.push(...read.filter(({ index }) => index >= 0));
      const pack = this.#pack(launch, read);
      if (pack === undefined) continue;
      packs.set(launch, pack);
      for (const [i, { index }] of launch.bindings.entries()) {
        const buffer = pack.buffers[i];
        if (buffer !== undefined) scratch[index] = buffer;
      }
    }
    return { packs, scratch, sources };
  }

  /** Undefined beyond the budget. */
  #pack(launch: CompiledLaunch, read: readonly Source[]): Pack | undefined {
    const sources = read.map(({ buffer }) => asWebGpuBuffer(buffer));
    const places = read.map(({ byteOffset }, i) => `${sources[i]?.id}+${byteOffset}`);
    const { pipeline, params, workgroups, byteLengths } = launch;
    const key = [pipeline.key, params?.key, workgroups, byteLengths, places].join(';');
    const known = this.#packs.get(key);
    if (known !== undefined) return known;
    const lengths = byteLengths.map((length, i) => (launch.writes[i] === true ? length : 0));
    const byteLength = lengths.reduce((sum, length) => sum + length, 0);
    if (!this.#budget.reserve(byteLength)) return undefined;
    const made: (WebGpuBuffer | undefined)[] = [];
    try {
      for (const length of lengths) {
        made.push(length > 0 ? this.#buffers.create(length, `packed ${launch.label}`) : undefined);
      }
    } catch (error) {
      for (const buffer of made) buffer?.destroy();
      this.#budget.reserve(-byteLength);
      if (error instanceof OutOfMemoryError) return undefined;
      throw error;
    }
    const pack = new Pack(made, sources, () => {
      this.#packs.delete(key);
      this.#budget.reserve(-byteLength);
    });
    this.#packs.set(key, pack);
    return pack;
  }
}

/** The constants that a launch reads; undefined where it reads anything else. */
function constantsOf(
  { bindings, writes }: CompiledLaunch,
  args: readonly DeviceTensor[],
  packed: readonly (WebGpuBuffer | undefined)[],
): Source[] | undefined {
  const read: Source[] = [];
  for (const [i, { kind, index }] of bindings.entries()) {
    if (writes[i] === true || kind === 'empty') continue;
    const [tensor, buffer] =
      kind === 'argument' ? [args[index], undefined] : [undefined, packed[index]];
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
