import { StorageError } from '../core/errors.ts';
import { platformSha256 } from '../core/bytes/platform-sha256.ts';
import { writePrivateFile } from '../core/bytes/write-private-file.ts';
import type { BlockStore } from './block-store.ts';
import type { FileVersion } from './file-version.ts';

/** Facts about a file that is kept in whole or in part; they are stored beside its blocks. */
export interface KeptFacts extends FileVersion {
  readonly url: string;
  readonly byteLength: number;
  readonly blockByteLength: number;
  /** The hash of all bytes that the caller gave, once they have it. */
  readonly integrity?: string | undefined;
  /** The server has no such file: without a connection that is as good to know as the file. */
  readonly isAbsent?: boolean | undefined;
}

/** The folder of all files in the private file system of an origin (OPFS); each has one of its own in it. */
const FOLDER = 'weft-models';
/** The facts without a hash of all bytes, and with it: the second ones are written beside the first, which stay whole. */
const FACTS = ['facts.json', 'verified-facts.json'] as const;

/**
 * A block's file: its number and the SHA-256 of its bytes. A block that was cut off while it was
 * written has another hash.
 */
const BLOCK_FILE = /^(\d+)-([\da-f]{64})$/;

/** A file that is kept block by block, in a folder of its own. */
export class KeptFile implements BlockStore {
  readonly #parent: FileSystemDirectoryHandle;
  readonly #name: string;
  /** Undefined while there is none: it is made with the first thing in it. */
  #folder: FileSystemDirectoryHandle | undefined;
  readonly #hashes = new Map<number, string>();
  #facts: KeptFacts | undefined;
  /** Blocks are there of a version that nobody knows, or that is no longer the file's. */
  #isOutdated = false;

  private constructor(parent: FileSystemDirectoryHandle, name: string) {
    this.#parent = parent;
    this.#name = name;
  }

