import { abortError, DeviceLostError } from '../../core/errors.ts';
import type { PrimitiveFunction } from '../../core/primitive-function.ts';
import { checkRange } from '../check-range.ts';
import type {
  Device,
  DeviceBuffer,
  DeviceCounters,
  DeviceInfo,
  DeviceRange,
  KernelTiming,
  PreparedKernels,
  PrepareOptions,
} from '../device.ts';
import type { HostKernelContext } from './host-kernel.ts';
import { asHostBuffer, HostMemory, type HostMemoryLimits } from './host-memory.ts';

const GIBIBYTE = 2 ** 30;

/** Limits, by default 4 GiB: what a program asks for must not take all memory there is. */
export type HostDeviceOptions = Partial<HostMemoryLimits>;

/** A device that runs the operators' references in this thread. */
export function createHostDevice(options: HostDeviceOptions = {}): Device {
  return new HostDevice('host', options, true);
}

/** A device that checks, plans and counts everything and computes nothing: results stay zero. */
export function createNullDevice(options: HostDeviceOptions = {}): Device {
  return new HostDevice('null', options, false);
}

class HostDevice implements Device {
  readonly kind = 'host';
  readonly info: DeviceInfo;
  /** Host memory is never lost. */
  readonly lost: Promise<DeviceLostError> = new Promise(() => undefined);

  readonly #memory: HostMemory;
  readonly #context: HostKernelContext;
  readonly #scratch: ArrayBuffer[] = [];
  #timings: KernelTiming[] | undefined;
  #launches = 0;
  #readbacks = 0;
  #isDestroyed = false;

  constructor(name: string, options: HostDeviceOptions, computes: boolean) {
    const maxBufferByteLength = options.maxBufferByteLength ?? 4 * GIBIBYTE;
    const byteBudget = options.byteBudget ?? 4 * GIBIBYTE;
    this.info = { name, vendor: '', architecture: '', adapterClass: 'host', maxBufferByteLength };
    this.#memory = new HostMemory({ maxBufferByteLength, byteBudget });
    this.#context = {
      computes,
      scratch: (slot, byteLength) => this.#scratchSlot(slot, computes ? byteLength : 0),
      launched: () => {
        this.#requireLive();
        this.#launches++;
      },
      timings: () => this.#timings,
    };
  }

  async prepare(
    primitives: readonly PrimitiveFunction[],
    { signal, onProgress, programKernels }: PrepareOptions = {},
  ): Promise<PreparedKernels> {
    this.#requireLive();
    if (signal?.aborted) throw abortError(signal);
    // The references of all operators come with it: sessions on WebGPU mostly do without.
    const { prepareHostKernels } = await import('./prepare-host-kernels.ts');
    if (signal?.aborted) throw abortError(signal);
    const kernels = prepareHostKernels(primitives, {
      deviceName: this.info.name,
      context: this.#context,
      onProgress,
      programKernels,
    });
    return { get: (name) => kernels.get(name), dispose: () => kernels.clear() };
  }

  createBuffer(byteLength: number): DeviceBuffer {
    this.#requireLive();
    return this.#memory.create(byteLength);
  }

  write(buffer: DeviceBuffer, byteOffset: number, bytes: Uint8Array): void {
    const range = { buffer, byteOffset, byteLength: bytes.byteLength };
    this.#view('write', range).set(bytes);
  }

  copy(from: DeviceRange, to: DeviceRange): void {
    const source = this.#view('copy from', from);
    const target = this.#view('copy to', to);
    target.set(source);
  }

  async read(ranges: readonly DeviceRange[]): Promise<Uint8Array[]> {
    const copies = ranges.map((range) => this.#view('read', range).slice());
    this.#readbacks++;
    return copies;
  }

  readSync(range: DeviceRange): Uint8Array {
    this.#readbacks++;
    return this.#view('read', range).slice();
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
    this.#scratch.length = 0;
  }

  #view(where: string, range: DeviceRange): Uint8Array {
    this.#requireLive();
    checkRange(where, range);
    const { bytes } = asHostBuffer(range.buffer);
    return new Uint8Array(bytes, range.byteOffset, range.byteLength);
  }

  #scratchSlot(slot: number, byteLength: number): ArrayBuffer {
    const known = this.#scratch[slot];
    if (known !== undefined && known.byteLength >= byteLength) return known;
    const grown = this.#memory.growScratch(byteLength, known);
    this.#scratch[slot] = grown;
    return grown;
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
