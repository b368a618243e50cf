import type { OperatorTable } from '../../ops/operator.ts';
import type { Device, DeviceBuffer } from '../device.ts';
import { ProcessorDevice, type ProcessorMemory } from './processor-device.ts';
import { internalError, OutOfMemoryError } from '../../core/errors.ts';
import type { StoredBytes } from './kernel-context.ts';

interface HostMemoryLimits {
  /** The largest single buffer, in bytes. */
  readonly maxBufferByteLength: number;
  /** All live buffers together, in bytes. */
  readonly byteBudget: number;
}

/** A buffer in host memory. Its bytes go when it is destroyed. */
class HostBuffer implements DeviceBuffer {
  readonly byteLength: number;
  readonly #memory: HostMemory;
  #bytes: ArrayBuffer | undefined;

  constructor(memory: HostMemory, byteLength: number, bytes: ArrayBuffer) {
    this.#memory = memory;
    this.byteLength = byteLength;
    this.#bytes = bytes;
  }

  /** The memory, a whole number of words. Throws once the buffer is destroyed. */
  get bytes(): ArrayBuffer {
    if (this.#bytes === undefined) throw internalError('a buffer is used after it was destroyed');
    return this.#bytes;
  }

  destroy(): void {
    if (this.#bytes === undefined) return;
    this.#bytes = undefined;
    this.#memory.freed(this.byteLength);
  }
}

/** The host device's view of a buffer that came through the {@link DeviceBuffer} interface. */
function asHostBuffer(buffer: DeviceBuffer): HostBuffer {
  if (buffer instanceof HostBuffer) return buffer;
  throw internalError('a buffer of another device was given to the host device');
}

/** Makes and counts buffers within the limits. */
class HostMemory implements ProcessorMemory {
  created = 0;
  live = 0;
  bytesLive = 0;
  #scratchByteLength = 0;
  readonly #scratch: ArrayBuffer[] = [];
  readonly #limits: HostMemoryLimits;

  constructor(limits: HostMemoryLimits) {
    this.#limits = limits;
  }

  /** A zeroed buffer. Throws OutOfMemoryError with the sizes. */
  create(byteLength: number): HostBuffer {
    const buffer = new HostBuffer(this, byteLength, this.#allocate(byteLength));
    this.created++;
    this.live++;
    this.bytesLive += byteLength;
    return buffer;
  }

  freed(byteLength: number): void {
    this.live--;
    this.bytesLive -= byteLength;
  }

  locate(buffer: DeviceBuffer): StoredBytes {
    return { bytes: asHostBuffer(buffer).bytes, byteOffset: 0 };
  }

  /** Throws OutOfMemoryError with the sizes. */
  scratch(slot: number, byteLength: number): StoredBytes {
    const known = this.#scratch[slot];
    if (known !== undefined && known.byteLength >= byteLength)
      return { bytes: known, byteOffset: 0 };
    const grown = this.#allocate(byteLength);
    this.#scratchByteLength += byteLength - (known?.byteLength ?? 0);
    this.#scratch[slot] = grown;
    return { bytes: grown, byteOffset: 0 };
  }

  dropScratch(): void {
    this.#scratch.length = 0;
  }

  #allocate(byteLength: number): ArrayBuffer {
    const { maxBufferByteLength, byteBudget } = this.#limits;
    if (!(byteLength <= maxBufferByteLength)) {
      throw this.#outOfMemory(byteLength, `at most ${maxBufferByteLength}, the largest buffer`);
    }
    const free = byteBudget - this.bytesLive - this.#scratchByteLength;
    if (byteLength > free) {
      throw this.#outOfMemory(byteLength, `at most ${free}, the rest of ${byteBudget}`);
    }
    try {
      return new ArrayBuffer(Math.ceil(byteLength / 4) * 4);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw this.#outOfMemory(byteLength, 'an amount that this machine has', error);
    }
  }

  #outOfMemory(requestedBytes: number, expected: string, cause?: unknown): OutOfMemoryError {
    const { bytesLive: liveBytes } = this;
    return new OutOfMemoryError(
      {
        where: 'host buffer',
        got: `a request for ${requestedBytes} bytes with ${liveBytes} in use`,
        expected,
        remedy: 'Use smaller inputs or a smaller batch.',
      },
      { cause, details: { requestedBytes, liveBytes } },
    );
  }
}

const GIBIBYTE = 2 ** 30;

/** Limits, by default 4 GiB: what a program asks for must not take all memory there is. */
interface HostDeviceOptions extends Partial<HostMemoryLimits> {
  /** Default: the core operators. */
  readonly operators?: OperatorTable | undefined;
}

/** A device that runs the operators' references in this thread. */
export function createHostDevice({
  maxBufferByteLength = 4 * GIBIBYTE,
  byteBudget = 4 * GIBIBYTE,
  operators,
}: HostDeviceOptions = {}): Device {
  return new ProcessorDevice({
    kind: 'host',
    info: { name: 'host', vendor: '', architecture: '', adapterClass: 'host', maxBufferByteLength },
    memory: new HostMemory({ maxBufferByteLength, byteBudget }),
    operators,
  });
}
