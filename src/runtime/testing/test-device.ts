import { type DeviceLostError, OutOfMemoryError, UnsupportedError } from '../../core/errors.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import type {
  Device,
  DeviceBuffer,
  DeviceInfo,
  DeviceRange,
  DeviceTensor,
  KernelTiming,
  PreparedKernels,
} from '../../device/device.ts';

export interface TestDeviceOptions {
  readonly kind?: Device['kind'];
  readonly name?: string;
  /** Like a GPU: nothing can be read without waiting. */
  readonly mustWait?: boolean;
  readonly maxBufferByteLength?: number;
  /** The most bytes of all buffers together. */
  readonly memoryByteLength?: number;
  /** The effects of launches, by name of the primitive; others are unsupported. */
  readonly kernels?: Readonly<Record<string, (args: readonly DeviceTensor[]) => void>>;
}

/** A device of plain byte arrays, for tests of what a machine does with any device. */
export class TestDevice implements Device {
  readonly kind: Device['kind'];
  readonly info: DeviceInfo;
  readonly lost: Promise<DeviceLostError>;
  /** Everything done, in order, such as `write 256`. */
  readonly journal: string[] = [];
  readonly #options: TestDeviceOptions;
  readonly #live = new Set<TestBuffer>();
  #resolveLost: (error: DeviceLostError) => void = () => undefined;
  #readGate: Promise<void> = Promise.resolve();
  #timings: KernelTiming[] | undefined;
  #created = 0;
  #launches = 0;
  #readbacks = 0;

  constructor(options: TestDeviceOptions = {}) {
    this.#options = options;
    this.kind = options.kind ?? (options.mustWait === true ? 'webgpu' : 'host');
    this.info = {
      name: options.name ?? 'test device',
      vendor: 'test',
      architecture: 'none',
      adapterClass: this.kind === 'host' ? 'host' : 'software',
      maxBufferByteLength: options.maxBufferByteLength ?? 2 ** 30,
    };
    this.lost = new Promise((resolve) => {
      this.#resolveLost = resolve;
    });
  }

  lose(error: DeviceLostError): void {
    this.#resolveLost(error);
  }

  /** Reads resolve only after the promise. */
  holdReads(until: Promise<void>): void {
    this.#readGate = until;
  }

  async prepare(primitives: readonly PrimitiveFunction[]): Promise<PreparedKernels> {
    const { kernels = {} } = this.#options;
    const refused = primitives.filter(({ name }) => !Object.hasOwn(kernels, name));
    if (refused.length > 0) {
      const names = refused.map(({ name }) => name);
      throw new UnsupportedError(`${this.info.name} cannot run ${names.join(', ')}`, {
        details: { primitives: names },
      });
    }
    return {
      get: (name) => {
        const run = kernels[name];
        if (run === undefined) return undefined;
        return { name, launch: (args) => this.#launch(name, () => run(args)) };
      },
      dispose: () => this.journal.push('dispose kernels'),
    };
  }

  createBuffer(byteLength: number): DeviceBuffer {
    const { memoryByteLength = Number.POSITIVE_INFINITY } = this.#options;
    if (this.counters().bytesLive + byteLength > memoryByteLength) {
      throw new OutOfMemoryError(`${this.info.name} has no ${byteLength} bytes left`);
    }
    const buffer = new TestBuffer(byteLength, () => this.#live.delete(buffer));
    this.#live.add(buffer);
    this.#created++;
    return buffer;
  }

  write(buffer: DeviceBuffer, byteOffset: number, bytes: Uint8Array): void {
    this.journal.push(`write ${bytes.byteLength}`);
    viewOf({ buffer, byteOffset, byteLength: bytes.byteLength }).set(bytes);
  }

  copy(from: DeviceRange, to: DeviceRange): void {
    viewOf(to).set(viewOf(from));
  }

  async read(ranges: readonly DeviceRange[]): Promise<Uint8Array[]> {
    this.#readbacks++;
    const copies = ranges.map((range) => viewOf(range).slice());
    await this.#readGate;
    return copies;
  }

  readSync(range: DeviceRange): Uint8Array | undefined {
    return this.#options.mustWait === true ? undefined : viewOf(range).slice();
  }

  flush(): void {
    this.journal.push('flush');
  }

  async synchronize(): Promise<void> {}

  async startProfile(): Promise<() => Promise<readonly KernelTiming[]>> {
    const timings: KernelTiming[] = [];
    this.#timings = timings;
    return async () => {
      this.#timings = undefined;
      return timings;
    };
  }

  counters() {
    let bytesLive = 0;
    for (const { byteLength } of this.#live) bytesLive += byteLength;
    return {
      buffersCreated: this.#created,
      buffersLive: this.#live.size,
      bytesLive,
      pipelinesCreated: 0,
      pipelinesLive: 0,
      bindGroupsCreated: 0,
      launches: this.#launches,
      submits: 0,
      readbacks: this.#readbacks,
    };
  }

  destroy(): void {
    for (const buffer of this.#live) buffer.destroy();
  }

  #launch(primitive: string, run: () => void): void {
    this.#launches++;
    this.#timings?.push({
      primitive,
      label: primitive,
      workgroups: [1, 1, 1],
      durationMs: undefined,
    });
    run();
  }
}

class TestBuffer implements DeviceBuffer {
  readonly byteLength: number;
  bytes: Uint8Array | undefined;
  readonly #onDestroy: () => void;

  constructor(byteLength: number, onDestroy: () => void) {
    this.byteLength = byteLength;
    this.bytes = new Uint8Array(byteLength);
    this.#onDestroy = onDestroy;
  }

  destroy(): void {
    this.bytes = undefined;
    this.#onDestroy();
  }
}

function viewOf({ buffer, byteOffset, byteLength }: DeviceRange): Uint8Array {
  if (!(buffer instanceof TestBuffer) || buffer.bytes === undefined) {
    throw new Error('internal: the buffer is foreign or was destroyed');
  }
  if (byteOffset % 4 !== 0 || byteLength % 4 !== 0) {
    throw new Error(`internal: bytes ${byteOffset} + ${byteLength} are no whole words`);
  }
  if (byteOffset + byteLength > buffer.byteLength) {
    throw new Error(`internal: bytes ${byteOffset} + ${byteLength} of ${buffer.byteLength}`);
  }
  return buffer.bytes.subarray(byteOffset, byteOffset + byteLength);
}

/** The elements of a float32 tensor on a test device, as a view. */
export function floatsOf({ buffer, byteOffset, shape }: DeviceTensor): Float32Array {
  const count = shape.reduce((product, dim) => product * dim, 1);
  const bytes = viewOf({ buffer, byteOffset, byteLength: count * 4 });
  return new Float32Array(bytes.buffer, bytes.byteOffset, count);
}
