import { createHash } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { WeftError } from '../core/errors.ts';
import {
  type Fault,
  FaultyFileSystem,
  OPERATIONS,
  PAGE_OPERATIONS,
  WORKER_OPERATIONS,
} from '../testing/faulty-file-system.ts';
import { inTier } from '../testing/tier.ts';
import { modelCache } from './model-cache.ts';
import { openFile, type OpenFileOptions } from './open-file.ts';
import { readWhole } from './range-file.ts';

afterEach(() => vi.unstubAllGlobals());

/** One of so many calls fails. */
const STRIDE = inTier({ quick: 4, long: 1 });

const HOST = 'https://files.test/';
const bytesOf = (seed: number) => Uint8Array.from({ length: 40 }, (_, i) => (i * seed) % 251);
const [FIRST, SECOND, NAMED, KEPT] = [3, 5, 7, 11].map(bytesOf) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
const integrity = `sha256-${createHash('sha256').update(NAMED).digest('base64')}`;

interface Served {
  readonly bytes: Uint8Array;
  readonly etag?: string;
}

/** A server whose files change, and that may be out of reach. */
class Server {
  readonly files = new Map<string, Served>();
  isReached = true;
  requests = 0;

  readonly fetch = async (url: string, { method, headers }: RequestInit = {}) => {
    if (!this.isReached) throw new TypeError('fetch failed');
    this.requests++;
    const file = this.files.get(url.slice(HOST.length));
    if (file === undefined) return new Response(null, { status: 404 });
    const { bytes, etag } = file;
    const told: Record<string, string> = etag === undefined ? {} : { etag };
    const { range = '' } = (headers ?? {}) as { readonly range?: string };
    const [, begin, last] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? [];
    if (method === 'HEAD' || begin === undefined) {
      told['content-length'] = String(bytes.byteLength);
      return new Response(method === 'HEAD' ? null : bytes.slice(), { headers: told });
    }
    const part = bytes.slice(Number(begin), Number(last) + 1);
    const end = Number(begin) + part.byteLength - 1;
    told['content-range'] = `bytes ${begin}-${end}/${bytes.byteLength}`;
    return new Response(part, { status: 206, headers: told });
  };
}

/** All bytes of a file; undefined where there is none. */
async function read(path: string, options: OpenFileOptions = {}): Promise<Uint8Array | undefined> {
  const file = await openFile(HOST + path, { blockByteLength: 16, retryMs: 0, ...options });
  return file && readWhole(file);
}

/** The steps of a page on a disk that is full at some call: each is right, or fails with a typed error and is right then. */
async function live(server: Server, system: FaultyFileSystem, fault: Fault): Promise<string[]> {
  const failures: string[] = [];
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      expect(error).toBeInstanceOf(WeftError);
      failures.push(String(error));
      system.disarm();
    }
    return work();
  };
  server.files.set('kept', { bytes: KEPT, etag: '"k"' });
  server.files.set('m', { bytes: FIRST, etag: '"1"' });
  server.files.set('named', { bytes: NAMED });
  expect(await read('kept')).toEqual(KEPT);
  system.arm(fault.operation, fault.at, fault);
  expect(await step(() => read('m'))).toEqual(FIRST);
  expect(await step(() => read('m'))).toEqual(FIRST);
  server.files.set('m', { bytes: SECOND, etag: '"2"' });
  expect(await step(() => read('m'))).toEqual(SECOND);
  expect(await step(() => read('named', { integrity }))).toEqual(NAMED);
  expect(await step(() => read('named', { integrity }))).toEqual(NAMED);
  expect(await step(() => read('none'))).toBe(undefined);
  const isListed = ({ url }: { url: string }) =>
    ['kept', 'm', 'named'].includes(url.slice(HOST.length));
  expect((await step(() => modelCache.list())).every(isListed)).toBe(true);
  expect(await step(() => read('m'))).toEqual(SECOND);
  return failures;
}

/** What is kept now is whole, or counts as nothing; and what was kept before is there. */
async function expectWhole(server: Server): Promise<void> {
  server.isReached = false;
  expect(await read('kept')).toEqual(KEPT);
  for (const [path, versions, options] of [
    ['m', [FIRST, SECOND], {}],
    ['named', [NAMED], { integrity }],
  ] as const) {
    const offline = await read(path, options).catch((error: unknown) => error);
    if (!(offline instanceof WeftError)) expect(versions).toContainEqual(offline);
  }
  server.isReached = true;
  expect(await read('m')).toEqual(SECOND);
  expect(await read('named', { integrity })).toEqual(NAMED);
  server.isReached = false;
  expect(await read('m')).toEqual(SECOND);
  expect(await read('named', { integrity })).toEqual(NAMED);
}

async function failEverywhere(fault: Omit<Fault, 'at'>, inWorker: boolean): Promise<void> {
  let faults = 0;
  for (let at = 1; ; at += STRIDE) {
    const [server, system] = [new Server(), new FaultyFileSystem({ inWorker })];
    vi.stubGlobal('navigator', { storage: system.storage });
    vi.stubGlobal('fetch', server.fetch);
    const place = `${fault.operation} ${at}`;
    try {
      const failures = await live(server, system, { ...fault, at });
      const hasStruck = failures.length > 0 || system.hasStruck;
      system.disarm();
      await expectWhole(server);
      await modelCache.clear();
      expect(await modelCache.list()).toEqual([]);
      expect([...system.files.keys()]).toEqual([]);
      if (!hasStruck) break;
    } catch (error) {
      throw new Error(place, { cause: error });
    }
    faults++;
  }
  expect(faults).toBeGreaterThan(0);
}

type Way = Omit<Fault, 'operation' | 'at'>;
const FULL: readonly Way[] = [{}, { isLasting: true }];
const IN_USE = FULL.map((way): Way => ({ ...way, name: 'NoModificationAllowedError' }));

const inPage = [...OPERATIONS, 'keys' as const, ...PAGE_OPERATIONS];
const inWorker = [...OPERATIONS, 'keys' as const, ...WORKER_OPERATIONS];

test.each(inPage)('%s may fail anywhere while a page keeps files', async (operation) => {
  const ways = inTier({ quick: FULL.slice(0, 1), long: [...FULL, ...IN_USE] });
  for (const way of ways) await failEverywhere({ operation, ...way }, false);
});

test.each(inWorker)('%s may fail anywhere while a worker keeps files', async (operation) => {
  const ways = inTier({ quick: FULL.slice(1), long: [...FULL, ...IN_USE] });
  for (const way of ways) await failEverywhere({ operation, ...way }, true);
});
