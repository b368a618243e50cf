import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Deferred } from '../core/async/deferred.ts';
import { sumAndProduct } from '../worker/testing/test-programs.ts';
import { Session, Tensor } from './index.ts';

const host = { device: 'host' } as const;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-sources-'));
  await writeFile(join(folder, 'sum.weft'), sumAndProduct().toBytes());
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function sumOf(source: string | URL): Promise<unknown> {
  const session = await Session.load(source, host);
  const { sum } = await session.run({ x: Tensor.from([1, 2]), y: Tensor.from([3, 4]) });
  await session.dispose();
  return sum?.toNested();
}

describe('in Node', () => {
  test('paths and file: URLs are read', async () => {
    const path = join(folder, 'sum.weft');
    expect(await sumOf(path)).toEqual([4, 6]);
    expect(await sumOf(relative(process.cwd(), path))).toEqual([4, 6]);
    expect(await sumOf(pathToFileURL(path))).toEqual([4, 6]);
    expect(await sumOf(pathToFileURL(path).href)).toEqual([4, 6]);
  });

  test('files that are not there say so', async () => {
    const missing = pathToFileURL(join(folder, 'no.weft')).href;
    await expect(Session.load(join(folder, 'no.weft'), host)).rejects.toMatchObject({
      name: 'DownloadError',
      message: `${missing}: got no such file, expected a file with a program.`,
    });
    const place = pathToFileURL(folder).href;
    await expect(Session.load(folder, host)).rejects.toThrow(
      `${place}: got a folder, expected a file with a program.`,
    );
  });
});

describe('over HTTP', () => {
  const asked: string[] = [];
  /** `silent.weft` was asked for. */
  const silent = new Deferred();
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    if (url === '/sum.weft') response.end(sumAndProduct().toBytes());
    else if (url === '/silent.weft') {
      response.flushHeaders();
      silent.resolve();
    } else response.writeHead(404, 'Not here').end();
  });
  let origin = '';

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test('a file is asked for once, before the machine is there', async () => {
    asked.length = 0;
    expect(await sumOf(`${origin}/sum.weft`)).toEqual([4, 6]);
    const session = Session.load(`${origin}/sum.weft`, { ...host, threads: 1 });
    await (await session).dispose();
    expect(asked).toEqual(['/sum.weft', '/sum.weft']);
  });

  test('what the server refuses is told once, whatever the options are', async () => {
    const missing = `${origin}/no.weft`;
    await expect(Session.load(missing, host)).rejects.toMatchObject({
      name: 'DownloadError',
      message: `${missing}: got HTTP 404 Not here, expected the bytes of a program.`,
    });
    await expect(Session.load(missing, { ...host, threads: 0 })).rejects.toThrow(
      'expected an integer from 1 to 64',
    );
    await expect(Session.load('http://127.0.0.1:9/none.weft', host)).rejects.toMatchObject({
      name: 'DownloadError',
      message: expect.stringContaining('got no answer, expected the bytes of a program.'),
    });
  });

  test('an aborted load ends a request whose answer is not read yet', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const loading = Session.load(`${origin}/silent.weft`, { ...host, signal });
    await silent.promise;
    controller.abort(new Error('enough'));
    await expect(loading).rejects.toThrow('enough');
  });
});

describe('sources', () => {
  test('that are no address', async () => {
    await expect(Session.load('http://[::bad', host)).rejects.toMatchObject({
      name: 'UsageError',
      message: 'URL: got "http://[::bad", expected an address such as /models/m.weft.',
    });
  });

  test.each([
    ['null', null],
    ['undefined', undefined],
    ['5', 5],
    ['{}', {}],
    ['[1,2,3]', [1, 2, 3]],
    ['a Float32Array', new Float32Array(4)],
  ])('that are none: %s', async (got, source) => {
    await expect(Session.load(source as never, host)).rejects.toMatchObject({
      name: 'UsageError',
      message: `Session.load: got ${got}, expected a URL, an ArrayBuffer, a Uint8Array, a Blob, a stream or a Response.`,
    });
  });
});

describe('sizes that name nothing', () => {
  test('are refused for an executable', async () => {
    const loading = Session.load(sumAndProduct().toBytes(), { ...host, dims: { n: 3 } });
    await expect(loading).rejects.toThrow(
      'got an executable with the option dims, expected an ONNX model.',
    );
  });
});
