import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { compile, parseModule } from '../compiler/index.ts';
import { FileServer } from '../downloads/testing/file-server.ts';
import { MemoryFolder } from '../downloads/testing/memory-folders.ts';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import type { LoadProgress } from '../worker/protocol/load-request.ts';
import { type LoadOptions, modelCache, Session, Tensor } from './index.ts';

const sha256 = (bytes: Uint8Array): string =>
  `sha256-${createHash('sha256').update(bytes).digest('base64')}`;

const executable = compile(
  parseModule('def @main(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] { add(%x, %x) }'),
).toBytes();

/** x + w, whose w lies in a file beside the model. */
const model = writeOnnxModel({
  inputs: [{ name: 'x', shape: [2] }],
  externalInitializers: {
    w: { dtype: 'float32', shape: [2], place: { location: 'w.bin', offset: '0' } },
  },
  nodes: [{ op: 'Add', inputs: ['x', 'w'], outputs: ['y'] }],
  outputs: ['y'],
});
const weights = new Uint8Array(Float32Array.of(10, 20).buffer);

let server: FileServer;
beforeAll(async () => {
  server = await FileServer.start();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.files.clear();
  server.requests.length = 0;
  const root = new MemoryFolder();
  vi.stubGlobal('navigator', { storage: { getDirectory: async () => root } });
});
afterEach(() => vi.unstubAllGlobals());

/** Runs the program at an address on 1 and 2. */
async function resultOf(path: string, options: LoadOptions): Promise<readonly number[]> {
  const session = await Session.load(server.url(path), { device: 'host', ...options });
  const [y] = Object.values(await session.run({ x: Tensor.from([1, 2]) }));
  await session.dispose();
  return [...(y?.data ?? [])].map(Number);
}

/** The requests since the last call. */
function asked(): readonly string[] {
  const lines = server.requests.map(({ method, path }) => `${method} ${path}`);
  server.requests.length = 0;
  return lines;
}

test('a file that is kept is asked for once, then for its version', async () => {
  server.serve('m.weft', executable, { etag: '"1"' });
  expect(await resultOf('m.weft', { cache: true })).toEqual([2, 4]);
  expect(asked()).toEqual(['GET m.weft']);
  expect(await resultOf('m.weft', { cache: true })).toEqual([2, 4]);
  expect(asked()).toEqual(['HEAD m.weft']);
  expect(await modelCache.list()).toMatchObject([
    { url: server.url('m.weft'), byteLength: executable.byteLength, etag: '"1"' },
  ]);
});

test('weights beside a model are kept with it, and used without a connection', async () => {
  server.serve('m.onnx', model, { etag: '"1"' });
  server.serve('w.bin', weights, { etag: '"2"' });
  expect(await resultOf('m.onnx', { cache: true })).toEqual([11, 22]);
  expect(asked()).toEqual(['GET m.onnx', 'GET w.bin']);
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed')));
  expect(await resultOf('m.onnx', { cache: true })).toEqual([11, 22]);
});

test('another version on the server takes the place of what is kept', async () => {
  server.serve('m.onnx', model, { etag: '"1"' });
  const served = server.serve('w.bin', weights, { etag: '"2"' });
  await resultOf('m.onnx', { cache: true });
  served.etag = '"3"';
  served.bytes = new Uint8Array(Float32Array.of(100, 200).buffer);
  expect(await resultOf('m.onnx', { cache: true })).toEqual([101, 202]);
});

test('with its hash a kept file is used without asking', async () => {
  server.serve('m.weft', executable);
  const options = { cache: true, integrity: sha256(executable) };
  const reports: LoadProgress[] = [];
  const onProgress = (progress: LoadProgress): void => void reports.push(progress);
  expect(await resultOf('m.weft', { ...options, onProgress })).toEqual([2, 4]);
  const downloads = reports.filter(({ phase }) => phase === 'download');
  expect(downloads.at(-1)).toMatchObject({ loaded: executable.byteLength });
  const counts = downloads.map(({ loaded }) => loaded);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  asked();
  expect(await resultOf('m.weft', options)).toEqual([2, 4]);
  expect(asked()).toEqual([]);
});

test('bytes of another hash are refused, of the model and of the file beside it', async () => {
  server.serve('m.onnx', model);
  server.serve('w.bin', weights);
  const integrity = { 'm.onnx': sha256(model), 'w.bin': sha256(weights) };
  expect(await resultOf('m.onnx', { integrity })).toEqual([11, 22]);
  const wrong = sha256(executable);
  for (const name of ['m.onnx', 'w.bin']) {
    const load = resultOf('m.onnx', { integrity: { ...integrity, [name]: wrong } });
    await expect(load).rejects.toThrow(`expected one of ${wrong}`);
  }
  await expect(resultOf('m.onnx', { integrity: 'md5-AAAA' })).rejects.toThrow(
    'integrity: got "md5-AAAA", expected sha256-, sha384- or sha512- and a hash in base64.',
  );
  expect(await modelCache.list()).toEqual([]);
});

test('hashes of files that are none of the model are refused, with the nearest', async () => {
  server.serve('m.weft', executable);
  server.serve('m.onnx', model);
  server.serve('w.bin', weights);
  const hash = sha256(weights);
  const load = (path: string, ...names: string[]) =>
    resultOf(path, { integrity: Object.fromEntries(names.map((name) => [name, hash])) });
  await expect(load('m.weft', 'n.weft')).rejects.toThrow(
    'integrity, by files: got an unknown option "n.weft", expected only m.weft. Did you mean m.weft?',
  );
  asked();
  await expect(load('m.onnx', 'w.bin', 'v.bin')).rejects.toThrow(
    'got an unknown option "v.bin", expected only m.onnx, w.bin. Did you mean w.bin?',
  );
  // The model names its files: none is asked for, and nothing compiled.
  expect(asked()).toEqual(['GET m.onnx']);
  expect(await load('m.onnx', 'w.bin')).toEqual([11, 22]);
  const alone = { inputs: [{ name: 'x', shape: [2] }], nodes: [], outputs: [] };
  server.serve(
    'a.onnx',
    writeOnnxModel({
      ...alone,
      nodes: [{ op: 'Neg', inputs: ['x'], outputs: ['y'] }],
      outputs: ['y'],
    }),
  );
  await expect(load('a.onnx', 'w.bin')).rejects.toThrow(
    'got an unknown option "w.bin", expected only a.onnx.',
  );
});

test('what has no address cannot be kept', async () => {
  await expect(Session.load(executable, { device: 'host', cache: true })).rejects.toThrow(
    'Session.load, options cache and integrity: got a source that is bytes, expected an address.',
  );
});

test('without room a load that keeps says how much is missing', async () => {
  const root = new MemoryFolder({ free: 100 });
  const estimate = async () => ({ quota: 100, usage: 0 });
  vi.stubGlobal('navigator', { storage: { getDirectory: async () => root, estimate } });
  server.serve('m.weft', executable, { etag: '"1"' });
  await expect(resultOf('m.weft', { cache: true })).rejects.toMatchObject({ name: 'StorageError' });
  expect(await resultOf('m.weft', {})).toEqual([2, 4]);
});
