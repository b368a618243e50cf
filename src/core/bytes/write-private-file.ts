/** `FileSystemFileHandle` in the private file system of an origin, each of whose ways to write some thread or browser lacks. */
interface WritablePrivateFile {
  /** Only dedicated workers have this method. */
  createSyncAccessHandle?(): Promise<SyncAccessHandle>;
  /** Safari before 26 lacks this method. */
  createWritable?(): Promise<FileSystemWritableFileStream>;
}

/** `FileSystemSyncAccessHandle`, which the types of pages leave out. */
interface SyncAccessHandle {
  write(bytes: Uint8Array): number;
  truncate(byteLength: number): void;
  flush(): void;
  close(): void;
}

/**
 * Replaces what is in a file. False where this thread cannot write files. Rejects with the DOMException of the file system,
 * QuotaExceededError too where only a part was written.
 */
export async function writePrivateFile(
  handle: WritablePrivateFile,
  bytes: Uint8Array,
): Promise<boolean> {
  const file = await handle.createSyncAccessHandle?.();
  if (file !== undefined) {
    writeAtOnce(file, bytes);
    return true;
  }
  const writable = await handle.createWritable?.();
  if (writable === undefined) return false;
  try {
    await writable.write(bytes as Uint8Array<ArrayBuffer>);
  } catch (error) {
    await writable.abort().catch(() => undefined);
    throw error;
  }
  await writable.close();
  return true;
}

function writeAtOnce(file: SyncAccessHandle, bytes: Uint8Array): void {
  try {
    file.truncate(0);
    const written = file.write(bytes);
    if (written < bytes.byteLength) {
      const message = `${written} of ${bytes.byteLength} bytes were written`;
      throw new DOMException(message, 'QuotaExceededError');
    }
    file.flush();
  } finally {
    file.close();
  }
}
