import { DownloadError, UsageError } from '../core/errors.ts';
import { nodeBuiltin } from '../core/node-builtin.ts';
import type { OpenedSource } from './opened-source.ts';

const CHUNK_BYTE_LENGTH = 1 << 20;

/** Reads a file from its begin. Rejects with DownloadError when it cannot be read. */
export async function openFile(url: string): Promise<OpenedSource> {
  const file = await open(url);
  const { size } = await file.stat();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(CHUNK_BYTE_LENGTH));
      if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
      await file.close();
      controller.close();
    },
    cancel: () => file.close(),
  });
  return { stream, byteLength: size, where: url };
}

/** Bytes of a file, fewer where it ends before. Rejects with DownloadError. */
export async function readFileRange(
  url: string,
  { byteOffset, byteLength }: { readonly byteOffset: number; readonly byteLength: number },
): Promise<Uint8Array> {
  const file = await open(url);
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

/** Node reads less than 2 GiB at a time. */
const MAX_READ = 2 ** 30;

async function open(url: string) {
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
    { cause, details: { url } },
  );
}
