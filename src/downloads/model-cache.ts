import { StorageError } from '../core/errors.ts';
import { baseUrl } from '../core/parse-url.ts';
import { allFiles, KeptFile, removeEntry } from './kept-files.ts';

/** A file of a model that the browser keeps, or a part of one. */
interface CachedFile {
  /** The address that it was loaded from. */
  readonly url: string;
  /** The length of the whole file, in bytes. */
  readonly byteLength: number;
  readonly storedByteLength: number;
  /** Its version as the server told it. */
  readonly etag: string | undefined;
  /** The hash that was asked for and found. */
  readonly integrity: string | undefined;
}

/**
 * The files of models that the browser keeps for this site (in OPFS), so that they are downloaded once.
 *
 * ```ts
 * for (const { url, storedByteLength } of await modelCache.list()) show(url, storedByteLength);
 * await modelCache.clear();
 * ```
 */
export interface ModelCache {
  /** The stored files, also of downloads that broke off; none where there are no private files. Rejects with StorageError. */
  list(): Promise<readonly CachedFile[]>;
  /** Removes the files that an address begins with, such as a folder or a file; all of them without one. Rejects with StorageError. */
  clear(url?: string | URL): Promise<void>;
}

/** The files that the browser keeps for this site, see {@link ModelCache}. */
export const modelCache: ModelCache = {
  async list() {
    const files: CachedFile[] = [];
    for await (const { file } of keptFiles()) {
      const { facts, storedByteLength = 0 } = file ?? {};
      if (facts === undefined || facts.isAbsent === true) continue;
      const { url, byteLength, etag, integrity } = facts;
      files.push({ url, byteLength, storedByteLength, etag, integrity });
    }
    return files;
  },
  async clear(url) {
    const begin = url === undefined ? '' : new URL(url, baseUrl()).href;
    const chosen: (() => Promise<unknown>)[] = [];
    for await (const { file, remove } of keptFiles()) {
      if (begin === '' || file?.facts?.url.startsWith(begin) === true) chosen.push(remove);
    }
    for (const remove of chosen) await remove();
  },
};

interface StoredFile {
  /** Undefined where it cannot be read. */
  readonly file: KeptFile | undefined;
  readonly remove: () => Promise<unknown>;
}

/** All files that are kept. Rejects with StorageError. */
async function* keptFiles(): AsyncGenerator<StoredFile> {
  try {
    const all = await allFiles();
    if (all === undefined) return;
    for await (const [name, handle] of all.entries()) {
      if (handle.kind !== 'directory') continue;
      const file = await KeptFile.open(all, name).catch(() => undefined);
      yield { file, remove: () => removeEntry(all, name) };
    }
  } catch (cause) {
    throw new StorageError(
      {
        where: 'modelCache',
        got: String(cause),
        expected: 'private files that can be read',
        remedy: 'Try again, or clear the data of this site in the browser.',
      },
      { cause },
    );
  }
}
