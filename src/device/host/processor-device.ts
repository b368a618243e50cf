import { abortError, DeviceLostError } from '../../core/errors.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import type { OperatorTable } from '../../ops/operator.ts';
import { checkRange } from '../check-range.ts';
import type {
  Compilation,
  Device,
  DeviceBuffer,
  DeviceCounters,
  DeviceInfo,
  DeviceRange,
  Kernel,
  KernelTiming,
  DeviceRecording,
  LaunchRecording,
  PreparedKernels,
  PrepareOptions,
} from '../device.ts';
import type { KernelServices, StoredBytes } from './kernel-context.ts';
import type { MakeKernels } from './prepare-host-kernels.ts';

/** Makes, counts and finds buffers. */
export interface ProcessorMemory {
  readonly created: number;
  readonly live: number;
  readonly bytesLive: number;
  /** A zeroed buffer. Throws OutOfMemoryError with the sizes. */
  create(byteLength: number): DeviceBuffer;
  /** Where a live buffer begins. To create another one may move it. */
  locate(buffer: DeviceBuffer): StoredBytes;
  /** Memory for temporaries, by slot; it grows to the largest request and is reused. */
  scratch(slot: number, byteLength: number): StoredBytes;
  dropScratch(): void;
}

export interface ProcessorDeviceOptions {
  readonly kind: 'host' | 'wasm';
  readonly info: DeviceInfo;
  readonly memory: ProcessorMemory;
  /** Default: the core operators. */
  readonly operators: OperatorTable | undefined;
  /** False for a device that checks, plans and counts everything and leaves results zero. */
  readonly computes?: boolean;
  /** Default: kernels of references. */
  readonly makeKernels?: MakeKernels;
  /** Makes them without references; undefined where these are needed, or something is not in order. */
  readonly makeAlone?: MakeAlone;
  readonly onDestroy?: () => void;
  /** See {@link Device.lost}. Default: it never is. */
  readonly lost?: Promise<DeviceLostError> | undefined;
  /** Absent where launches are over when they return. */
  readonly order?: LaunchOrder | undefined;
  /** See {@link Device.compilations}. */
  readonly compilations?: readonly Compilation[];
  /** Absent where launches are not noted down. */
  readonly recordings?: ProcessorRecordings;
}

/** The order of launches where some are not over when `launch` returns. */
export interface LaunchOrder {
  /** True while no launch is unfinished. */
  readonly isIdle: boolean;
  /** While it is set, all are over at once. */
  isPaused: boolean;
  /** Does something after all that was submitted before: at once where that is over. */
  submit(task: () => void): void;
  /** The result of such a task. Rejects with the first error of tasks since the last one that asked. */
  finish<T>(task: () => T): Promise<T>;
  /** Resolves after all that was submitted, however that went. */
  settle(): Promise<void>;
  /** Bytes of the memory at the moment, from an address on. */
  view(address: number, byteLength: number): Uint8Array;
}

export type MakeAlone = (
  primitives: readonly PrimitiveFunction[],
  services: KernelServices,
  options: PrepareOptions,
) => Promise<readonly Kernel[] | undefined>;

/** Notes down launches, copies and writes, to repeat them. */
export interface ProcessorRecordings {
  readonly current: ProcessorRecording | undefined;
  begin(device: ProcessorDevice): ProcessorRecording;
}

export interface ProcessorRecording extends LaunchRecording {
  noteCopy(from: DeviceRange, to: DeviceRange): void;
  noteWrite(target: DeviceRange, bytes: Uint8Array): void;
  /** Drops the recording: something happened that cannot be repeated. */
  invalidate(): void;
}

/** A device that computes in this thread, at once, in memory that it reads and writes itself. */
export class ProcessorDevice implements Device {
  readonly kind: 'host' | 'wasm';
  readonly info: DeviceInfo;
  readonly lost: Promise<DeviceLostError>;
  readonly compilations: readonly Compilation[] | undefined;
  readonly #memory: ProcessorMemory;
  readonly #services: KernelServices;
  readonly #makeKernels: MakeKernels | undefined;
  readonly #makeAlone: MakeAlone | undefined;
  readonly #onDestroy: (() => void) | undefined;
  readonly #recordings: ProcessorRecordings | undefined;
  readonly #order: LaunchOrder | undefined;
  readonly recording: DeviceRecording | undefined;
  readonly #operators: OperatorTable | undefined;
  #timings: KernelTiming[] | undefined;
  #launches = 0;
  #readbacks = 0;
  #isDestroyed = false;

