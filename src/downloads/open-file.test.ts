import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { seededRandom } from '../core/random.ts';
import { modelCache } from './model-cache.ts';
import { fileExists, openFile, type OpenFileOptions } from './open-file.ts';
import { type RangeFile, readWhole, streamOf } from './range-file.ts';
import { FileServer } from './testing/file-server.ts';
import { MemoryFolder } from './testing/memory-folders.ts';

const QUICK = { blockByteLength: 1000, retryMs: 1 } satisfies OpenFileOptions;

let server: FileServer;
beforeAll(async () => {
  server = await FileServer.start();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.files.clear();
  server.requests.length = 0;
});
afterEach(() => vi.unstubAllGlobals());

/** The private files of a browser from now on: with room for so many bytes, of which it says a number. */
function giveFiles({ free = Infinity, told = 1e9 } = {}): void {
  const root = new MemoryFolder({ free });
  const storage = {
    getDirectory: async () => root,
    estimate: async () => ({ quota: told, usage: 0 }),
  };
  vi.stubGlobal('navigator', { storage });
}

function randomBytes(length: number, seed = 1): Uint8Array {
  const random = seededRandom(seed);
  return Uint8Array.from({ length }, () => random() * 256);
}

async function open(path: string, options: OpenFileOptions = {}): Promise<RangeFile> {
  const file = await openFile(server.url(path), { ...QUICK, ...options });
  if (file === undefined) throw new Error('no such file');
  return file;
}

const bytes = randomBytes(10_300);
const sha256 = `sha256-${createHash('sha256').update(bytes).digest('base64')}`;

/** The requests since the last call: `GET 0-999`. */
function asked(): string[] {
  const lines = server.requests.map(
    ({ method, range }) =>
      `${method}${range === undefined ? '' : ` ${range.replace('bytes=', '')}`}`,
  );
  server.requests.length = 0;
  return lines;
}

test('ranges are read, and those that follow each other come with one request', async () => {
  server.serve('m', bytes, { etag: '"1"' });
  const file = await open('m');
  expect(file.byteLength).toBe(bytes.byteLength);
  expect(await file.read(10, 30)).toEqual(bytes.subarray(10, 30));
  expect(asked()).toEqual(['GET 0-999']);
  let byteCount = 0;
  const onBytes = (count: number): void => void (byteCount += count);
  const until = 9000;
  expect(await file.read(1500, 3700, { until, onBytes })).toEqual(bytes.subarray(1500, 3700));
  expect(await file.read(3700, 9000, { until, onBytes })).toEqual(bytes.subarray(3700, 9000));
  expect(byteCount).toBe(7500);
  expect(asked()).toEqual(['GET 1000-8999']);
  expect(await file.read(10_000, 99_999)).toEqual(bytes.subarray(10_000));
  expect(asked()).toEqual(['GET 10000-10299']);
});

test('a few bytes come by a request of their own, of a server with ranges that has more to send', async () => {
  giveFiles();
  const served = server.serve('m', bytes, { etag: '"1"' });
  const file = await open('m');
  asked();
  expect(await file.peek?.(5000, 5010)).toEqual(bytes.subarray(5000, 5010));
  expect(await file.peek?.(10_290, 10_400)).toEqual(bytes.subarray(10_290));
  expect(asked()).toEqual(['GET 5000-5009', 'GET 10290-10399']);
  served.etag = '"2"';
  await expect(file.peek?.(5000, 5010)).rejects.toThrow('another version of the file');
  served.etag = '"1"';
  served.hasRanges = false;
  expect(await file.peek?.(5000, 5010)).toBeUndefined();
  await readWhole(file);
  asked();
  // All bytes are here; then none is, but the server sends no ranges.
  expect(await file.peek?.(5000, 5010)).toBeUndefined();
  expect(asked()).toEqual([]);
  const whole = await open('m', { cache: false });
  asked();
  expect(await whole.peek?.(5000, 5010)).toBeUndefined();
  expect(asked()).toEqual([]);
});

test.each([true, false])('a server that sends ranges no more, kept: %s', async (isKept) => {
  if (isKept) giveFiles();
  const served = server.serve('m', bytes, { etag: '"1"' });
  const file = await open('m');
  served.hasRanges = false;
  expect(await readWhole(file)).toEqual(bytes);
  expect(asked()).toEqual(['GET 0-999', 'GET 1000-10299']);
});

