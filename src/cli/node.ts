import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openSnapshotStore } from '../client/snapshots/snapshot-store.ts';
import type { SnapshotFiles, SnapshotStore } from '../snapshots/store-types.ts';
import { withStorageErrors } from '../snapshots/storage-error.ts';

/** Package entry `weft-vm/node`: what needs Node. */

/**
 * A store of the latest snapshot in a folder, which is made if need be. One process at a time may
 * write to it. Rejects with StorageError, as the store does.
 */
export async function folderStore(folder: string): Promise<SnapshotStore> {
  await withStorageErrors(folder, () => mkdir(folder, { recursive: true }));
  return openSnapshotStore(new FolderFiles(folder));
}

class FolderFiles implements SnapshotFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const path = join(this.#folder, name);
    return withStorageErrors(path, async () => {
      try {
        return new Uint8Array(await readFile(path));
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
    });
  }

  write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const path = join(this.#folder, name);
    return withStorageErrors(path, async () => {
      const file = await open(path, 'w');
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
    });
  }

  remove(name: string): Promise<void> {
    const path = join(this.#folder, name);
    return withStorageErrors(path, () => rm(path, { force: true }));
  }
}
