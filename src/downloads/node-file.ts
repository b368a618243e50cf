import { DownloadError, UsageError } from '../core/errors.ts';
import { nodeBuiltin } from '../core/node-builtin.ts';

/** Node reads less than 2 GiB at a time. */
const MAX_READ = 2 ** 30;

/** Bytes of a file, fewer where it ends before. Rejects with DownloadError. */
export async function readFileRange(
  url: string,
  { byteOffset, byteLength }: { readonly byteOffset: number; readonly byteLength: number },
): Promise<Uint8Array> {
  const file = await openNodeFile(url);
  try {
    // A damaged model may ask for more than there is memory.
    const left = Math.max((await file.stat()).size - byteOffset, 0);
    const bytes = new Uint8Array(Math.min(byteLength, left));
    let loaded = 0;
    for (let count = -1; loaded < bytes.byteLength && count !== 0; loaded += count) {
      const length = Math.min(bytes.byteLength - loaded, MAX_READ);
      count = (await file.read(bytes, loaded, length, byteOffset + loaded)).bytesRead;
    }
    return bytes.subarray(0, loaded);
  } finally {
    await file.close();
  }
}

/** A handle of a file by its URL. Rejects with DownloadError, whose `details.fault` is Node's code. */
export async function openNodeFile(url: string) {
  if (nodeBuiltin === undefined) throw new UsageError('Only Node, Deno and Bun read files.');
  try {
    const path = nodeBuiltin('node:url').fileURLToPath(url);
    const file = await nodeBuiltin('node:fs/promises').open(path);
    if (!(await file.stat()).isDirectory()) return file;
    await file.close();
  } catch (cause) {
    throw unreadable(url, cause);
  }
  throw unreadable(url, { code: 'EISDIR' });
}

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'a folder',
  EACCES: 'no permission to read it',
};

function unreadable(url: string, cause: unknown): DownloadError {
  const code = (cause as { readonly code?: unknown }).code;
  const fault = typeof code === 'string' ? (FAULTS[code] ?? code) : String(cause);
  return new DownloadError(
    { where: url, got: fault, expected: 'a file with a program' },
    { cause, details: { url, ...(typeof code === 'string' ? { code } : {}) } },
  );
}
