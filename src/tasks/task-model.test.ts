import { afterEach, expect, test, vi } from 'vitest';
import { FileServer } from '../downloads/testing/file-server.ts';
import { MemoryFolder } from '../downloads/testing/memory-folders.ts';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import { type JsonObject, labelsOf, loadTaskModel } from './task-model.ts';

const MODEL = writeOnnxModel({
  nodes: [{ op: 'Relu', inputs: ['x'], outputs: ['y'] }],
  inputs: [{ name: 'x', shape: [2] }],
  outputs: ['y'],
});

afterEach(() => vi.unstubAllGlobals());

test('all files of a model are kept, but with cache: false', async () => {
  const server = await FileServer.start();
  const root = new MemoryFolder();
  vi.stubGlobal('navigator', { storage: { getDirectory: async () => root } });
  server.serve('m/onnx/model.onnx', MODEL, { etag: '"1"' });
  server.serve('m/config.json', new TextEncoder().encode('{"a":1}'), { etag: '"2"' });
  /** Files whose bytes were asked for. */
  const fetched = async (cache?: boolean): Promise<readonly string[]> => {
    server.requests.length = 0;
    const options = { device: 'host', worker: false, cache } as const;
    const { session, config } = await loadTaskModel(server.url('m/'), options);
    expect(config).toEqual({ a: 1 });
    await session.dispose();
    const gets = server.requests.filter(
      ({ method, sentBytes }) => method === 'GET' && sentBytes > 0,
    );
    return [...new Set(gets.map(({ path }) => path))].toSorted();
  };
  const both = ['m/config.json', 'm/onnx/model.onnx'];
  expect(await fetched()).toEqual(expect.arrayContaining(both));
  expect((await fetched()).filter((path) => both.includes(path))).toEqual([]);
  expect(await fetched(false)).toEqual(expect.arrayContaining(both));
  await server.stop();
});

test('names of classes are in the order of their numbers, of which none is left out', () => {
  const labelsIn = (text: string) => labelsOf(JSON.parse(text) as JsonObject);
  expect(labelsIn('{"id2label":{"2":"c","1":"b","0":"a"}}')).toEqual(['a', 'b', 'c']);
  expect(labelsIn('{}')).toBeUndefined();
  expect(() => labelsIn('{"id2label":{"2":"c","0":"a"}}')).toThrow(
    'config.json, id2label: got the class 2 in place 1, expected a name for each class from 0 up.',
  );
});