test('a file that is not there is undefined; other answers are errors with the status', async () => {
  expect(await openFile(server.url('none'), QUICK)).toBeUndefined();
  server.serve('m', bytes, { status: 403 });
  await expect(open('m')).rejects.toMatchObject({
    name: 'DownloadError',
    message: `${server.url('m')}: got HTTP 403 Forbidden, expected bytes of the file.`,
    details: { status: 403 },
  });
  await expect(openFile('http://127.0.0.1:9/m', QUICK)).rejects.toThrow(
    'http://127.0.0.1:9/m: got no answer, expected bytes of the file. Check the address',
  );
});

test('a server that compresses is asked for the whole file', async () => {
  server.serve('m', bytes, { etag: '"1"', isCompressed: true });
  const file = await open('m');
  expect(asked()).toEqual(['GET 0-999', 'GET']);
  expect(await readWhole(file)).toEqual(bytes);
  expect(await file.read(5000, 5010)).toEqual(bytes.subarray(5000, 5010));
  expect(asked()).toEqual([]);
});

test('a connection that breaks is taken up where it broke', async () => {
  const served = server.serve('m', bytes, { etag: '"1"' });
  const file = await open('m');
  asked();
  served.cutAfter = 2500;
  expect(await readWhole(file)).toEqual(bytes);
  const [first, ...more] = asked();
  expect(first).toBe('GET 1000-10299');
  expect(more.map((line) => Number(/ (\d+)-/.exec(line)?.[1]))).toEqual([3500, 6000, 8500]);
});

test('a connection may break any number of times, as long as bytes come between', async () => {
  const served = server.serve('m', bytes, { etag: '"1"' });
  const file = await open('m');
  served.cutAfter = 150;
  // A block of 1000 bytes breaks six times.
  expect(await readWhole(file)).toEqual(bytes);
});

test('it is given up after five tries without a byte, and says how far it came', async () => {
  const served = server.serve('m', bytes, { etag: '"1"' });
  const file = await open('m');
  asked();
  served.status = 503;
  await expect(readWhole(file)).rejects.toThrow(
    `got 1000 of 10300 bytes, then HTTP 503 Service Unavailable, 5 times, expected all bytes. Load it again`,
  );
  expect(asked()).toHaveLength(5);
});

test.each([
  ['obeys If-Range', true],
  ['ignores it', false],
])('two versions of a file do not mix, where the server %s', async (_, minds) => {
  const served = server.serve('m', bytes, { etag: '"1"', minds });
  const file = await open('m');
  served.bytes = randomBytes(10_300, 2);
  served.etag = '"2"';
  await expect(readWhole(file)).rejects.toThrow(
    'got another version of the file than at the begin of the download',
  );
});

test('a signal ends a read', async () => {
  const served = server.serve('m', bytes, { etag: '"1"' });
  const aborter = new AbortController();
  const file = await open('m', { signal: aborter.signal, retryMs: 10_000 });
  served.cutAfter = 1500;
  const reading = readWhole(file);
  await expect.poll(() => server.requests.length).toBe(2);
  aborter.abort(new Error('enough'));
  await expect(reading).rejects.toThrow('enough');
});

test('a server without ranges is read once, in whatever order', async () => {
  server.serve('m', bytes, { hasRanges: false });
  const file = await open('m');
  expect(await file.read(5000, 6000)).toEqual(bytes.subarray(5000, 6000));
  expect(await file.read(1000, 5000)).toEqual(bytes.subarray(1000, 5000));
  expect(await readWhole(file)).toEqual(bytes);
  // Behind block 5 the first answer goes on; blocks 1 to 4, which were read over, take a second one.
  expect(asked().length).toBeLessThanOrEqual(3);
});

test('the length may be nowhere in the answers', async () => {
  server.serve('m', bytes, { hasRanges: false, saysLength: false });
  expect(await readWhole(await open('m'))).toEqual(bytes);
  server.serve('m', new Uint8Array(), { hasRanges: false, saysLength: false });
  expect(await readWhole(await open('m'))).toEqual(new Uint8Array());
});

test('a stream gives all bytes', async () => {
  server.serve('m', bytes, { etag: '"1"' });
  const body = await new Response(streamOf(await open('m'), 3000)).arrayBuffer();
  expect(new Uint8Array(body)).toEqual(bytes);
});

