import { internalError, OutOfMemoryError } from '../../../core/errors.ts';
import type { DeviceBuffer } from '../../device.ts';
import type { StoredBytes } from '../../host/kernel-context.ts';
import type { ProcessorMemory } from '../../host/processor-device.ts';
import { MAX_BYTE_LENGTH, MOST_PAGES, PAGE } from './address-space.ts';

/** Cache lines, and what vectors and other devices' offsets need. */
const ALIGNMENT = 64;

export interface WasmMemoryLimits {
  /** All live buffers together, in bytes. */
  readonly byteBudget: number;
}

interface WasmMemoryOptions extends WasmMemoryLimits {
  /** Makes it a shared memory, which threads can have too. */
  readonly isShared?: boolean;
}

/** A part of the linear memory. */
export class WasmBuffer implements DeviceBuffer {
  readonly byteLength: number;
  /** Called once, when it is destroyed. */
  readonly onDestroy = new Set<() => void>();
  readonly #memory: WasmMemory;
  #begin: number | undefined;

  constructor(memory: WasmMemory, begin: number, byteLength: number) {
    this.#memory = memory;
    this.#begin = begin;
    this.byteLength = byteLength;
  }

  get isDestroyed(): boolean {
    return this.#begin === undefined;
  }

  /** Its address. Throws once the buffer is destroyed. */
  get begin(): number {
    if (this.#begin === undefined) throw internalError('a buffer is used after it was destroyed');
    return this.#begin;
  }

  destroy(): void {
    if (this.#begin === undefined) return;
    this.#memory.free(this.#begin, this.byteLength);
    this.#begin = undefined;
    for (const listener of this.onDestroy) listener();
  }
}

/** The device's view of a buffer that came through the {@link DeviceBuffer} interface. */
export function asWasmBuffer(buffer: DeviceBuffer): WasmBuffer {
  if (buffer instanceof WasmBuffer) return buffer;
  throw internalError('a buffer of another device was given to the wasm device');
}

interface Gap {
  begin: number;
  end: number;
}

/** One linear memory, from which buffers are cut: the smallest gap that fits, else what is behind all. */
export class WasmMemory implements ProcessorMemory {
  readonly memory: WebAssembly.Memory;
  created = 0;
  live = 0;
  bytesLive = 0;
  /** Grows when temporary memory gets a new place. */
  scratchMoves = 0;
  /** Does what changes the memory, in order with launches that are not over. */
  submit = (change: () => void): void => change();
  readonly maxBufferByteLength = MAX_BYTE_LENGTH;
  readonly #byteBudget: number;
  /** By address, never next to each other. Address 0 is no buffer's. */
  readonly #scratch = new Map<number, WasmBuffer>();
  readonly #gaps: Gap[] = [{ begin: ALIGNMENT, end: PAGE }];

  constructor({ byteBudget, isShared = false }: WasmMemoryOptions) {
    this.#byteBudget = byteBudget;
    this.memory = new WebAssembly.Memory({ initial: 1, maximum: MOST_PAGES, shared: isShared });
  }

  view(address: number, byteLength: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.bytes, address, byteLength);
  }

  /** All of it; another object after it grew. */
  get bytes(): ArrayBuffer {
    return this.memory.buffer;
  }

  /** A zeroed buffer. Throws OutOfMemoryError with the sizes. */
  create(byteLength: number): WasmBuffer {
    const left = this.#byteBudget - this.bytesLive;
    const { maxBufferByteLength } = this;
    if (!(byteLength <= maxBufferByteLength)) {
      throw this.#outOfMemory(byteLength, `at most ${maxBufferByteLength}, the largest buffer`);
    }
    if (byteLength > left) {
      throw this.#outOfMemory(byteLength, `at most ${left}, what is left of ${this.#byteBudget}`);
    }
    const begin = this.#cut(rounded(byteLength), byteLength);
    this.submit(() => void this.view(begin, rounded(byteLength)).fill(0));
    this.created++;
    this.live++;
    this.bytesLive += byteLength;
    return new WasmBuffer(this, begin, byteLength);
  }

  locate(buffer: DeviceBuffer): StoredBytes {
    return { bytes: this.bytes, byteOffset: asWasmBuffer(buffer).begin };
  }

  scratch(slot: number, byteLength: number): StoredBytes {
    return { bytes: this.bytes, byteOffset: this.scratchAddress(slot, byteLength) };
  }

  /** Of {@link scratch}. Throws OutOfMemoryError with the sizes. */
  scratchAddress(slot: number, byteLength: number): number {
    let known = this.#scratch.get(slot);
    if (known === undefined || known.byteLength < byteLength) {
      known?.destroy();
      this.scratchMoves++;
      known = this.create(byteLength);
      this.#scratch.set(slot, known);
    }
    return known.begin;
  }

  dropScratch(): void {
    for (const buffer of this.#scratch.values()) buffer.destroy();
    this.#scratch.clear();
  }

  /** Frees the bytes of a buffer. Each buffer calls it once. */
  free(begin: number, byteLength: number): void {
    this.live--;
    this.bytesLive -= byteLength;
    this.#addGap({ begin, end: begin + rounded(byteLength) });
  }

  #cut(size: number, requested: number): number {
    let best: Gap | undefined;
    for (const gap of this.#gaps) {
      const room = gap.end - gap.begin;
      if (room >= size && (best === undefined || room < best.end - best.begin)) best = gap;
    }
    const gap = best ?? this.#grow(size, requested);
    const { begin } = gap;
    gap.begin += size;
    if (gap.begin === gap.end) this.#gaps.splice(this.#gaps.indexOf(gap), 1);
    return begin;
  }

  /** A gap at the end with room for so much. */
  #grow(size: number, requested: number): Gap {
    const end = this.bytes.byteLength;
    const last = this.#gaps.at(-1);
    const free = last?.end === end ? end - last.begin : 0;
    const pages = Math.ceil((size - free) / PAGE);
    if (end + pages * PAGE > MAX_BYTE_LENGTH + PAGE) {
      throw this.#outOfMemory(
        requested,
        `${MAX_BYTE_LENGTH} bytes in all, what addresses of 32 bits reach`,
      );
    }
    try {
      this.memory.grow(pages);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw this.#outOfMemory(requested, 'what this machine can give', error);
    }
    return this.#addGap({ begin: end, end: end + pages * PAGE });
  }

  /** Joined with its neighbours. */
  #addGap(added: Gap): Gap {
    const at = this.#gaps.findIndex(({ begin }) => begin > added.begin);
    const index = at === -1 ? this.#gaps.length : at;
    const [before, after] = [this.#gaps[index - 1], this.#gaps[index]];
    if (after?.begin === added.end) {
      added.end = after.end;
      this.#gaps.splice(index, 1);
    }
    if (before?.end === added.begin) {
      before.end = added.end;
      return before;
    }
    this.#gaps.splice(index, 0, added);
    return added;
  }

  #outOfMemory(requestedBytes: number, expected: string, cause?: unknown): OutOfMemoryError {
    const { bytesLive: liveBytes } = this;
    return new OutOfMemoryError(
      {
        where: 'wasm buffer',
        got: `a request for ${requestedBytes} bytes with ${liveBytes} in use`,
        expected,
        remedy: 'Use smaller inputs or a smaller batch.',
      },
      { cause, details: { requestedBytes, liveBytes } },
    );
  }
}

/** Buffers of no bytes have an address of their own, too. */
const rounded = (byteLength: number): number =>
  Math.max(Math.ceil(byteLength / ALIGNMENT), 1) * ALIGNMENT;
