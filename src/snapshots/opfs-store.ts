import { UnsupportedError, UsageError } from '../core/errors.ts';
import { SNAPSHOT_FOLDER } from '../core/snapshot-folder.ts';
import { writePrivateFile } from '../core/bytes/write-private-file.ts';
import { SnapshotSlots } from './snapshot-slots.ts';
import { withStorageErrors } from './storage-error.ts';
import type { SnapshotFiles } from './store-types.ts';

/** A store in a folder of the private file system. */
export class OpfsStore extends SnapshotSlots {
  /** The name by which another thread of the same origin opens the same store. */
  readonly name: string;

  constructor(name: string, files: SnapshotFiles) {
    super(files);
    this.name = name;
  }
}

/** See `opfsStore`. Pages and workers may have it open at once: they take turns. */
export async function openOpfs(name: string): Promise<OpfsStore> {
  // Node has none.
  const { storage, locks } = Object(globalThis.navigator) as Partial<Navigator>;
  if (storage?.getDirectory === undefined) throw noFileSystem();
  const folder = await withStorageErrors('opfsStore', async () => {
    const root = await storage.getDirectory();
    return openFolder(await root.getDirectoryHandle(SNAPSHOT_FOLDER, { create: true }), name);
  });
  const files = new OpfsFiles(folder, (work) =>
    locks === undefined ? work() : locks.request(`${SNAPSHOT_FOLDER}/${name}`, work),
  );
  return new OpfsStore(name, files);
}

async function openFolder(
  parent: FileSystemDirectoryHandle,
  name: string,
): Promise<FileSystemDirectoryHandle> {
  try {
    return await parent.getDirectoryHandle(name, { create: true });
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new UsageError(
      {
        where: 'opfsStore',
        got: `the name ${JSON.stringify(name)}`,
        expected: 'a name for a folder, without slashes',
      },
      { cause },
    );
  }
}

class OpfsFiles implements SnapshotFiles {
  readonly #folder: FileSystemDirectoryHandle;
  readonly exclude: <T>(work: () => Promise<T>) => Promise<T>;

  constructor(
    folder: FileSystemDirectoryHandle,
    exclude: <T>(work: () => Promise<T>) => Promise<T>,
  ) {
    this.#folder = folder;
    this.exclude = exclude;
  }

  read(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return withStorageErrors(`opfsStore, ${name}`, async () => {
      try {
        const handle = await this.#folder.getFileHandle(name);
        return new Uint8Array(await (await handle.getFile()).arrayBuffer());
      } catch (error) {
        return absent(error);
      }
    });
  }

  write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    return withStorageErrors(`opfsStore, ${name}`, () => this.#write(name, bytes));
  }

  remove(name: string): Promise<void> {
    return withStorageErrors(`opfsStore, ${name}`, async () => {
      try {
        await this.#folder.removeEntry(name);
      } catch (error) {
        absent(error);
      }
    });
  }

  async #write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const handle = await this.#folder.getFileHandle(name, { create: true });
    if (!(await writePrivateFile(handle, bytes))) throw noFileSystem();
  }
}

/** Undefined for a file that does not exist; all else is thrown. */
function absent(error: unknown): undefined {
  if (error instanceof DOMException && error.name === 'NotFoundError') return undefined;
  throw error;
}

function noFileSystem(): UnsupportedError {
  return new UnsupportedError({
    where: 'opfsStore',
    got: 'a page without a private file system that it can write to',
    expected: 'a secure context (https or localhost) of a browser that has one',
    remedy: 'Pass files of your own to openSnapshotStore, such as rows of IndexedDB.',
  });
}
