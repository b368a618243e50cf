import { abortError, DeviceLostError } from '../../core/errors.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import type { OperatorTable } from '../../ops/operator.ts';
import { checkRange } from '../check-range.ts';
import type {
  Device,
  DeviceBuffer,
  DeviceCounters,
  DeviceInfo,
  DeviceRange,
  Kernel,
  KernelTiming,
  PreparedKernels,
  PrepareOptions,
} from '../device.ts';
import { DeviceEvents } from '../device-events.ts';
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
  /** Default: kernels of references. */
  readonly makeKernels?: MakeKernels;
  /** Makes them without references; undefined where these are needed, or something is not in order. */
  readonly makeAlone?: MakeAlone;
  readonly onDestroy?: () => void;
  /** See {@link Device.lost}. Default: it never is. */
  readonly lost?: Promise<DeviceLostError> | undefined;
  /** Default: those of a device that compiles nothing. */
  readonly events?: DeviceEvents;
}

export type MakeAlone = (
  primitives: readonly PrimitiveFunction[],
  services: KernelServices,
  options: PrepareOptions,
) => Promise<readonly Kernel[] | undefined>;

/** A device that computes in this thread, at once, in memory that it reads and writes itself. */
export class ProcessorDevice implements Device {
  readonly kind: 'host' | 'wasm';
  readonly info: DeviceInfo;
  readonly lost: Promise<DeviceLostError>;
  readonly events: DeviceEvents;
  readonly #memory: ProcessorMemory;
  readonly #services: KernelServices;
  readonly #makeKernels: MakeKernels | undefined;
  readonly #makeAlone: MakeAlone | undefined;
  readonly #onDestroy: (() => void) | undefined;
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
    makeKernels,
    makeAlone,
    onDestroy,
    lost = new Promise(() => undefined),
    events = new DeviceEvents(info.name),
  }: ProcessorDeviceOptions) {
    this.kind = kind;
    this.info = info;
    this.lost = lost;
    this.#memory = memory;
    this.#operators = operators;
    this.#makeKernels = makeKernels;
    this.#makeAlone = makeAlone;
    this.#onDestroy = onDestroy;
    this.events = events;
    this.#services = {
      scratch: (slot, byteLength) => memory.scratch(slot, byteLength),
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
    const { begin } = this.events;
    this.view('write', { buffer, byteOffset, byteLength: bytes.byteLength }).set(bytes);
    this.events.moved('upload', [bytes], begin);
  }

  copy(from: DeviceRange, to: DeviceRange): void {
    const { begin } = this.events;
    const source = this.view('copy from', from);
    this.view('copy to', to).set(source);
    this.events.moved('copy', [from], begin);
  }

  async read(
    ranges: readonly DeviceRange[],
    room: readonly ArrayBuffer[] = [],
  ): Promise<Uint8Array[]> {
    const left = new Set(room);
    this.#readbacks++;
    const { begin } = this.events;
    const bytes = await this.contents(ranges, (view) => copyInto(left, view));
    this.events.moved('readback', bytes, begin);
    return bytes;
  }

  readSync(range: DeviceRange): Uint8Array | undefined {
    this.#readbacks++;
    const { begin } = this.events;
    const bytes = this.view('read', range).slice();
    this.events.moved('readback', [bytes], begin);
    return bytes;
  }

  flush(): void {
    this.#requireLive();
  }

  async synchronize(): Promise<void> {
    this.#requireLive();
  }

  async startProfile(): Promise<() => Promise<readonly KernelTiming[]>> {
    this.#requireLive();
    const timings: KernelTiming[] = [];
    this.#timings = timings;
    return async () => {
      if (this.#timings === timings) this.#timings = undefined;
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

  /** Copies of the bytes of ranges, made by `copy`. */
  protected contents(
    ranges: readonly DeviceRange[],
    copy: (bytes: Uint8Array) => Uint8Array,
  ): Uint8Array[] | Promise<Uint8Array[]> {
    return ranges.map((range) => copy(this.view('read', range)));
  }

  protected view(where: string, range: DeviceRange): Uint8Array {
    this.#requireLive();
    checkRange(where, range);
    const { bytes, byteOffset } = this.#memory.locate(range.buffer);
    return new Uint8Array(bytes, byteOffset + range.byteOffset, range.byteLength);
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
