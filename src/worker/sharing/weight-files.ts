/** A file that is read and written without waiting, as workers have them. */
export interface WeightFile {
  write(bytes: Uint8Array, options: { readonly at: number }): number;
  read(bytes: Uint8Array, options: { readonly at: number }): number;
  close(): void;
}

/** A folder of files for weights that are not on the device. */
export interface WeightFolder {
  /** A new, empty file. Rejects where the browser gives none. */
  create(name: string): Promise<WeightFile>;
  remove(name: string): Promise<void>;
}

const FOLDER = 'weft-weights';

/** The method of `FileSystemFileHandle` that only dedicated workers have. */
interface WorkerFileHandle {
  createSyncAccessHandle?(): Promise<WeightFile>;
}

interface OriginFolder {
  getFileHandle(name: string, options?: { create?: boolean }): Promise<unknown>;
  removeEntry(name: string): Promise<void>;
  keys(): AsyncIterable<string>;
}

/**
 * A folder in the private files of this origin (OPFS), emptied of what workers left that are gone.
 * Undefined where there are no such files, or not for this thread.
 */
export async function openWeightFolder(): Promise<WeightFolder | undefined> {
  const { storage } = (globalThis.navigator ?? {}) as {
    readonly storage?: Partial<StorageManager>;
  };
  if (storage?.getDirectory === undefined) return undefined;
  try {
    const root = await storage.getDirectory();
    const handle = await root.getDirectoryHandle(FOLDER, { create: true });
    const folder = handle as unknown as OriginFolder;
    // A file that is open cannot be removed: those of other workers stay.
    for await (const name of folder.keys()) await folder.removeEntry(name).catch(() => undefined);
    return {
      create: async (name) => {
        const file = (await folder.getFileHandle(name, { create: true })) as WorkerFileHandle;
        if (file.createSyncAccessHandle !== undefined) return file.createSyncAccessHandle();
        await folder.removeEntry(name);
        throw new Error('Files can be written at once in workers only.');
      },
      remove: (name) => folder.removeEntry(name),
    };
  } catch {
    return undefined;
  }
}
