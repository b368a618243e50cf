import { describe, expect, test } from 'vitest';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import { Session, Tensor } from './index.ts';
import type { ExternalData } from './source.ts';

const FLOATS = { dtype: 'float32', shape: [2] } as const;

/** x plus the first floats of two files. */
const model = writeOnnxModel({
  inputs: [{ name: 'x', shape: [2] }],
  externalInitializers: {
    a: { ...FLOATS, place: { location: 'a.bin' } },
    b: { ...FLOATS, place: { location: 'data/b.bin' } },
  },
  nodes: [
    { op: 'Add', inputs: ['x', 'a'], outputs: ['y'] },
    { op: 'Add', inputs: ['y', 'b'], outputs: ['z'] },
  ],
  outputs: ['z'],
});
const FILES: Readonly<Record<string, Float32Array<ArrayBuffer>>> = {
  'a.bin': Float32Array.of(1, 2),
  'data/b.bin': Float32Array.of(10, 20),
};

const load = (source: Parameters<typeof Session.load>[0], externalData?: unknown) =>
  Session.load(source, {
    device: 'host',
    worker: false,
    ...(externalData !== undefined && { externalData: externalData as ExternalData }),
  });

async function sums(session: Session): Promise<unknown> {
  const { z } = await session.run({ x: Tensor.from([100, 100]) });
  await session.dispose();
  return z?.toNested();
}

test.each([
  ['bytes, and Blobs', () => model, (name: string) => new Blob([FILES[name] ?? ''])],
  [
    'a Blob, and bytes that come later',
    () => new Blob([model.slice()]),
    async (name: string) => FILES[name]?.buffer,
  ],
] as const)('a model as %s beside it', async (_, source, externalData) => {
  const asked: string[] = [];
  const read = (name: string) => {
    asked.push(name);
    return externalData(name);
  };
  expect(await sums(await load(source(), read))).toEqual([111, 122]);
  expect(asked).toEqual(['a.bin', 'data/b.bin']);
});

describe('what is refused', () => {
  test.each([
    [
      'no option',
      () => load(model),
      'a.bin: got a model that has tensors in this file, but no folder, expected the option externalData',
    ],
    [
      'an address that has no folder',
      () => load(URL.createObjectURL(new Blob([model.slice()]))),
      'a.bin: got a model that has tensors in this file, but no folder',
    ],
    ['no file', () => load(model, () => undefined), 'externalData: got for "a.bin" undefined'],
    [
      'a file that is too short',
      () => load(model, () => new Uint8Array(4)),
      'initializer "a": got 4 bytes at 0 of a.bin, expected 8 bytes.',
    ],
    [
      'an address beside the option',
      () => load('http://127.0.0.1:9/m.onnx', () => new Blob()),
      'Session.load, option externalData: got an address, expected bytes or a Blob.',
    ],
    [
      'the option beside cache',
      () =>
        Session.load('http://127.0.0.1:9/m.onnx', { cache: true, externalData: () => new Blob() }),
      'options cache and integrity: got the option externalData beside them',
    ],
  ])('%s', async (_, attempt, message) => {
    await expect(attempt()).rejects.toThrow(message);
  });
});