test('the hash of all bytes is checked', async () => {
  server.serve('m', bytes);
  expect(await readWhole(await open('m', { integrity: sha256 }))).toEqual(bytes);
  const other = await open('m', { integrity: `sha256-${'A'.repeat(43)}=` });
  await expect(readWhole(other)).rejects.toThrow(
    `got a file of the hash ${sha256}, expected one of`,
  );
  const wrong = await open('m', { integrity: 'md5-AAAA' });
  await expect(readWhole(wrong)).rejects.toThrow(
    'got "md5-AAAA", expected sha256-, sha384- or sha512-',
  );
});

test('in Node files of the disk are read too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weft-files-'));
  try {
    await writeFile(join(folder, 'm'), bytes);
    const url = pathToFileURL(join(folder, 'm')).href;
    const file = await openFile(url, { integrity: sha256 });
    expect(await file?.read(5, 9)).toEqual(bytes.subarray(5, 9));
    await expect(file?.verify()).resolves.toBeUndefined();
    await expect((await openFile(url, { integrity: `sha512-AAAA` }))?.verify()).rejects.toThrow(
      'got a file of the hash',
    );
    expect(await openFile(`${url}.none`)).toBeUndefined();
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a file that is kept is not fetched again while the server says that it is the same', async () => {
  giveFiles();
  const served = server.serve('m', bytes, { etag: '"1"' });
  expect(await readWhole(await open('m'))).toEqual(bytes);
  expect(asked()).toEqual(['GET 0-999', 'GET 1000-10299']);
  expect(await readWhole(await open('m'))).toEqual(bytes);
  expect(asked()).toEqual(['HEAD']);
  expect(await modelCache.list()).toEqual([
    { url: server.url('m'), byteLength: 10_300, storedByteLength: 10_300, etag: '"1"' },
  ]);
  served.bytes = randomBytes(9000, 3);
  served.etag = '"2"';
  expect(await readWhole(await open('m'))).toEqual(served.bytes);
  expect(asked()).toEqual(['HEAD', 'GET 0-999', 'GET 1000-8999']);
  expect(await readWhole(await open('m', { cache: false }))).toEqual(served.bytes);
  expect(asked()).toEqual(['GET 0-999', 'GET 1000-8999']);
});

test('without a connection a whole copy is used, a part of one is not', async () => {
  giveFiles();
  server.serve('m', bytes, { etag: '"1"' });
  await readWhole(await open('m'));
  server.serve('part', bytes, { etag: '"1"' });
  await (await open('part')).read(0, 10);
  const fetchNothing = () => Promise.reject(new TypeError('fetch failed'));
  vi.stubGlobal('fetch', fetchNothing);
  expect(await readWhole(await open('m'))).toEqual(bytes);
  await expect(open('part')).rejects.toThrow('got no answer');
});

test('that there is no such file is known without a connection too', async () => {
  giveFiles();
  expect(await openFile(server.url('m'), QUICK)).toBeUndefined();
  const { fetch } = globalThis;
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed')));
  expect(await openFile(server.url('m'), QUICK)).toBeUndefined();
  expect(await modelCache.list()).toEqual([]);
  vi.stubGlobal('fetch', fetch);
  server.serve('m', bytes, { etag: '"1"' });
  expect(await readWhole(await open('m'))).toEqual(bytes);
});

test('a page in the place of a file counts as no file', async () => {
  const page = new TextEncoder().encode('<!doctype html>');
  server.serve('m', page, { type: 'text/html; charset=utf-8' });
  expect(await openFile(server.url('m'), QUICK)).toBeUndefined();
  expect(await fileExists(server.url('m'))).toBe(false);
  server.serve('m', bytes);
  expect(await fileExists(server.url('m'))).toBe(true);
});

test('blocks of a version that the server does not confirm do not mix with others', async () => {
  giveFiles();
  const served = server.serve('m', bytes, { etag: '"1"' });
  await (await open('m')).read(1000, 4000);
  const { fetch } = globalThis;
  vi.stubGlobal('fetch', (url: string, init: RequestInit) =>
    init.method === 'HEAD' ? Promise.reject(new TypeError('fetch failed')) : fetch(url, init),
  );
  asked();
  // The same one goes on.
  await (await open('m')).read(1000, 5000);
  expect(asked()).toEqual(['GET 0-999', 'GET 4000-4999']);
  served.etag = '"2"';
  served.bytes = randomBytes(10_300, 5);
  expect(await readWhole(await open('m'))).toEqual(served.bytes);
});

