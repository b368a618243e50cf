import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Executable } from '../../bytecode/index.ts';

/**
 * Writes a `.weft` file block by block, so that weights that lie in files need not come into memory
 * together. Resolves to its length in bytes. A file that could not be written whole is removed.
 */
export async function writeExecutable(
  executable: Executable,
  path: string,
  { onBytes }: { readonly onBytes?: (done: number, total: number) => void } = {},
): Promise<number> {
  const chunks = executable.toChunks({
    sha256: (bytes) => createHash('sha256').update(bytes).digest(),
  });
  const file = await open(path, 'w');
  let byteLength = 0;
  try {
    for (const chunk of chunks) {
      // Parts that are not written are zeros, and take no place on most file systems.
      if (!isZero(chunk)) await writeAt(file, chunk, byteLength);
      byteLength += chunk.byteLength;
      onBytes?.(byteLength, Math.max(byteLength, executable.dataByteLength));
    }
    await file.truncate(byteLength);
  } catch (error) {
    await file.close();
    await rm(path, { force: true });
    throw error;
  }
  await file.close();
  return byteLength;
}

async function writeAt(file: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < chunk.byteLength; ) {
    const left = chunk.byteLength - done;
    done += (await file.write(chunk, done, left, position + done)).bytesWritten;
  }
}

function isZero(chunk: Uint8Array): boolean {
  return chunk[0] === 0 && Buffer.compare(chunk.subarray(1), chunk.subarray(0, -1)) === 0;
}
