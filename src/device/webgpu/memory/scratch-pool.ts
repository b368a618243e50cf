import type { IdleMemory } from '../../device.ts';
import { asWebGpuBuffer, type BufferTable, type WebGpuBuffer } from './buffers.ts';

interface ScratchSources {
  readonly given: readonly (WebGpuBuffer | undefined)[] | undefined;
  readonly idle: IdleMemory | undefined;
}

/**
 * Temporary buffers of launch plans. All plans share them by position, since launches run in order:
 * scratch `i` of one plan is dead when the next plan begins. They live while kernels do. A larger
 * buffer than all so far is taken from idle memory, or created.
 */
export class ScratchPool {
  readonly #buffers: BufferTable;
  #pool: WebGpuBuffer[] = [];
  #empty: readonly [WebGpuBuffer, WebGpuBuffer] | undefined;
  #userCount = 0;

  constructor(buffers: BufferTable) {
    this.#buffers = buffers;
  }

  get byteLength(): number {
    return this.sizes().reduce((sum, size) => sum + size, 0);
  }

  /** Bytes of each buffer, by position. */
  sizes(): number[] {
    return this.#pool.map(({ byteLength }) => byteLength);
  }

  /** Gives back what was made since the sizes were these. */
  shrink(sizes: readonly number[]): void {
    for (const [index, buffer] of this.#pool.entries()) {
      const size = sizes[index] ?? 0;
      if (buffer.byteLength <= size) continue;
      buffer.destroy();
      if (size > 0) this.#pool[index] = this.#buffers.create(size, `scratch ${index}`);
    }
    this.#pool.length = Math.min(this.#pool.length, sizes.length);
  }

  retain(): void {
    this.#userCount++;
  }

  /** The last user frees the memory. */
  release(): void {
    this.#userCount--;
    if (this.#userCount > 0) return;
    for (const buffer of [...this.#pool, ...(this.#empty ?? [])]) buffer.destroy();
    this.#pool = [];
    this.#empty = undefined;
  }

  /** Makes room before a run, so that none is made during it. */
  reserve(byteLengths: readonly number[]): void {
    for (const [index, byteLength] of byteLengths.entries()) this.get(index, byteLength);
  }

  /** Puts the buffers of a plan into a list; `given` are those that it has already, by position. */
  collect(
    buffers: WebGpuBuffer[],
    byteLengths: readonly number[],
    { given, idle }: ScratchSources,
  ): void {
    buffers.length = 0;
    for (let i = 0; i < byteLengths.length; i++) {
      const byteLength = byteLengths[i] ?? 0;
      const own = this.#pool[i];
      const known = given?.[i] ?? ifFit(own, byteLength);
      const found = known ?? idle?.find(byteLength, buffers);
      buffers.push(found === undefined ? this.get(i, byteLength) : asWebGpuBuffer(found));
    }
  }

  get(index: number, byteLength: number): WebGpuBuffer {
    const known = this.#pool[index];
    const fit = ifFit(known, byteLength);
    if (fit !== undefined) return fit;
    for (let i = this.#pool.length; i < index; i++) this.get(i, 4);
    const buffer = this.#buffers.create(byteLength, `scratch ${index}`);
    known?.destroy();
    this.#pool[index] = buffer;
    return buffer;
  }

  /** Stands for a tensor without elements, apart for reading and writing. */
  empty(isWritten: boolean): WebGpuBuffer {
    if (this.#empty === undefined || this.#empty.some(({ isRefused }) => isRefused)) {
      for (const buffer of this.#empty ?? []) buffer.destroy();
      this.#empty = [
        this.#buffers.create(4, 'empty input'),
        this.#buffers.create(4, 'empty output'),
      ];
    }
    return this.#empty[isWritten ? 1 : 0];
  }
}

function ifFit(buffer: WebGpuBuffer | undefined, byteLength: number): WebGpuBuffer | undefined {
  const isFit = buffer !== undefined && buffer.byteLength >= byteLength && !buffer.isRefused;
  return isFit ? buffer : undefined;
}
