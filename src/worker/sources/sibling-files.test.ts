import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OnnxExternalSpec, writeOnnxModel } from '../../testing/onnx-writer.ts';
import { loadProgram } from './load-program.ts';
import type { WireSource } from '../protocol/wire-source.ts';

const external = (location: string, offset: number): OnnxExternalSpec => ({
  dtype: 'float32',
  shape: [2],
  place: { location, offset: String(offset) },
});

const model = (...locations: readonly string[]): Uint8Array =>
  writeOnnxModel({
    inputs: [{ name: 'x', shape: [2] }],
    externalInitializers: Object.fromEntries(
      locations.map((location, i) => [`w${i}`, external(location, 8 * i)]),
    ),
    nodes: locations.map((_, i) => ({
      op: 'Add',
      inputs: [i === 0 ? 'x' : `y${i - 1}`, `w${i}`],
      outputs: [`y${i}`],
    })),
    outputs: [`y${locations.length - 1}`],
  });

const FILES: Readonly<Record<string, Uint8Array>> = {
  '/models/net.onnx': model('data/all weights#1.bin', 'data/all weights#1.bin'),
  '/models/data/all%20weights%231.bin': new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer),
  '/models/short.onnx': model('data/all weights#1.bin', 'half.bin'),
  '/models/half.bin': new Uint8Array(12),
  '/models/missing.onnx': model('none.bin'),
  '/models/outside.onnx': model('../secret.bin'),
  '/secret.bin': new Uint8Array(8),
};

let server: Server;
let origin = '';
const asked: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const url = request.url ?? '';
    asked.push(url);
    const file = FILES[url];
    response.writeHead(file === undefined ? 404 : 200);
    response.end(file);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  origin = `http://127.0.0.1:${address.port}`;
});

afterAll(() => {
  server.close();
});

async function load(source: WireSource): Promise<Uint8Array> {
  const { signal } = new AbortController();
  const { blocks } = await loadProgram(
    { source, device: 'host', dims: {} },
    { signal, onProgress: () => undefined },
  );
  for await (const { bytes } of blocks) return bytes;
  return new Uint8Array();
}

test('files beside a model are fetched once, relative to its URL', async () => {
  asked.length = 0;
  const data = await load({ kind: 'url', url: `${origin}/models/net.onnx` });
  const floats = [...new Float32Array(data.slice().buffer)];
  expect(floats).toEqual(expect.arrayContaining([1, 2, 3, 4]));
  expect(asked).toEqual(['/models/net.onnx', '/models/data/all%20weights%231.bin']);
});

test.each([
  ['missing.onnx', '/models/none.bin: got HTTP 404 Not Found, expected tensors of the model.'],
  ['short.onnx', 'initializer "w1": got 4 bytes at 8 of half.bin, expected 8 bytes.'],
  [
    'outside.onnx',
    'got tensor data in "../secret.bin", expected a file in the folder of the model',
  ],
])('%s is refused', async (name, message) => {
  await expect(load({ kind: 'url', url: `${origin}/models/${name}` })).rejects.toThrow(message);
  expect(asked).not.toContain('/secret.bin');
});

test('a model without a URL has no files beside it', async () => {
  const bytes = FILES['/models/net.onnx'] ?? new Uint8Array();
  await expect(load({ kind: 'bytes', bytes })).rejects.toThrow(
    'data/all weights#1.bin: got a model that has tensors in this file, but no folder',
  );
});
