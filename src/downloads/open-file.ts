import { concatenate } from '../core/bytes/concatenate.ts';
import { DownloadError, StorageError } from '../core/errors.ts';
import { isFile } from '../core/node-builtin.ts';
import { MemoryBlocks, type BlockStore } from './block-store.ts';
import { type FileVersion, isSameVersion, isTold } from './file-version.ts';
import { type KeptFacts, type KeptFile, openKeptFile } from './kept-files.ts';
import type { RangeFile, ReadOptions } from './range-file.ts';
import { isAbsent, requestVersion } from './range-request.ts';
import { RemoteReader } from './remote-reader.ts';
import { integrityHash } from './integrity.ts';

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
class BlockFile implements RangeFile {
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

export interface OpenFileOptions {
  readonly signal?: AbortSignal | undefined;
  /** Keeps it in the browser's private files, and takes from there what is kept. Default true. */
  readonly cache?: boolean | undefined;
  /** The hash of all bytes, `sha256-…` in base64: they are checked, and a kept file is used without asking the server. */
  readonly integrity?: string | undefined;
  /** For tests. Default 2 MiB. */
  readonly blockByteLength?: number | undefined;
  /** For tests: milliseconds to wait before a broken connection is taken up again. */
  readonly retryMs?: number | undefined;
}

const BLOCK_BYTES = 2 ** 21;

/**
 * Opens a file for reading in ranges: of a server or, in Node, of the disk. Undefined where there is none.
 *
 * A file of a server is kept in the browser's private files (OPFS) as it is read, in blocks, under its address and the
 * version that the server tells by `ETag` or `Last-Modified`, each with its SHA-256; a server that tells neither is not
 * trusted to say that a copy is still good, so such files are not kept. A later load asks the server whether the version
 * is still the same, and fetches what is missing. With `integrity` it asks nothing. Without a connection a file that is
 * whole is used as it is.
 *
 * Rejects with DownloadError, StorageError where there is no room, or the signal's reason.
 */
export async function openFile(
  url: string,
  options: OpenFileOptions = {},
): Promise<RangeFile | undefined> {
  if (isFile(url)) return (await import('./local-file.ts')).openLocalFile(url, options);
  const { cache = true, integrity } = options;
  const kept = cache ? await openKeptFile(integrity ?? url) : undefined;
  const known = await stillGood(kept, url, options);
  if (known === 'absent') return undefined;
  if (known !== undefined) return openKnown(url, { kept, facts: known }, options);
  const file = await openNew(url, kept, options);
  if (file === undefined) await recordAbsence(kept, url);
  return file;
}

async function recordAbsence(kept: KeptFile | undefined, url: string): Promise<void> {
  try {
    await kept?.describe({ url, byteLength: 0, blockByteLength: 1, isAbsent: true });
  } catch {
    // It only helps where there is no connection.
  }
}

/**
 * Resolves to true if there is such a file: asks the server for its version, unless a whole copy is
 * kept. Undefined where the server does not answer. Rejects with DownloadError for an answer other
 * than that there is no such file.
 */
export async function fileExists(
  url: string,
  { cache = true, integrity, signal }: OpenFileOptions = {},
): Promise<boolean | undefined> {
  if (isFile(url)) {
    const { openLocalFile } = await import('./local-file.ts');
    return (await openLocalFile(url, {})) !== undefined;
  }
  const kept = cache ? await openKeptFile(integrity ?? url) : undefined;
  if (kept?.isComplete === true && kept.facts?.isAbsent !== true) return true;
  const version = await requestVersion(url, signal);
  return version === undefined ? undefined : version !== 'absent';
}

/** The facts of the kept file, or `absent` if the server has none; removes one that is outdated. */
async function stillGood(
  kept: KeptFile | undefined,
  url: string,
  { signal, integrity }: OpenFileOptions,
): Promise<KeptFacts | 'absent' | undefined> {
  const facts = kept?.facts;
  if (kept === undefined || facts === undefined) return undefined;
  if (integrity !== undefined && kept.isComplete && facts.integrity === integrity) return facts;
  const now = await requestVersion(url, signal);
  if (facts.isAbsent === true) {
    if (now === undefined || now === 'absent') return 'absent';
    await kept.clear();
    return undefined;
  }
  if (now === undefined) return kept.isComplete && facts.url === url ? facts : undefined;
  if (now !== 'absent' && isTold(now) && isSameVersion(facts, now)) return facts;
  await kept.clear();
  return now === 'absent' ? now : undefined;
}

function openKnown(
  url: string,
  { kept, facts }: { readonly kept: KeptFile | undefined; readonly facts: KeptFacts },
  { signal, retryMs, integrity }: OpenFileOptions,
): RangeFile {
  const { byteLength, blockByteLength } = facts;
  const remote = new RemoteReader(url, { signal, version: facts, isKept: true, retryMs });
  const isVerified =
    integrity !== undefined && facts.integrity === integrity && kept?.isComplete === true;
  return new BlockFile({
    url,
    byteLength,
    blockByteLength,
    store: kept,
    remote,
    integrity,
    isVerified,
    onVerified: () => kept?.describe({ ...facts, integrity }) ?? Promise.resolve(),
  });
}

async function openNew(
  url: string,
  kept: KeptFile | undefined,
  { signal, retryMs, integrity, blockByteLength = BLOCK_BYTES }: OpenFileOptions,
): Promise<RangeFile | undefined> {
  const remote = new RemoteReader(url, { signal, isKept: kept !== undefined, retryMs });
  const first = await firstBlock(remote, blockByteLength);
  if (first === undefined) return undefined;
  const told = await wholeVersion(remote, signal);
  const whole = told === undefined ? await readOn(remote, first) : undefined;
  const version = told ?? { ...remote.version, byteLength: whole?.byteLength ?? 0 };
  const facts = { ...version, url, blockByteLength };
  // The server was silent when it was asked for the version of these blocks.
  if (kept?.facts !== undefined && !isSameVersion(kept.facts, version)) await kept.clear();
  const isKept =
    kept !== undefined &&
    (integrity !== undefined || isTold(version)) &&
    (await canKeep(kept, { ...facts, ...kept.facts }));
  // In memory stay bytes that have to be checked, or that cannot be asked for again.
  const isHeld = integrity !== undefined || whole !== undefined || remote.hasRanges === false;
  const file = new BlockFile({
    url,
    byteLength: version.byteLength,
    blockByteLength: (isKept ? kept.facts : undefined)?.blockByteLength ?? blockByteLength,
    store: isKept ? kept : isHeld ? new MemoryBlocks() : undefined,
    remote,
    integrity,
    onVerified: () => (isKept ? kept.describe({ ...facts, integrity }) : Promise.resolve()),
  });
  await file.adopt(whole ?? first);
  return file;
}

/** False where another tab has its files open. Rejects with StorageError where there is no room. */
async function canKeep(kept: KeptFile, facts: KeptFacts): Promise<boolean> {
  try {
    await kept.describe(facts);
    return true;
  } catch (error) {
    if (error instanceof StorageError) throw error;
    return false;
  }
}

/** The first block, with which the server says what the file is; undefined where there is no such file. */
async function firstBlock(
  remote: RemoteReader,
  blockByteLength: number,
): Promise<Uint8Array | undefined> {
  try {
    return await remote.read(0, blockByteLength);
  } catch (error) {
    if (error instanceof DownloadError && isAbsent(error.details)) return undefined;
    throw error;
  }
}

/** With the length of the file, which another origin may hide in all answers but one. */
async function wholeVersion(
  remote: RemoteReader,
  signal: AbortSignal | undefined,
): Promise<(FileVersion & { readonly byteLength: number }) | undefined> {
  if (remote.byteLength === undefined && remote.hasRanges === true) {
    const version = await requestVersion(remote.url, signal);
    const byteLength = version === 'absent' ? undefined : version?.byteLength;
    remote.version = { ...remote.version, byteLength };
  }
  const { byteLength } = remote;
  return byteLength === undefined ? undefined : { ...remote.version, byteLength };
}

/** All of a file whose length nobody says. */
async function readOn(remote: RemoteReader, first: Uint8Array): Promise<Uint8Array> {
  const pieces = [first];
  let at = first.byteLength;
  while (remote.byteLength === undefined) {
    const piece = await remote.read(at, at + BLOCK_BYTES);
    pieces.push(piece);
    at += piece.byteLength;
  }
  return concatenate(pieces);
}
