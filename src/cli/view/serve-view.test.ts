import { request } from 'node:http';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import type { FromCompiler } from '../../worker/compile/compile-protocol.ts';
import { PassService } from '../../worker/compile/pass-service.ts';
import type { ServedPage } from '../serve/serve-package.ts';
import { serveView, sourceOf } from './view-command.ts';

let folder: string;
let view: ServedPage;

const external = (location: string, byteOffset: number) => ({
  dtype: 'float32' as const,
  shape: [2],
  place: { location, offset: String(byteOffset), length: '8' },
});
const MODEL = writeOnnxModel({
  inputs: [{ name: 'x', shape: [2] }],
  externalInitializers: {
    a: external('model.onnx.data', 0),
    b: external('./parts/b & c.data', 8),
  },
  nodes: [
    { op: 'Mul', inputs: ['x', 'a'], outputs: ['m'] },
    { op: 'Add', inputs: ['m', 'b'], outputs: ['y'] },
  ],
  outputs: ['y'],
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-view-'));
  const files = `${join(folder, 'package')}/`;
  for (const name of ['package', 'parts']) await mkdir(join(folder, name));
  await writeFile(`${files}inspector.js`, 'export {};');
  await writeFile(join(folder, 'model.onnx'), MODEL);
  await writeFile(join(folder, 'model.onnx.data'), Float32Array.of(2, 3));
  await writeFile(join(folder, 'parts/b & c.data'), Float32Array.of(0, 0, 10, 20));
  await writeFile(join(folder, 'secret.data'), 'not named by the model');
  const executable = Uint8Array.of(1, 2, 3);
  const source = await sourceOf(join(folder, 'model.onnx'), { n: 2 });
  view = await serveView({ executable, title: 'net.weft', source, device: 'host', port: 0, files });
});

afterAll(async () => {
  await view.close();
  await rm(folder, { recursive: true });
});

/** The status of a request by exactly this path, with a Host header of one's own. */
function status(path: string, host?: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(view.url);
    const headers = host === undefined ? {} : { host };
    request({ hostname, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

test('the page comes with the program and a strict policy', async () => {
  const page = await fetch(view.url);
  expect(await page.text()).toContain('<script type="module" src="/view.js">');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
  const program = await (await fetch(`${view.url}program.weft`)).arrayBuffer();
  expect([...new Uint8Array(program)]).toEqual([1, 2, 3]);
  expect(await (await fetch(`${view.url}view.json`)).json()).toEqual({
    title: 'net.weft',
    device: 'host',
    dims: { n: 2 },
    isText: false,
  });
  const source = await (await fetch(`${view.url}beside/model`)).arrayBuffer();
  expect(new Uint8Array(source)).toEqual(MODEL);
  expect(await (await fetch(`${view.url}files/inspector.js`)).text()).toBe('export {};');
});

test('the compiler of the view of passes reads tensors beside the model', async () => {
  const answers: FromCompiler[] = [];
  const question = { kind: 'passes', model: MODEL, file: 'model.onnx', dims: {} } as const;
  const passes = new PassService((answer) => answers.push(answer));
  await passes.answer({ ...question, url: `${view.url}beside/model`, files: undefined });
  expect(answers.at(-1)).toMatchObject({ kind: 'passes' });
  const head = { method: 'HEAD' };
  const { status: found, body } = await fetch(`${view.url}beside/model.onnx.data`, head);
  expect([found, body]).toEqual([200, null]);
});

test('a file that is gone is not there', async () => {
  const data = join(folder, 'model.onnx.data');
  const elsewhere = join(folder, 'gone.data');
  await rename(data, elsewhere);
  try {
    expect(await status('/beside/model.onnx.data')).toBe(404);
    const question = { kind: 'passes', model: MODEL, file: 'model.onnx', dims: {} } as const;
    const url = `${view.url}beside/model`;
    const answer = new PassService(() => undefined).answer({ ...question, url, files: undefined });
    await expect(answer).rejects.toThrow(`${view.url}beside/model.onnx.data: got HTTP 404`);
  } finally {
    await rename(elsewhere, data);
  }
});

test.each([
  '/beside/secret.data',
  '/beside/model.onnx',
  '/beside/parts/',
  '/beside/../secret.data',
  '/beside/parts/%2e%2e/secret.data',
  '/beside/parts%2f..%2fsecret.data',
  '/files/../../etc/passwd',
  '/files/%2e%2e/%2e%2e/etc/passwd.js',
  '/files/..%2f..%2fx.js',
  '/files/none.js',
  '/files/%zz.js',
  '/other',
  '//',
])('%s is not served', async (path) => {
  expect(await status(path)).toBe(404);
});

test('names that are not of loopback are refused', async () => {
  expect(await status('/', 'attacker.example')).toBe(421);
  expect(await status('/', 'localhost:80')).toBe(200);
});
