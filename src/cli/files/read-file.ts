import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UsageError } from '../../core/errors.ts';
import type { ExternalDataReader } from '../../frontend/index.ts';

/** A file's bytes. Throws UsageError when it cannot be read. */
export async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

/** The first bytes of a file. Throws UsageError when it cannot be read. */
export async function readStart(path: string, byteLength: number): Promise<Uint8Array> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { bytesRead, buffer } = await file.read(new Uint8Array(byteLength), 0, byteLength, 0);
    return buffer.subarray(0, bytesRead);
  } catch (cause) {
    throw unreadable(path, cause);
  } finally {
    await file?.close();
  }
}

function unreadable(path: string, cause: unknown): UsageError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  return new UsageError(
    { where: path, got: READ_FAULTS[code] ?? code, expected: 'a file that can be read' },
    { cause },
  );
}

/** Reads pieces of files beside a model, wherever they lie in a file. */
export function siblingReader(model: string): ExternalDataReader {
  return (path, { byteOffset, byteLength }) => {
    const file = join(dirname(model), path);
    let descriptor: number | undefined;
    try {
      descriptor = openSync(file, 'r');
      // A damaged model may ask for more than there is memory.
      const left = Math.max(fstatSync(descriptor).size - byteOffset, 0);
      const bytes = new Uint8Array(Math.min(byteLength, left));
      for (let loaded = 0; loaded < bytes.byteLength; ) {
        const length = Math.min(bytes.byteLength - loaded, MAX_READ);
        const count = readSync(descriptor, bytes, loaded, length, byteOffset + loaded);
        if (count === 0) return bytes.subarray(0, loaded);
        loaded += count;
      }
      return bytes;
    } catch (cause) {
      throw unreadable(file, cause);
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  };
}

/** Node reads less than 2 GiB at a time. */
const MAX_READ = 2 ** 30;

const READ_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'a folder',
  EACCES: 'no permission',
};
