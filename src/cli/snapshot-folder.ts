import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openSnapshotStore, type SnapshotFiles, type SnapshotStore } from '../client/index.ts';

/**
 * A store of the latest snapshot in a folder, which is made if need be. One process at a time may
 * write to it. Rejects with the errors of the file system.
 */
export async function folderStore(folder: string): Promise<SnapshotStore> {
  await mkdir(folder, { recursive: true });
  return openSnapshotStore(new FolderFiles(folder));
}

class FolderFiles implements SnapshotFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async read(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    try {
      return new Uint8Array(await readFile(join(this.#folder, name)));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const file = await open(join(this.#folder, name), 'w');
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#folder, name), { force: true });
  }
}
