import { internalError } from '../../../core/errors.ts';
import { BUFFER_USAGE } from './buffer-usage.ts';
import type { BufferTable } from './buffers.ts';
import type { DeviceFaults } from '../faults/device-faults.ts';

/** The alignment of dynamic offsets that every adapter supports. */
const SLOT_BYTE_LENGTH = 256;
/** Every adapter binds uniforms of this size. */
const PAGE_BYTE_LENGTH = 64 * 1024;

/** A uniform buffer that slots are cut from. */
export interface ParamPage {
  readonly id: number;
  gpuBuffer: GPUBuffer;
}

/** Parameter words in GPU memory, shared by all launches that have equal words. */
export interface ParamSlot {
  readonly key: string;
  readonly words: Uint32Array<ArrayBuffer>;
  readonly page: ParamPage;
  readonly byteOffset: number;
  /** Multiple of 256. */
  readonly byteLength: number;
}

type Place = Pick<ParamSlot, 'page' | 'byteOffset'>;

interface ParamArenaContext {
  readonly queue: GPUQueue;
  readonly buffers: BufferTable;
  readonly faults: Pick<DeviceFaults, 'scopedWrite'>;
  /** Submits recorded launches, which may still read a place that is about to be reused. */
  readonly flush: () => void;
}

/**
 * Uniform memory for launch parameters. Slots are interned by content and written when a plan is
 * made, so that running a plan writes nothing.
 */
export class ParamArena {
  readonly #context: ParamArenaContext;
  readonly #pages: ParamPage[] = [];
  readonly #interned = new Map<string, { readonly slot: ParamSlot; userCount: number }>();
  /** Places that were released, by byte length. */
  readonly #free = new Map<number, Place[]>();
  #pageUse = PAGE_BYTE_LENGTH;

  constructor(context: ParamArenaContext) {
    this.#context = context;
  }

  /** A slot that holds `words` (at least one). Pair every call with {@link release}. */
  acquire(words: Uint32Array): ParamSlot {
    const key = words.join();
    const known = this.#interned.get(key);
    if (known !== undefined) {
      known.userCount++;
      return known.slot;
    }
    const byteLength = Math.ceil(words.byteLength / SLOT_BYTE_LENGTH) * SLOT_BYTE_LENGTH;
    const place = this.#reuse(byteLength) ?? this.#cut(byteLength);
    const slot = { key, words: new Uint32Array(words), byteLength, ...place };
    this.#write(slot);
    this.#interned.set(key, { slot, userCount: 1 });
    return slot;
  }

  /** One more user of a slot that is in use. */
  retain(slot: ParamSlot): void {
    const known = this.#interned.get(slot.key);
    if (known === undefined) throw internalError('a parameter slot is retained after its release');
    known.userCount++;
  }

  release(slot: ParamSlot): void {
    const known = this.#interned.get(slot.key);
    if (known === undefined) throw internalError('a parameter slot was released twice');
    known.userCount--;
    if (known.userCount > 0) return;
    this.#interned.delete(slot.key);
    const places = this.#free.get(slot.byteLength);
    if (places === undefined) this.#free.set(slot.byteLength, [slot]);
    else places.push(slot);
  }

  destroy(): void {
    for (const page of this.#pages) page.gpuBuffer.destroy();
  }

  /** Makes all pages anew: after a fault, one may be invalid or hold other words. */
  restore(): void {
    for (const page of this.#pages) {
      page.gpuBuffer.destroy();
      page.gpuBuffer = this.#createPage();
    }
    for (const { slot } of this.#interned.values()) this.#write(slot);
  }

  #write({ page, byteOffset, words }: ParamSlot): void {
    const { queue, faults } = this.#context;
    faults.scopedWrite(() => queue.writeBuffer(page.gpuBuffer, byteOffset, words));
  }

  #createPage(): GPUBuffer {
    const usage = BUFFER_USAGE.uniform | BUFFER_USAGE.copyTarget;
    return this.#context.buffers.createRaw(PAGE_BYTE_LENGTH, usage, 'launch parameters');
  }

  #reuse(byteLength: number): Place | undefined {
    const place = this.#free.get(byteLength)?.pop();
    if (place === undefined) return undefined;
    this.#context.flush();
    return { page: place.page, byteOffset: place.byteOffset };
  }

  #cut(byteLength: number): Place {
    if (byteLength > PAGE_BYTE_LENGTH) {
      throw internalError(`${byteLength} bytes of launch parameters, at most ${PAGE_BYTE_LENGTH}`);
    }
    if (this.#pageUse + byteLength > PAGE_BYTE_LENGTH) {
      this.#pages.push({ id: this.#pages.length + 1, gpuBuffer: this.#createPage() });
      this.#pageUse = 0;
    }
    const page = this.#pages.at(-1);
    if (page === undefined) throw internalError('the parameter arena has no page');
    const byteOffset = this.#pageUse;
    this.#pageUse += byteLength;
    return { page, byteOffset };
  }
}