  constructor({
    kind,
    info,
    memory,
    operators,
    computes = true,
    makeKernels,
    makeAlone,
    onDestroy,
    lost = new Promise(() => undefined),
    order,
    compilations,
    recordings,
  }: ProcessorDeviceOptions) {
    this.kind = kind;
    this.info = info;
    this.lost = lost;
    this.#memory = memory;
    this.#operators = operators;
    this.#makeKernels = makeKernels;
    this.#makeAlone = makeAlone;
    this.#onDestroy = onDestroy;
    this.#recordings = recordings;
    this.#order = order;
    this.compilations = compilations;
    this.recording = recordings && {
      begin: () => {
        if (recordings.current !== undefined || this.isProfiled) return undefined;
        const recording = recordings.begin(this);
        recording.resume();
        return recording;
      },
    };
    this.#services = {
      computes,
      scratch: (slot, byteLength) => memory.scratch(slot, computes ? byteLength : 0),
      locate: ({ buffer, byteOffset }) => {
        const { bytes, byteOffset: begin } = memory.locate(buffer);
        return { bytes, byteOffset: begin + byteOffset };
      },
      launched: () => this.launched(1),
      timings: () => this.#timings,
    };
  }

  get isProfiled(): boolean {
    return this.#timings !== undefined;
  }

  /** Counts launches. */
  launched(count: number): void {
    this.#requireLive();
    this.#launches += count;
  }

  async prepare(
    primitives: readonly PrimitiveFunction[],
    options: PrepareOptions = {},
  ): Promise<PreparedKernels> {
    this.#requireLive();
    const { signal } = options;
    if (signal?.aborted) throw abortError(signal);
    const alone = await this.#makeAlone?.(primitives, this.#services, options);
    const kernels =
      alone === undefined
        ? await this.#prepareWithReferences(primitives, options)
        : new Map(alone.map((kernel) => [kernel.name, kernel]));
    if (signal?.aborted) throw abortError(signal);
    const references = [...kernels.values()].flatMap(({ name, references = [] }) =>
      references.map((label) => ({ primitive: name, label })),
    );
    return { get: (name) => kernels.get(name), references, dispose: () => kernels.clear() };
  }

  async #prepareWithReferences(
    primitives: readonly PrimitiveFunction[],
    options: PrepareOptions,
  ): Promise<Map<string, Kernel>> {
    // The references of all operators come with it: most sessions do without.
    const { prepareHostKernels } = await import('./prepare-host-kernels.ts');
    if (options.signal?.aborted) throw abortError(options.signal);
    return prepareHostKernels(primitives, {
      deviceName: this.info.name,
      services: this.#services,
      operators: this.#operators,
      makeKernels: this.#makeKernels,
      options,
    });
  }

  createBuffer(byteLength: number): DeviceBuffer {
    this.#requireLive();
    return this.#memory.create(byteLength);
  }

  write(buffer: DeviceBuffer, byteOffset: number, bytes: Uint8Array): void {
    const range = { buffer, byteOffset, byteLength: bytes.byteLength };
    const order = this.#order;
    if (order?.isIdle === false) {
      const [target, copied] = [this.#later(order, 'write', range), bytes.slice()];
      order.submit(() => target().set(copied));
    } else this.#view('write', range).set(bytes);
    this.#recordings?.current?.noteWrite(range, bytes);
  }

  copy(from: DeviceRange, to: DeviceRange): void {
    const order = this.#order;
    if (order?.isIdle === false) {
      const source = this.#later(order, 'copy from', from);
      const target = this.#later(order, 'copy to', to);
      order.submit(() => target().set(source()));
    } else {
      const source = this.#view('copy from', from);
      this.#view('copy to', to).set(source);
    }
    this.#recordings?.current?.noteCopy(from, to);
  }

  async read(
    ranges: readonly DeviceRange[],
    room: readonly ArrayBuffer[] = [],
  ): Promise<Uint8Array[]> {
    this.#recordings?.current?.invalidate();
    const left = new Set(room);
    this.#readbacks++;
    const order = this.#order;
    if (order === undefined)
      return ranges.map((range) => copyInto(left, this.#view('read', range)));
    const places = ranges.map((range) => this.#later(order, 'read', range));
    return order.finish(() => places.map((place) => copyInto(left, place())));
  }

  readSync(range: DeviceRange): Uint8Array | undefined {
    if (this.#order?.isIdle === false) return undefined;
    // The rest of the call may depend on these elements, so it cannot be replayed.
    this.#recordings?.current?.invalidate();
    this.#readbacks++;
    return this.#view('read', range).slice();
  }

  flush(): void {
    this.#requireLive();
  }

  async synchronize(): Promise<void> {
    this.#requireLive();
    await this.#order?.finish(() => undefined);
  }

  async startProfile(): Promise<() => Promise<readonly KernelTiming[]>> {
    this.#requireLive();
    // Each kernel is to have its own time, not that of others it waits for.
    this.#pauseOrder(true);
    await this.#order?.settle();
    const timings: KernelTiming[] = [];
    this.#timings = timings;
    return async () => {
      if (this.#timings === timings) {
        this.#timings = undefined;
        this.#pauseOrder(false);
      }
      return timings;
    };
  }

  counters(): DeviceCounters {
    return {
      buffersCreated: this.#memory.created,
      buffersLive: this.#memory.live,
      bytesLive: this.#memory.bytesLive,
      pipelinesCreated: 0,
      pipelinesLive: 0,
      bindGroupsCreated: 0,
      launches: this.#launches,
      submits: 0,
      readbacks: this.#readbacks,
    };
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#memory.dropScratch();
    this.#onDestroy?.();
  }

  #view(where: string, range: DeviceRange): Uint8Array {
    this.#requireLive();
    checkRange(where, range);
    const { bytes, byteOffset } = this.#memory.locate(range.buffer);
    return new Uint8Array(bytes, byteOffset + range.byteOffset, range.byteLength);
  }

  /** Gives the bytes of a range after what was submitted before. The memory may grow meanwhile. */
  #later(order: LaunchOrder, where: string, range: DeviceRange): () => Uint8Array {
    const { byteOffset, byteLength } = this.#view(where, range);
    return () => order.view(byteOffset, byteLength);
  }

  #pauseOrder(isPaused: boolean): void {
    if (this.#order !== undefined) this.#order.isPaused = isPaused;
  }

  #requireLive(): void {
    if (!this.#isDestroyed) return;
    throw new DeviceLostError({
      where: `${this.info.name} device`,
      got: 'a call after the device was destroyed by its owner',
      expected: 'a live device',
    });
  }
}

/** Copies bytes into a buffer of the same length, which is then taken, else into a new one. */
function copyInto(room: Set<ArrayBuffer>, bytes: Uint8Array): Uint8Array {
  for (const buffer of room) {
    if (buffer.byteLength !== bytes.byteLength) continue;
    room.delete(buffer);
    const copy = new Uint8Array(buffer);
    copy.set(bytes);
    return copy;
  }
  return bytes.slice();
}
