import { concatenate } from '../core/bytes/concatenate.ts';
import { DownloadError, StorageError } from '../core/errors.ts';
import { isFile } from '../core/node-builtin.ts';
import { BlockFile } from './block-file.ts';
import { MemoryBlocks } from './block-store.ts';
import { type FileVersion, isSameVersion, isTold } from './file-version.ts';
import { type KeptFacts, type KeptFile, openKeptFile } from './kept-files.ts';
import type { RangeFile } from './range-file.ts';
import { isAbsent, requestVersion } from './range-request.ts';
import { RemoteReader } from './remote-reader.ts';

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
