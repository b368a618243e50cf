import { describe, expect, test } from 'vitest';
import { FormatError, UsageError } from '../../../core/errors.ts';
import { readGguf } from './gguf.ts';
import { ggufPartNames, type PartReader, readGgufParts } from './gguf-parts.ts';
import { writeGguf } from './testing/gguf-writer.ts';
import { splitGguf } from './testing/split-gguf.ts';

const tensor = (name: string, value: number) => ({
  name,
  shape: [4],
  type: 'F32',
  bytes: new Uint8Array(Float32Array.of(value, value, value, value).buffer),
});
const contents = {
  metadata: { 'general.architecture': 'llama', 'general.alignment': 64 },
  tensors: [tensor('a', 1), tensor('b', 2), tensor('c', 3)],
};
const FIRST = 'folder/m-00001-of-00003.gguf';
const parts = (): Record<string, Uint8Array> =>
  splitGguf(contents, { prefix: 'folder/m', count: 3 });
const readerOf =
  (files: Readonly<Record<string, Uint8Array>>): PartReader =>
  async (name, begin, end) =>
    files[name]?.subarray(begin, end);

test('names of the files of one model', () => {
  expect(ggufPartNames('a/b-00002-of-00003.GGUF')).toEqual([
    'a/b-00001-of-00003.GGUF',
    'a/b-00002-of-00003.GGUF',
    'a/b-00003-of-00003.GGUF',
  ]);
  expect(ggufPartNames('a/b.gguf')).toEqual(['a/b.gguf']);
});

test('each tensor is read from the file that has it', async () => {
  const files = parts();
  const head = await readGgufParts(FIRST, readerOf(files));
  expect(head.metadata.string('general.architecture')).toBe('llama');
  const found = [...head.tensors.values()].map(({ name, file = '', byteOffset }) => {
    const bytes = files[file] ?? new Uint8Array();
    return [name, file.slice(-19, -5), new DataView(bytes.buffer).getFloat32(byteOffset, true)];
  });
  expect(found).toEqual([
    ['a', '00002-of-00003', 1],
    ['b', '00002-of-00003', 2],
    ['c', '00003-of-00003', 3],
  ]);
});

test('a model in one file is read as it is, whatever its name', async () => {
  for (const count of [0, 1]) {
    const metadata = { ...contents.metadata, 'split.count': count };
    const file = writeGguf({ ...contents, metadata });
    const head = await readGgufParts(FIRST, readerOf({ [FIRST]: file }));
    expect(head.tensors).toEqual((readGguf(file) as typeof head).tensors);
  }
});

describe('refuses', () => {
  const read = (name: string, files: Record<string, Uint8Array>) =>
    readGgufParts(name, readerOf(files));

  test('another than the first', async () => {
    const reading = read('folder/m-00002-of-00003.gguf', parts());
    await expect(reading).rejects.toThrow(UsageError);
    await expect(reading).rejects.toThrow(
      `folder/m-00002-of-00003.gguf: got another than the first of 3 files of a model, expected ${FIRST}. Load the first`,
    );
  });

  test('a name by which the others are not found', async () => {
    const first = parts()[FIRST] ?? new Uint8Array();
    await expect(read('m.gguf', { 'm.gguf': first })).rejects.toThrow(
      'm.gguf: got one of 3 files of a model, expected a name that ends in -00001-of-00003.gguf.',
    );
  });

  test('a file that is missing', async () => {
    const { 'folder/m-00003-of-00003.gguf': _, ...files } = parts();
    await expect(read(FIRST, files)).rejects.toThrow('folder/m-00003-of-00003.gguf: got no such');
  });

  test('files that do not belong together', async () => {
    const files = parts();
    const [first, second, third] = Object.keys(files);
    const swapped = { ...files, [second ?? '']: files[third ?? ''] ?? new Uint8Array() };
    const reading = read(first ?? '', swapped);
    await expect(reading).rejects.toThrow(FormatError);
    await expect(reading).rejects.toThrow('got split.no 2 of split.count 3, expected 1 of 3.');
  });

  test('a tensor in two files, and one in none', async () => {
    const twice = splitGguf(
      { ...contents, tensors: [tensor('a', 1), tensor('b', 2), tensor('a', 3)] },
      { prefix: 'folder/m', count: 3 },
    );
    await expect(read(FIRST, twice)).rejects.toThrow(
      'folder/m-00003-of-00003.gguf: got tensor a, which folder/m-00002-of-00003.gguf has',
    );
    const files = parts();
    const other = splitGguf(
      { ...contents, tensors: contents.tensors.slice(0, 2) },
      { prefix: 'folder/m', count: 3 },
    );
    const last = 'folder/m-00003-of-00003.gguf';
    const fewer = { ...files, 'folder/m-00002-of-00003.gguf': other[last] ?? new Uint8Array() };
    await expect(read(FIRST, fewer)).rejects.toThrow(FormatError);
    const short = { ...other, [FIRST]: files[FIRST] ?? new Uint8Array() };
    await expect(read(FIRST, short)).rejects.toThrow(
      'got 2 tensors in 3 files, expected 3, as split.tensors.count says.',
    );
  });
});
