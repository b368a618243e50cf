import { BUFFER_USAGE, MAP_READ } from './buffer-usage.ts';
import type { BufferTable } from './buffers.ts';

/** Staging buffers that wait for reuse, in number and bytes. */
const KEPT_COUNT = 8;
const KEPT_BYTE_LENGTH = 128 * 1024 * 1024;
const LEAST_BYTE_LENGTH = 4096;

/** So that any typed array can view a block. */
const BLOCK_ALIGNMENT = 8;
/** Memory comes in pages of this size at least, each when it is first written. */
const PAGE_BYTE_LENGTH = 4096;
/** Memory that is made ready between runs: less takes no time, more might be in vain. */
const LEAST_READY_BYTE_LENGTH = 1024 * 1024;
const MOST_READY_BYTE_LENGTH = 32 * 1024 * 1024;
/**
 * A browser looks for finished work when commands reach its GPU process, else every two milliseconds.
 * So many times a wait sends an empty submission, a millisecond apart, from shortly before reads like
 * it end: what nobody needs yet costs a tenth of a millisecond of processor time.
 */
const NUDGE_COUNT = 12;
const NUDGES_BEFORE = 5;
/** How much longer, each time, a wait may take than the one before to be expected so long. */
const LONGER = 1.1;

/** Staging buffers for reading results, reused: creating one costs more than most readbacks. */
export class ReadbackRing {
  readonly #buffers: BufferTable;
  readonly #queue: Pick<GPUQueue, 'submit'>;
  /** Least recently used first. */
  #idle: GPUBuffer[] = [];
  /** Byte lengths of the last read. */
  #lengths = '';
  /** Arrays for one more read of these lengths, or none. */
  #ready: Uint8Array[] = [];
  /** Milliseconds that reads of these lengths wait at best, lately. */
  #usualMs = 0;

  constructor(buffers: BufferTable, queue: Pick<GPUQueue, 'submit'>) {
    this.#buffers = buffers;
    this.#queue = queue;
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

  /**
   * Copies of blocks that lie in the buffer one after the other, each at the next multiple of
   * {@link BLOCK_ALIGNMENT}. Then the buffer may be taken again.
   */
  async read(buffer: GPUBuffer, byteLengths: readonly number[]): Promise<Uint8Array[]> {
    const lengths = byteLengths.join();
    const isRepeated = lengths === this.#lengths;
    const ready = isRepeated ? this.#ready : [];
    this.#lengths = lengths;
    this.#ready = [];
    if (!isRepeated) this.#usualMs = 0;
    let copies: Uint8Array[];
    const begin = performance.now();
    const stop = this.#nudge(this.#usualMs - NUDGES_BEFORE);
    try {
      [, copies] = await Promise.all([
        buffer.mapAsync(MAP_READ),
        ready.length > 0 ? ready : presentArrays(byteLengths),
      ]);
      const waitedMs = performance.now() - begin;
      this.#usualMs = isRepeated ? Math.min(waitedMs, this.#usualMs * LONGER) : waitedMs;
    } catch (error) {
      buffer.destroy();
      throw error;
    } finally {
      stop();
    }
    try {
      const mapped = buffer.getMappedRange();
      let start = 0;
      for (const copy of copies) {
        copy.set(new Uint8Array(mapped, start, copy.byteLength));
        start += alignToBlock(copy.byteLength);
      }
      if (isRepeated) setTimeout(() => void this.#makeReady(buffer.size, byteLengths), 0);
      return copies;
    } finally {
      buffer.unmap();
      this.#idle.push(buffer);
      this.#trim();
    }
  }

  /** Destroys what waits for reuse. */
  destroy(): void {
    for (const buffer of this.#idle.splice(0)) buffer.destroy();
  }

  /** Between two runs, unless they are not alike after all. */
  async #makeReady(byteLength: number, byteLengths: readonly number[]): Promise<void> {
    if (byteLength < LEAST_READY_BYTE_LENGTH || byteLength > MOST_READY_BYTE_LENGTH) return;
    if (this.#ready.length > 0 || this.#lengths !== byteLengths.join()) return;
    this.#ready = await presentArrays(byteLengths);
  }

  #nudge(afterMs: number): () => void {
    let left = NUDGE_COUNT;
    const nudge = (): void => {
      if (--left === 0) stop();
      this.#queue.submit([]);
    };
    let timer = setTimeout(
      () => {
        timer = setInterval(nudge, 1);
        nudge();
      },
      Math.max(afterMs, 1),
    );
    // Either kind of timer.
    const stop = (): void => clearTimeout(timer);
    return stop;
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

export function alignToBlock(byteLength: number): number {
  return Math.ceil(byteLength / BLOCK_ALIGNMENT) * BLOCK_ALIGNMENT;
}

/**
 * Arrays with all their pages present, which takes longer than to copy into them, and is done while
 * the GPU works or nobody waits.
 */
async function presentArrays(byteLengths: readonly number[]): Promise<Uint8Array[]> {
  // A browser sends the request to map in a microtask.
  await Promise.resolve();
  return byteLengths.map((byteLength) => {
    const bytes = new Uint8Array(byteLength);
    for (let i = 0; i < byteLength; i += PAGE_BYTE_LENGTH) bytes[i] = 0;
    return bytes;
  });
}

/** Powers of two for small sizes, so that they are shared; whole megabytes for large ones. */
function stagingByteLength(byteLength: number): number {
  const megabyte = 1024 * 1024;
  if (byteLength > megabyte) return Math.ceil(byteLength / megabyte) * megabyte;
  return Math.max(LEAST_BYTE_LENGTH, 2 ** Math.ceil(Math.log2(byteLength)));
}
