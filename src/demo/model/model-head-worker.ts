import { expose } from 'comlink';
import { DownloadError } from '../../core/errors.ts';
import type { ModelHead } from './model-head.ts';
import { type HeadSource, readModelHead } from './read-model-head.ts';

/** Looks at heads of models beside the page. */
const reader = {
  async ofFile(file: Blob): Promise<ModelHead | string> {
    return orMessage(() =>
      readModelHead({
        byteLength: file.size,
        read: async (begin, end) => new Uint8Array(await file.slice(begin, end).arrayBuffer()),
      }),
    );
  },
  async ofAddress(url: string): Promise<ModelHead | string> {
    return orMessage(async () => readModelHead(await sourceAt(url)));
  },
};

/** So much is asked for first, which tells whether the server sends parts. */
const FIRST_BYTES = 2 ** 16;

/** A file of a server in parts, or all of it where the server sends no parts. Rejects with DownloadError. */
async function sourceAt(url: string): Promise<HeadSource> {
  const first = await fetchRange(url, 0, FIRST_BYTES);
  const bytes = new Uint8Array(await first.arrayBuffer());
  const total = /\/(\d+)$/.exec(first.headers.get('Content-Range') ?? '')?.[1];
  if (first.status !== 206 || total === undefined) {
    const read = async (begin: number, end: number) => bytes.subarray(begin, end);
    return { byteLength: bytes.byteLength, read };
  }
  return {
    byteLength: Number(total),
    async read(begin, end) {
      if (end <= bytes.byteLength) return bytes.subarray(begin, end);
      const part = await fetchRange(url, begin, Math.min(end, Number(total)));
      return new Uint8Array(await part.arrayBuffer());
    },
  };
}

/** Past the browser's cache, which would join parts that a server compressed with the whole file. */
async function fetchRange(url: string, begin: number, end: number): Promise<Response> {
  const headers = { Range: `bytes=${begin}-${end - 1}` };
  const response = await fetch(url, { headers, cache: 'no-store' });
  if (response.ok) return response;
  throw new DownloadError(`The server answered ${response.status} for ${url}.`);
}

/** Errors by their message: a worker passes on no classes. */
async function orMessage(read: () => Promise<ModelHead>): Promise<ModelHead | string> {
  try {
    return await read();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export type ModelHeadReader = typeof reader;

expose(reader);
