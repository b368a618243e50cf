import { BUFFER_USAGE, MAP_READ } from './buffer-usage.ts';
import type { BufferTable } from './buffers.ts';

/** Staging buffers that wait for reuse, in number and bytes. */
const KEPT_COUNT = 8;
const KEPT_BYTE_LENGTH = 128 * 1024 * 1024;
const LEAST_BYTE_LENGTH = 4096;

/** Staging buffers for reading results, reused: creating one costs more than most readbacks. */
export class ReadbackRing {
  readonly #buffers: BufferTable;
  /** Least recently used first. */
  #idle: GPUBuffer[] = [];

  constructor(buffers: BufferTable) {
    this.#buffers = buffers;
  }

  /** A mappable buffer of at least `byteLength` bytes that nobody else uses. */
  take(byteLength: number): GPUBuffer {
    const fits = (buffer: GPUBuffer): boolean =>
      buffer.size >= byteLength && buffer.size <= Math.max(4 * byteLength, LEAST_BYTE_LENGTH);
    const index = this.#idle.findIndex(fits);
    const [known] = index < 0 ? [] : this.#idle.splice(index, 1);
    return (
      known ??
      this.#buffers.createRaw(
        stagingByteLength(byteLength),
        BUFFER_USAGE.mapRead | BUFFER_USAGE.copyTarget,
        'readback',
      )
    );
  }

  /** Maps the buffer and gives it to `use`; then it may be taken again. */
  async map<T>(buffer: GPUBuffer, use: (bytes: ArrayBuffer) => T): Promise<T> {
    try {
      await buffer.mapAsync(MAP_READ);
    } catch (error) {
      buffer.destroy();
      throw error;
    }
    try {
      return use(buffer.getMappedRange());
    } finally {
      buffer.unmap();
      this.#idle.push(buffer);
      this.#trim();
    }
  }

  #trim(): void {
    let byteLength = this.#idle.reduce((sum, { size }) => sum + size, 0);
    while (this.#idle.length > KEPT_COUNT || byteLength > KEPT_BYTE_LENGTH) {
      const oldest = this.#idle.shift();
      if (oldest === undefined) return;
      byteLength -= oldest.size;
      oldest.destroy();
    }
  }
}

/** Powers of two for small sizes, so that they are shared; whole megabytes for large ones. */
function stagingByteLength(byteLength: number): number {
  const megabyte = 1024 * 1024;
  if (byteLength > megabyte) return Math.ceil(byteLength / megabyte) * megabyte;
  return Math.max(LEAST_BYTE_LENGTH, 2 ** Math.ceil(Math.log2(byteLength)));
}
