import { expect, test, vi } from 'vitest';
import type { DataBlock } from '../../bytecode/file/executable-reader.ts';
import { loadProgram } from '../sources/load-program.ts';
import type { LoadRequest } from '../protocol/load-request.ts';
import type { WireSource } from '../protocol/wire-source.ts';
import { addWeights } from '../testing/test-programs.ts';
import type { WeightFolder } from './weight-files.ts';
import { WeightSource } from './weight-source.ts';

const FILE = addWeights(1000).toBytes();
const live = () => new AbortController().signal;

/** A folder in memory that takes so many bytes, and what happened in it. */
function folder(capacity = Number.POSITIVE_INFINITY) {
  const files = new Map<string, Uint8Array>();
  const log: string[] = [];
  const made: WeightFolder = {
    create: async (name) => {
      const bytes = new Uint8Array(1 << 16);
      files.set(name, bytes);
      return {
        write(given, { at }) {
          if (at + given.byteLength > capacity) throw new Error('quota');
          bytes.set(given, at);
          return given.byteLength;
        },
        read(target, { at }) {
          log.push('read');
          target.set(bytes.subarray(at, at + target.byteLength));
          return target.byteLength;
        },
        close: () => log.push('close'),
      };
    },
    remove: async (name) => {
      files.delete(name);
    },
  };
  return { folder: made, files, log };
}

function requestOf(source: WireSource): LoadRequest {
  return { source, device: 'host', dims: {} };
}

/** A source after its first load. */
async function opened(source: WireSource, files?: WeightFolder): Promise<WeightSource> {
  const request = requestOf(source);
  const program = await loadProgram(request, { signal: live(), onProgress: () => undefined });
  const weights = new WeightSource({ request, hashes: program.dataHashes, folder: files });
  await bytesOf(weights.keep(program.blocks));
  return weights;
}

async function bytesOf(blocks: AsyncIterable<DataBlock>): Promise<Uint8Array> {
  const all = new Uint8Array(4096);
  let end = 0;
  for await (const { byteOffset, bytes } of blocks) {
    all.set(bytes, byteOffset);
    end = byteOffset + bytes.byteLength;
  }
  return all.subarray(0, end);
}

const weightBytes = new Uint8Array(Float32Array.from({ length: 1000 }, (_, i) => i % 1000).buffer);
const blob = (bytes: Uint8Array): Blob => new Blob([bytes.slice()]);

test('a blob and bytes are read again', async () => {
  for (const source of [
    { kind: 'blob', blob: blob(FILE) },
    { kind: 'bytes', bytes: FILE },
  ] as const) {
    const weights = await opened(source);
    for (let i = 0; i < 3; i++) expect(await bytesOf(weights.read(live()))).toEqual(weightBytes);
  }
});

test('a stream is kept', async () => {
  const weights = await opened({ kind: 'stream', stream: blob(FILE).stream() });
  for (let i = 0; i < 2; i++) expect(await bytesOf(weights.read(live()))).toEqual(weightBytes);
});

test('a file takes the place of the source, and goes with the session', async () => {
  const { folder: files, files: all, log } = folder();
  const weights = await opened({ kind: 'bytes', bytes: FILE }, files);
  expect(all.size).toBe(1);
  expect(await bytesOf(weights.read(live()))).toEqual(weightBytes);
  expect(log).toEqual(['read']);
  await weights.dispose();
  expect(all.size).toBe(0);
  expect(log).toEqual(['read', 'close']);
});

test('a file that is full or was changed leaves another way', async () => {
  const full = folder(100);
  const stream = blob(FILE).stream();
  const kept = await opened({ kind: 'stream', stream }, full.folder);
  expect(await bytesOf(kept.read(live()))).toEqual(weightBytes);
  expect(full.files.size).toBe(0);

  const damaged = folder();
  const weights = await opened({ kind: 'blob', blob: blob(FILE) }, damaged.folder);
  for (const bytes of damaged.files.values()) bytes[5] = 77;
  expect(await bytesOf(weights.read(live()))).toEqual(weightBytes);
  expect(damaged.files.size).toBe(0);
});

test('weights that cannot be had any more are an error, never other weights', async () => {
  const { folder: files, files: all } = folder();
  const stream = blob(FILE).stream();
  const weights = await opened({ kind: 'stream', stream }, files);
  for (const bytes of all.values()) bytes[5] = 77;
  await expect(bytesOf(weights.read(live()))).rejects.toThrow(
    'the kept weights of a session: got other weights than when the session was loaded, ' +
      'expected the same bytes. Load the session again.',
  );

  let served = FILE;
  const get = vi.fn(async () => new Response(blob(served)));
  vi.stubGlobal('fetch', get);
  const url = 'https://example.test/model.weft';
  const fetched = await opened({ kind: 'url', url });
  expect(await bytesOf(fetched.read(live()))).toEqual(weightBytes);
  served = addWeights(999).toBytes();
  await expect(bytesOf(fetched.read(live()))).rejects.toThrow(`${url}: got other weights`);
  expect(get).toHaveBeenCalledTimes(3);
  vi.unstubAllGlobals();
});
