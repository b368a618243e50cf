import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveFilesCommand, serveFolder } from './serve-command.ts';
import type { ServedPage } from './serve-package.ts';

let outside: string;
let folder: string;
let served: ServedPage;

const options = { port: 0, isIsolated: false, isShared: false };

beforeAll(async () => {
  outside = await mkdtemp(join(tmpdir(), 'weft-serve-'));
  folder = join(outside, 'site');
  await mkdir(join(folder, 'models'), { recursive: true });
  await writeFile(join(outside, 'secret.txt'), 'secret');
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>page</title>');
  await writeFile(join(folder, '.hidden'), 'hidden');
  await writeFile(join(folder, 'models/net.weft'), '0123456789');
  await writeFile(join(folder, 'models/a<b&.onnx'), 'x');
  await writeFile(join(folder, 'run.wasm'), 'wasm');
  await symlink(outside, join(folder, 'up'));
  for (const name of ['linked', 'page', 'both']) await mkdir(join(folder, name));
  for (const name of ['linked/index.html', 'page.html', 'bare.html', 'both/index.htm']) {
    await symlink(join(outside, 'secret.txt'), join(folder, name));
  }
  served = await serveFolder({ ...options, path: folder, policy: "default-src 'self'" });
});

afterAll(async () => {
  await served.close();
  await rm(outside, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${served.url}${path}`, { headers });

test('files have their types, and every answer the policy', async () => {
  const page = await get('');
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  expect(page.headers.get('content-security-policy')).toBe("default-src 'self'");
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  expect((await get('run.wasm')).headers.get('content-type')).toBe('application/wasm');
  const model = await get('models/net.weft');
  expect(model.headers.get('content-type')).toBe('application/octet-stream');
  expect(model.headers.get('access-control-allow-origin')).toBeNull();
});

test('parts of a file, and nothing where it is the same', async () => {
  const part = await get('models/net.weft', { range: 'bytes=2-4' });
  expect(part.status).toBe(206);
  expect(part.headers.get('content-range')).toBe('bytes 2-4/10');
  expect(await part.text()).toBe('234');
  expect((await get('models/net.weft', { range: 'bytes=90-99' })).status).toBe(416);
  const etag = (await get('models/net.weft')).headers.get('etag') ?? '';
  expect(etag).not.toBe('');
  expect((await get('models/net.weft', { 'if-none-match': etag })).status).toBe(304);
});

test('a folder without index.html is a list', async () => {
  const text = await (await get('models/')).text();
  expect(text).toContain('<a href="./net.weft">net.weft</a>');
  expect(text).toContain('>a&lt;b&amp;.onnx</a>');
});

/** The status of a request by exactly this path, with a Host header of one's own. */
function status(path: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(served.url);
    request({ hostname, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

test.each([
  '/.hidden',
  '/../secret.txt',
  '/%2e%2e/secret.txt',
  '/..%2fsecret.txt',
  '/..%5csecret.txt',
  '/up/secret.txt',
  '/up/',
  '/linked/index.html',
  '/bare',
  '/bare.html',
  '/page',
  '/weft-vm/../secret.txt',
  '/weft-vm/..%2f..%2fpackage.json',
  '/none.txt',
  '/%zz',
  '/a%00b',
  '//',
])('%s is not served', async (path) => {
  expect(await status(path)).toBe(404);
});

test.each(['linked/', 'linked', 'page/', 'both/'])('a link is no page of %s', async (path) => {
  expect(await (await get(path)).text()).not.toContain('secret');
});

test('a page of a folder', async () => {
  await writeFile(join(folder, 'models/index.html'), 'models');
  expect(await (await get('models/?x=1')).text()).toBe('models');
  expect((await get('models/a%3Cb&.onnx')).status).toBe(200);
  await rm(join(folder, 'models/index.html'));
});

test('names that are not of loopback are refused', async () => {
  expect(await status('/', { host: 'attacker.example' })).toBe(421);
  expect(await status('/', { host: 'localhost:80' })).toBe(200);
});

test('isolation, other origins, the address of a file, and the end', async () => {
  const stop = new AbortController();
  let out = '';
  const terminal = { out: (text: string) => void (out += text), err() {}, isInteractive: false };
  const flags = { port: 0, csp: 'wasm', isolated: true, cors: true, json: true };
  const path = join(folder, 'models/net.weft');
  const running = serveFilesCommand(path, flags, terminal, stop.signal);
  await expect.poll(() => out).toContain('net.weft');
  const { url, policy } = JSON.parse(out) as { url: string; policy: string };
  expect(policy).toContain("'wasm-unsafe-eval'");
  const { headers, status } = await fetch(url);
  expect(status).toBe(200);
  expect(headers.get('cross-origin-embedder-policy')).toBe('require-corp');
  expect(headers.get('access-control-allow-origin')).toBe('*');
  stop.abort();
  expect(await running).toBe(0);
  await expect(fetch(url)).rejects.toThrow();
});

test('a path that is not there', async () => {
  await expect(serveFolder({ ...options, path: join(folder, 'none') })).rejects.toThrow(
    /none: got no such file, expected a file or a folder/,
  );
});
