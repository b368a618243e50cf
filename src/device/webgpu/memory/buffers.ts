import { internalError, OutOfMemoryError } from '../../../core/errors.ts';
import type { DeviceBuffer } from '../../device.ts';
import { BUFFER_USAGE } from './buffer-usage.ts';
import type { DeviceFaults } from '../faults/device-faults.ts';

/** Sizes are rounded up to this, so that a kernel may access the last elements as one vec4. */
const GRANULE_BYTE_LENGTH = 16;

export function roundUpToGranule(byteLength: number): number {
  return Math.max(GRANULE_BYTE_LENGTH, Math.ceil(byteLength / GRANULE_BYTE_LENGTH) * 16);
}

/** Something that holds on to a buffer and must let go when it is destroyed. */
export interface BufferUser {
  drop(): void;
}

/** A storage buffer with what the queue needs to know of its past. */
export class WebGpuBuffer implements DeviceBuffer {
  /** Unique on its device, never reused. */
  readonly id: number;
  readonly byteLength: number;
  readonly gpuBuffer: GPUBuffer;
  /** Bind groups that contain the buffer. */
  readonly users = new Set<BufferUser>();
  /** Serial of the last submission that uses it. */
  lastUse = 0;
  /** Serial of the last submission that writes it. */
  lastWrite = 0;
  isDestroyed = false;
  isRefused = false;

  readonly #table: Pick<BufferTable, 'destroy'>;

  constructor(
    table: Pick<BufferTable, 'destroy'>,
    id: number,
    byteLength: number,
    gpuBuffer: GPUBuffer,
  ) {
    this.#table = table;
    this.id = id;
    this.byteLength = byteLength;
    this.gpuBuffer = gpuBuffer;
  }

  destroy(): void {
    this.#table.destroy(this);
  }
}

/** The device's view of a buffer that came through the {@link DeviceBuffer} interface. */
export function asWebGpuBuffer(buffer: DeviceBuffer): WebGpuBuffer {
  if (!(buffer instanceof WebGpuBuffer)) {
    throw internalError('a buffer of another device was given to the WebGPU device');
  }
  if (buffer.isDestroyed) throw internalError(`buffer ${buffer.id} is used after it was destroyed`);
  return buffer;
}

/** Makes buffers, counts them, and destroys each after the submission that last uses it. */
export class BufferTable {
  created = 0;
  live = 0;
  bytesLive = 0;

  readonly #device: GPUDevice;
  readonly #faults: DeviceFaults;
  readonly #adapterName: string;
  #doomed: GPUBuffer[] = [];

  constructor(device: GPUDevice, faults: DeviceFaults, adapterName: string) {
    this.#device = device;
    this.#faults = faults;
    this.#adapterName = adapterName;
  }

  /** A zeroed storage buffer. Throws OutOfMemoryError beyond the adapter's limit. */
  create(byteLength: number, label: string): WebGpuBuffer {
    this.#checkSize(byteLength, label);
    let buffer: WebGpuBuffer | undefined;
    const gpuBuffer = this.createRaw(
      roundUpToGranule(byteLength),
      BUFFER_USAGE.storage | BUFFER_USAGE.copySource | BUFFER_USAGE.copyTarget,
      label,
      () => {
        if (buffer !== undefined) buffer.isRefused = true;
      },
    );
    this.created++;
    this.live++;
    this.bytesLive += byteLength;
    buffer = new WebGpuBuffer(this, this.created, byteLength, gpuBuffer);
    return buffer;
  }

  /** A buffer for the device's own use, not counted. */
  createRaw(
    size: number,
    usage: GPUBufferUsageFlags,
    ...[label, onError]: [label: string, onError?: () => void]
  ): GPUBuffer {
    this.#checkSize(size, label);
    return this.#faults.scoped(
      `${label} of ${size} bytes, with ${this.bytesLive} in use on ${this.#adapterName}`,
      () => this.#device.createBuffer({ label, size, usage }),
      onError,
    );
  }

  destroy(buffer: WebGpuBuffer): void {
    if (buffer.isDestroyed) return;
    buffer.isDestroyed = true;
    this.live--;
    this.bytesLive -= buffer.byteLength;
    for (const user of buffer.users) user.drop();
    buffer.users.clear();
    // A command buffer that uses a destroyed buffer is refused as a whole.
    if (buffer.lastUse === this.#faults.serial) this.#doomed.push(buffer.gpuBuffer);
    else buffer.gpuBuffer.destroy();
  }

  /** Tells that everything recorded so far has been submitted. */
  submitted(): void {
    for (const gpuBuffer of this.#doomed) gpuBuffer.destroy();
    this.#doomed = [];
  }

  #checkSize(byteLength: number, label: string): void {
    this.#faults.throwIfEnded();
    const limit = this.#device.limits.maxBufferSize;
    if (!(byteLength <= limit)) {
      throw new OutOfMemoryError(
        {
          where: label,
          got: `a request for ${byteLength} bytes`,
          expected: `at most ${limit}, the largest buffer of ${this.#adapterName}`,
          remedy: 'Use smaller inputs or a smaller batch.',
        },
        { details: { requestedBytes: byteLength, limitBytes: limit, liveBytes: this.bytesLive } },
      );
    }
  }
}
