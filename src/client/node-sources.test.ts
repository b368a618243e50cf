import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
    ['number', 5],
    ['object', {}],
    ['object', [1, 2, 3]],
    ['object', new Float32Array(4)],
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
