import { concatenate } from '../core/bytes/concatenate.ts';
import { DownloadError, StorageError } from '../core/errors.ts';
import { type BlockStore, MemoryBlocks } from './block-store.ts';
import { integrityHash } from './integrity.ts';
import type { RangeFile, ReadOptions } from './range-file.ts';
import type { RemoteReader } from './remote-reader.ts';

interface BlockFileParts {
  readonly url: string;
  readonly byteLength: number;
  readonly blockByteLength: number;
  /** Where blocks are kept; without one those that were read before are fetched again. */
  readonly store: BlockStore | undefined;
  readonly remote: RemoteReader;
  /** The hash that all bytes must have. */
  readonly integrity?: string | undefined;
  /** The stored blocks are known to have it. */
  readonly isVerified?: boolean;
  /** Called once all bytes were found to have that hash. */
  readonly onVerified?: (() => Promise<void>) | undefined;
}

/** A file of a server in blocks: those that are kept are read from there, all others are fetched and kept. */
export class BlockFile implements RangeFile {
  readonly url: string;
  readonly byteLength: number;
  readonly #parts: BlockFileParts;
  #store: BlockStore | undefined;
  /** The last block that was read: ranges side by side share it. */
  #last: { readonly index: number; readonly bytes: Uint8Array } | undefined;
  /** One read at a time: they share a connection. */
  #queue: Promise<unknown> = Promise.resolve();
  #verified: Promise<void> | undefined;
  #isVerified: boolean;

  constructor(parts: BlockFileParts) {
    this.url = parts.url;
    this.byteLength = parts.byteLength;
    this.#parts = parts;
    this.#store = parts.store;
    this.#isVerified = parts.isVerified ?? false;
  }

  /** Takes bytes from the begin of the file that came while it was opened: whole blocks, or all there are. */
  async adopt(bytes: Uint8Array): Promise<void> {
    const { blockByteLength: size } = this.#parts;
    for (let index = 0; index * size < bytes.byteLength; index++) {
      await this.#keep(index, bytes.subarray(index * size, (index + 1) * size));
    }
    this.#last = { index: 0, bytes: bytes.subarray(0, size) };
  }

  read(begin: number, end: number, options: ReadOptions = {}): Promise<Uint8Array> {
    const work = this.#queue.then(() => this.#read(begin, end, options));
    this.#queue = work.catch(() => undefined);
    return work;
  }

  async peek(begin: number, end: number): Promise<Uint8Array | undefined> {
    const { byteLength, blockByteLength, remote } = this.#parts;
    const isHere = this.#store?.indices.size === Math.ceil(byteLength / blockByteLength);
    return isHere ? undefined : remote.peek(begin, end);
  }

  verify(onBytes?: ReadOptions['onBytes']): Promise<void> {
    this.#verified ??= this.#verify(onBytes);
    return this.#verified;
  }

  close(): void {
    this.#parts.remote.close();
  }

  async #verify(onBytes: ReadOptions['onBytes']): Promise<void> {
    const { integrity, blockByteLength, onVerified } = this.#parts;
    if (integrity === undefined || this.#isVerified) return;
    const hash = await integrityHash(integrity);
    for (let at = 0; at < this.byteLength; at += blockByteLength) {
      hash.update(await this.read(at, at + blockByteLength, { until: this.byteLength, onBytes }));
    }
    try {
      hash.require(this.url);
    } catch (error) {
      await this.#store?.clear();
      throw error;
    }
    this.#isVerified = true;
    // If that is not kept, all is hashed again next time.
    await onVerified?.().catch(() => undefined);
  }

  async #read(begin: number, end: number, { until = end, onBytes }: ReadOptions) {
    const { blockByteLength: size } = this.#parts;
    const stop = Math.min(end, this.byteLength);
    const pieces: Uint8Array[] = [];
    for (let at = begin; at < stop; ) {
      const index = Math.floor(at / size);
      const block = await this.#block(index, until);
      const piece = block.subarray(at - index * size, stop - index * size);
      if (piece.byteLength === 0) break;
      pieces.push(piece);
      onBytes?.(piece.byteLength);
      at += piece.byteLength;
    }
    // A copy: the block it is of stays here.
    return pieces[0] !== undefined && pieces.length === 1 ? pieces[0].slice() : concatenate(pieces);
  }

  async #block(index: number, until: number): Promise<Uint8Array> {
    if (this.#last?.index === index) return this.#last.bytes;
    const kept = await this.#store?.read(index);
    if (kept === undefined && this.#isVerified) throw lostBlock(this.url);
    const bytes = kept ?? (await this.#fetch(index, until));
    this.#last = { index, bytes };
    return bytes;
  }

  async #fetch(index: number, until: number): Promise<Uint8Array> {
    const { blockByteLength: size, remote } = this.#parts;
    const kept = this.#store?.indices;
    // One request for all blocks up to the next that is there.
    let behind = index + 1;
    while (behind * size < Math.min(until, this.byteLength) && kept?.has(behind) !== true) behind++;
    const end = Math.min((index + 1) * size, this.byteLength);
    const bytes = await remote.read(index * size, end, Math.min(behind * size, this.byteLength));
    await this.#keep(index, bytes);
    return bytes;
  }

  async #keep(index: number, bytes: Uint8Array): Promise<void> {
    const store = this.#store;
    try {
      await store?.write(index, bytes);
    } catch (error) {
      if (error instanceof StorageError) throw error;
      // Another tab has the file open, or somebody removes it: this load goes on without it.
      const { integrity, remote } = this.#parts;
      const isHeld = integrity !== undefined || remote.hasRanges === false;
      this.#store = isHeld ? new MemoryBlocks(store) : undefined;
      await this.#store?.write(index, bytes);
    }
  }
}

/** What would be fetched in its place has no known hash. */
function lostBlock(url: string): DownloadError {
  return new DownloadError(
    {
      where: url,
      got: 'a kept block that changed since it was checked',
      expected: 'the bytes that were checked',
      remedy: 'Load it again.',
    },
    { details: { url } },
  );
}
