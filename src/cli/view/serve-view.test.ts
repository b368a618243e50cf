import { request } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServedPage } from '../serve/serve-package.ts';
import { serveView } from './serve-view.ts';

let folder: string;
let view: ServedPage;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-view-'));
  await writeFile(join(folder, 'inspector.js'), 'export {};');
  const executable = Uint8Array.of(1, 2, 3);
  const files = `${folder}/`;
  const source = { bytes: Uint8Array.of(4, 5), isText: false, dims: { n: 2 } };
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
  const source = await (await fetch(`${view.url}source`)).arrayBuffer();
  expect([...new Uint8Array(source)]).toEqual([4, 5]);
  expect(await (await fetch(`${view.url}files/inspector.js`)).text()).toBe('export {};');
});

test.each([
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