  /** Rejects with the DOMException of files that are there and cannot be read. */
  static async open(parent: FileSystemDirectoryHandle, name: string): Promise<KeptFile> {
    const file = new KeptFile(parent, name);
    const folder = await parent.getDirectoryHandle(name).catch(absent);
    if (folder === undefined) return file;
    file.#folder = folder;
    file.#facts = (await readFacts(folder, FACTS[1])) ?? (await readFacts(folder, FACTS[0]));
    for await (const entry of folder.keys()) {
      const [, index, hash] = BLOCK_FILE.exec(entry) ?? [];
      if (index === undefined || hash === undefined) continue;
      if (file.#facts === undefined) file.#isOutdated = true;
      else file.#hashes.set(Number(index), hash);
    }
    return file;
  }

  /** Undefined while nothing is kept. */
  get facts(): KeptFacts | undefined {
    return this.#facts;
  }

  get indices(): ReadonlySet<number> {
    return new Set(this.#hashes.keys());
  }

  get storedByteLength(): number {
    const { byteLength = 0, blockByteLength = 1 } = this.#facts ?? {};
    return [...this.#hashes.keys()].reduce(
      (sum, index) =>
        sum + Math.max(0, Math.min(blockByteLength, byteLength - index * blockByteLength)),
      0,
    );
  }

  get isComplete(): boolean {
    return this.#facts !== undefined && this.storedByteLength === this.#facts.byteLength;
  }

  /**
   * Says what the blocks are of. Rejects with StorageError where the rest of them has no room, with another error where the file
   * cannot be kept now.
   */
  async describe(facts: KeptFacts): Promise<void> {
    await requireRoom(facts, facts.byteLength - this.storedByteLength);
    if (this.#isOutdated) await this.clear();
    if (this.#isOutdated) throw new Error('stale blocks');
    const text = JSON.stringify(facts);
    if (text === JSON.stringify(this.#facts)) return;
    const name = FACTS[facts.integrity === undefined ? 0 : 1];
    await this.#write(name, new TextEncoder().encode(text), facts);
    this.#facts = facts;
  }

  async read(index: number): Promise<Uint8Array | undefined> {
    const hash = this.#hashes.get(index);
    const folder = this.#folder;
    if (hash === undefined || folder === undefined) return undefined;
    const name = `${index}-${hash}`;
    try {
      const handle = await folder.getFileHandle(name);
      const bytes = new Uint8Array(await (await handle.getFile()).arrayBuffer());
      if (hex(await platformSha256(bytes)) === hash) return bytes;
      await folder.removeEntry(name);
    } catch {
      // Somebody cleared the folder.
    }
    this.#hashes.delete(index);
    return undefined;
  }

  /** Rejects with StorageError where there is no room. */
  async write(index: number, bytes: Uint8Array): Promise<void> {
    const hash = hex(await platformSha256(bytes));
    if (this.#facts === undefined) throw new Error('internal: a block of no file');
    await this.#write(`${index}-${hash}`, bytes, this.#facts);
    this.#hashes.set(index, hash);
  }

  async clear(): Promise<void> {
    this.#facts = undefined;
    this.#hashes.clear();
    this.#folder = undefined;
    this.#isOutdated = !(await removeEntry(this.#parent, this.#name));
  }

  async #write(name: string, bytes: Uint8Array, facts: KeptFacts): Promise<void> {
    try {
      this.#folder ??= await this.#parent.getDirectoryHandle(this.#name, { create: true });
      const handle = await this.#folder.getFileHandle(name, { create: true });
      if (!(await writePrivateFile(handle, bytes))) {
        throw new Error('Files cannot be written in this thread.');
      }
    } catch (cause) {
      // A part of it would count as the whole.
      await this.#folder?.removeEntry(name).catch(() => undefined);
      if (isQuota(cause)) throw await noRoom(facts, bytes.byteLength, cause);
      throw cause;
    }
  }
}

/** Undefined where there are none, or only a part of them. */
async function readFacts(
  folder: FileSystemDirectoryHandle,
  name: string,
): Promise<KeptFacts | undefined> {
  const file = await (await folder.getFileHandle(name).catch(absent))?.getFile();
  const text = await file?.text();
  try {
    return text === undefined ? undefined : (JSON.parse(text) as KeptFacts);
  } catch {
    return undefined;
  }
}

/** Undefined for what does not exist; all else is thrown. */
function absent(error: unknown): undefined {
  if (error instanceof DOMException && error.name === 'NotFoundError') return undefined;
  throw error;
}

/**
 * The file that is kept under a key: empty if it is new. Undefined where the browser has no private files, or
 * not for this page: outside https and localhost, and in private windows of some.
 */
export async function openKeptFile(key: string): Promise<KeptFile | undefined> {
  const name = hex(await platformSha256(new TextEncoder().encode(key)));
  try {
    const all = await allFiles();
    return all && (await KeptFile.open(all, name));
  } catch {
    return undefined;
  }
}

/** False if some of it stays, such as a file that is open, until somebody clears it again. */
export async function removeEntry(all: FileSystemDirectoryHandle, name: string): Promise<boolean> {
  try {
    await all.removeEntry(name, { recursive: true }).catch(absent);
    return true;
  } catch {
    return false;
  }
}

/** The folder of all kept files; undefined without private files. */
export async function allFiles(): Promise<FileSystemDirectoryHandle | undefined> {
  const { storage } = (globalThis.navigator ?? {}) as {
    readonly storage?: Partial<StorageManager>;
  };
  // Private windows of some browsers refuse it.
  const root = await storage?.getDirectory?.().catch(() => undefined);
  return root?.getDirectoryHandle(FOLDER, { create: true });
}

/** Rejects with StorageError if the browser says that there is less room. */
async function requireRoom(facts: KeptFacts, byteLength: number): Promise<void> {
  const free = await freeBytes();
  if (free !== undefined && free < byteLength) throw await noRoom(facts, byteLength, undefined);
}

async function freeBytes(): Promise<number | undefined> {
  const { quota, usage } = (await navigator.storage.estimate?.().catch(() => undefined)) ?? {};
  return quota === undefined ? undefined : Math.max(0, quota - (usage ?? 0));
}

function isQuota(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === 'QuotaExceededError';
}

async function noRoom(
  { url, byteLength }: KeptFacts,
  needed: number,
  cause: unknown,
): Promise<StorageError> {
  const free = await freeBytes();
  return new StorageError(
    {
      where: url,
      got: `no room for ${needed} bytes more${free === undefined ? '' : `: the browser gives this site ${free}`}`,
      expected: `room to keep a file of ${byteLength} bytes`,
      remedy:
        'Free space on the disk, remove models with modelCache.clear(), ask for more with navigator.storage.persist(), or load with cache: false, which keeps nothing.',
    },
    { cause, details: { url, byteLength, needed } },
  );
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
