import { describe, expect, test } from 'vitest';
import { FormatError } from '../../../core/errors.ts';
import { joinSafetensors, readSafetensorsIndex } from './safetensors-index.ts';
import { readSafetensors, type SafetensorsHead } from './safetensors.ts';
import { encodeElements } from './testing/encode-elements.ts';
import { withHeader, writeSafetensors } from './testing/safetensors-writer.ts';

const values = Float32Array.from({ length: 6 }, (_, i) => i);
const TENSORS = [
  { name: 'a.weight', shape: [2, 3], type: 'F32', bytes: encodeElements('F32', values) },
  { name: 'b', shape: [6], type: 'BF16', bytes: encodeElements('BF16', values) },
  { name: 'none', shape: [0, 4], type: 'F16', bytes: new Uint8Array(0) },
];
const FILE = writeSafetensors(TENSORS, { format: 'pt' });

function head(bytes: Uint8Array, name?: string): SafetensorsHead {
  const read = readSafetensors(bytes, { fileByteLength: bytes.length, name });
  if (read.kind === 'safetensors') return read;
  throw new Error(`needs ${read.byteLength} bytes`);
}

test('a file that was written is read', () => {
  const { metadata, tensors, dataOffset } = head(FILE, 'model.safetensors');
  expect(metadata).toEqual({ format: 'pt' });
  expect([...tensors.values()].map((tensor) => ({ ...tensor, file: undefined }))).toEqual([
    { name: 'a.weight', shape: [2, 3], type: 'F32', byteOffset: dataOffset, byteLength: 24 },
    { name: 'b', shape: [6], type: 'BF16', byteOffset: dataOffset + 24, byteLength: 12 },
    { name: 'none', shape: [0, 4], type: 'F16', byteOffset: dataOffset + 36, byteLength: 0 },
  ]);
  expect(tensors.get('b')?.file).toBe('model.safetensors');
});

test('the head is enough, and what is missing of it is said', () => {
  const { dataOffset } = head(FILE);
  const options = { fileByteLength: FILE.length };
  const needs = (byteLength: number) => ({ kind: 'bytes-needed', byteLength });
  expect(readSafetensors(FILE.subarray(0, 7), options)).toEqual(needs(8));
  expect(readSafetensors(FILE.subarray(0, 20), options)).toEqual(needs(dataOffset));
  expect(readSafetensors(FILE.subarray(0, dataOffset), options).kind).toBe('safetensors');
});

describe('a FormatError says what is wrong', () => {
  const entry = { dtype: 'F32', shape: [2], data_offsets: [0, 8] };
  const headers: [string, unknown, string][] = [
    ['a list', [1], 'got JSON of another kind, expected an object of JSON.'],
    ['no dtype', { a: { ...entry, dtype: 1 } }, 'got an entry of a that is incomplete'],
    ['a negative size', { a: { ...entry, shape: [-2] } }, 'got an entry of a that is incomplete'],
    ['three offsets', { a: { ...entry, data_offsets: [0, 4, 8] } }, 'that is incomplete'],
    [
      'too few bytes',
      { a: { ...entry, shape: [3] } },
      'got 8 bytes of a, expected 12 for F32 (3).',
    ],
    ['an end before its begin', { a: { ...entry, data_offsets: [8, 0] } }, 'got -8 bytes of a'],
    [
      'a hole',
      { a: entry, b: { ...entry, data_offsets: [12, 20] } },
      'got b from byte 12, expected 8',
    ],
    [
      'an overlap',
      { a: entry, b: { ...entry, data_offsets: [4, 12] } },
      'got b from byte 4, expected 8',
    ],
    ['metadata', { __metadata__: { a: 1 } }, 'got other values in __metadata__, expected strings.'],
    [
      'a file that goes on',
      { a: { ...entry, shape: [1], data_offsets: [0, 4] } },
      'got tensors up to byte',
    ],
  ];
  test.each(headers)('%s', (_, header, part) => {
    const bytes = withHeader(header).bytes(new Uint8Array(8)).finish();
    const read = () => readSafetensors(bytes, { fileByteLength: bytes.length });
    expect(read).toThrow(FormatError);
    expect(read).toThrow(part);
  });

  test('no JSON, and a header without an end', () => {
    const broken = FILE.slice();
    broken[8] = 0x5b;
    expect(() => head(broken)).toThrow('expected JSON.');
    const long = FILE.slice();
    long.set([0, 0, 0, 0, 1], 0);
    expect(() => head(long)).toThrow(
      'got a header of 4294967296 bytes, expected at most 100000000.',
    );
    expect(() => readSafetensors(long)).toThrow(FormatError);
  });
});

describe('a model in several files', () => {
  const index = JSON.stringify({
    metadata: { total_size: 36 },
    weight_map: { 'a.weight': '1.safetensors', b: '2.safetensors', none: '1.safetensors' },
  });
  const one = head(writeSafetensors(TENSORS.filter(({ name }) => name !== 'b')), '1.safetensors');
  const two = head(writeSafetensors(TENSORS.slice(1, 2)), '2.safetensors');

  test('is joined', () => {
    const read = readSafetensorsIndex(index);
    expect(read.files).toEqual(['1.safetensors', '2.safetensors']);
    const heads = new Map([
      ['1.safetensors', one],
      ['2.safetensors', two],
    ]);
    const joined = joinSafetensors(read, heads);
    expect([...joined.keys()]).toEqual(['a.weight', 'b', 'none']);
    expect(joined.get('b')).toMatchObject({ file: '2.safetensors', byteLength: 12 });
  });

  test('is refused where a file lacks a tensor, and where a name leads elsewhere', () => {
    const heads = new Map([
      ['1.safetensors', one],
      ['2.safetensors', one],
    ]);
    expect(() => joinSafetensors(readSafetensorsIndex(index), heads)).toThrow(
      'safetensors index, b: got no such tensor in 2.safetensors',
    );
    const elsewhere = JSON.stringify({ weight_map: { a: '../1.safetensors' } });
    expect(() => readSafetensorsIndex(elsewhere)).toThrow('got file "../1.safetensors"');
    expect(() => readSafetensorsIndex('{}')).toThrow('got no weight_map');
  });
});