test('a download that was given up goes on where it was, by a later load', async () => {
  giveFiles();
  const served = server.serve('m', bytes, { lastModified: 'Wed, 21 Oct 2015 07:28:00 GMT' });
  await (await open('m')).read(1000, 4000);
  await (await open('m')).read(7000, 8000);
  asked();
  expect(await readWhole(await open('m'))).toEqual(bytes);
  expect(asked()).toEqual(['HEAD', 'GET 4000-6999', 'GET 8000-10299']);
  // Another version begins anew.
  await (await open('m')).read(0, 10);
  served.lastModified = 'Thu, 22 Oct 2015 07:28:00 GMT';
  served.bytes = randomBytes(10_300, 4);
  expect(await readWhole(await open('m'))).toEqual(served.bytes);
});

test('blocks that are not what they were are fetched again', async () => {
  const root = new MemoryFolder();
  vi.stubGlobal('navigator', { storage: { getDirectory: async () => root } });
  server.serve('m', bytes, { etag: '"1"' });
  await readWhole(await open('m'));
  const all = await root.getDirectoryHandle('weft-models');
  for await (const [, folder] of all.entries()) {
    if (!(folder instanceof MemoryFolder)) continue;
    for await (const name of folder.keys()) {
      const file = await folder.getFileHandle(name);
      if (name.startsWith('3-')) file.bytes = file.bytes.fill(0, 5, 6);
      if (name.startsWith('7-')) file.bytes = file.bytes.slice(0, 100);
    }
  }
  asked();
  expect(await readWhole(await open('m'))).toEqual(bytes);
  expect(asked()).toEqual(['HEAD', 'GET 3000-3999', 'GET 7000-7999']);
});

test('with a hash nobody is asked, and one copy serves all addresses', async () => {
  giveFiles();
  server.serve('m', bytes);
  const integrity = sha256;
  expect(await readWhole(await open('m', { integrity }))).toEqual(bytes);
  asked();
  expect(await readWhole(await open('other', { integrity }))).toEqual(bytes);
  expect(asked()).toEqual([]);
});

test('a part that is lost after its hash was checked is not taken from a server again', async () => {
  const root = new MemoryFolder();
  vi.stubGlobal('navigator', { storage: { getDirectory: async () => root } });
  const served = server.serve('m', bytes);
  const integrity = sha256;
  await readWhole(await open('m', { integrity }));
  const all = await root.getDirectoryHandle('weft-models');
  for await (const [, folder] of all.entries()) {
    if (!(folder instanceof MemoryFolder)) continue;
    for await (const name of folder.keys()) {
      if (name.startsWith('3-')) (await folder.getFileHandle(name)).bytes.fill(0);
    }
  }
  served.bytes = randomBytes(10_300, 2);
  await expect(readWhole(await open('m', { integrity }))).rejects.toThrow(
    'got a kept block that changed since it was checked, expected the bytes that were checked. Load it again',
  );
  served.bytes = bytes;
  expect(await readWhole(await open('m', { integrity }))).toEqual(bytes);
});

test('bytes of another hash are not kept', async () => {
  giveFiles();
  server.serve('m', bytes);
  const integrity = `sha256-${'A'.repeat(43)}=`;
  await expect(readWhole(await open('m', { integrity }))).rejects.toThrow('got a file of the hash');
  expect(await modelCache.list()).toEqual([]);
});

test('nothing is kept of a file whose server tells no version', async () => {
  giveFiles();
  server.serve('m', bytes);
  await readWhole(await open('m'));
  expect(await modelCache.list()).toEqual([]);
});

test('too little room is an error that says what to do, before the download or in its middle', async () => {
  server.serve('m', bytes, { etag: '"1"' });
  giveFiles({ told: 9000 });
  await expect(open('m')).rejects.toMatchObject({
    name: 'StorageError',
    message: expect.stringContaining(
      'got no room for 10300 bytes more: the browser gives this site 9000, expected room to keep a file of 10300 bytes. Free space on the disk, remove models with modelCache.clear()',
    ) as string,
  });
  giveFiles({ free: 4000 });
  const file = await open('m');
  await expect(readWhole(file)).rejects.toThrow('got no room for 1000 bytes more');
  expect(await readWhole(await open('m', { cache: false }))).toEqual(bytes);
});

test('files are cleared by where they are from', async () => {
  giveFiles();
  for (const path of ['a/m', 'a/n', 'b/m']) {
    server.serve(path, bytes, { etag: '"1"' });
    await readWhole(await open(path));
  }
  await modelCache.clear(server.url('a/'));
  expect((await modelCache.list()).map(({ url }) => url)).toEqual([server.url('b/m')]);
  await modelCache.clear();
  expect(await modelCache.list()).toEqual([]);
});
