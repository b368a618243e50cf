import { describe, expect, test } from 'vitest';
import { FormatError, UnsupportedError } from '../../../core/errors.ts';
import { seededRandom } from '../../../core/random.ts';
import { type GgufHead, readGguf } from './gguf.ts';
import { encodeElements } from './testing/encode-elements.ts';
import { writeGguf } from './testing/gguf-writer.ts';

const values = Float32Array.from({ length: 64 }, (_, i) => i / 8 - 4);
const FILE = writeGguf({
  metadata: {
    'general.architecture': 'llama',
    'general.alignment': 64,
    'llama.block_count': 3,
    'llama.attention.layer_norm_rms_epsilon': 2 ** -16,
    'tokenizer.ggml.add_bos_token': true,
    'tokenizer.ggml.tokens': ['a', 'é', '😀'],
    'tokenizer.ggml.scores': Float32Array.of(0, -1, -2.5),
    'tokenizer.ggml.token_type': Int32Array.of(1, -3, 6),
  },
  tensors: [
    { name: 'norm', shape: [64], type: 'F32', bytes: encodeElements('F32', values) },
    { name: 'matrix', shape: [2, 32], type: 'Q8_0', bytes: encodeElements('Q8_0', values) },
    { name: 'half', shape: [4, 2, 8], type: 'F16', bytes: encodeElements('F16', values) },
  ],
});

function head(bytes: Uint8Array, fileByteLength?: number): GgufHead {
  const read = readGguf(bytes, { fileByteLength });
  if (read.kind === 'gguf') return read;
  throw new Error(`needs ${read.byteLength} bytes`);
}

test('a file that was written is read', () => {
  const { version, metadata, tensors, dataOffset } = head(FILE, FILE.length);
  expect(version).toBe(3);
  expect(metadata.string('general.architecture')).toBe('llama');
  expect(metadata.number('llama.block_count')).toBe(3);
  expect(metadata.number('llama.attention.layer_norm_rms_epsilon')).toBe(2 ** -16);
  expect(metadata.bool('tokenizer.ggml.add_bos_token')).toBe(true);
  expect(metadata.strings('tokenizer.ggml.tokens')).toEqual(['a', 'é', '😀']);
  expect(metadata.numbers('tokenizer.ggml.scores')).toEqual(Float64Array.of(0, -1, -2.5));
  expect(metadata.numbers('tokenizer.ggml.token_type')).toEqual(Float64Array.of(1, -3, 6));
  expect(metadata.number('llama.rope.freq_base')).toBeUndefined();
  expect(dataOffset % 64).toBe(0);
  expect([...tensors.values()]).toEqual([
    { name: 'norm', shape: [64], type: 'F32', byteOffset: dataOffset, byteLength: 256 },
    { name: 'matrix', shape: [2, 32], type: 'Q8_0', byteOffset: dataOffset + 256, byteLength: 68 },
    { name: 'half', shape: [4, 2, 8], type: 'F16', byteOffset: dataOffset + 384, byteLength: 128 },
  ]);
});

test('version 2 is read, and files without metadata or tensors', () => {
  const { version, metadata, tensors } = head(writeGguf({ version: 2 }));
  expect([version, metadata.keys, tensors.size]).toEqual([2, [], 0]);
});

test('the head is enough, and what is missing of it is said', () => {
  const { dataOffset } = head(FILE);
  let byteLength = 0;
  let rounds = 0;
  for (; ; rounds++) {
    const read = readGguf(FILE.subarray(0, byteLength), { fileByteLength: FILE.length });
    if (read.kind === 'gguf') break;
    expect(read.byteLength).toBeGreaterThan(byteLength);
    byteLength = read.byteLength;
  }
  expect(rounds).toBeGreaterThan(5);
  expect(byteLength).toBeLessThanOrEqual(dataOffset);
  // Any cut either is enough or asks for bytes: it is never taken for damage.
  for (let cut = 0; cut < FILE.length; cut++) {
    const read = readGguf(FILE.subarray(0, cut), { fileByteLength: FILE.length });
    expect(read.kind).toBe(cut < byteLength ? 'bytes-needed' : 'gguf');
  }
});

const patched = (at: number, ...bytes: number[]): Uint8Array => {
  const copy = FILE.slice();
  copy.set(bytes, at);
  return copy;
};

describe('a FormatError says what is wrong', () => {
  const refusals: [string, Uint8Array, string][] = [
    [
      'another file',
      patched(0, 0x50, 0x4b, 3, 4),
      'x.gguf: got a ZIP archive, such as PyTorch writes, expected a GGUF file. Unpack it. A PyTorch model',
    ],
    ['version 1', patched(4, 1), 'got version 1, expected 2 or 3, little-endian.'],
    ['a big-endian file', patched(4, 0, 0, 0, 3), 'got version 50331648'],
    [
      'more tensors than the file has room for',
      patched(8, 255, 255),
      'got 65535 tensors of at least 1572840 bytes, expected at most',
    ],
    [
      'more tensors than any model has',
      patched(8, 255, 255, 255),
      'got 16777215 tensors, expected at most 131072, with all before them. No model has so many',
    ],
    ['a count beyond 2^53', patched(8, 255, 255, 255, 255, 255, 255, 255, 127), 'got number of'],
    [
      'a negative count',
      patched(8, 255, 255, 255, 255, 255, 255, 255, 255),
      'got number of tensors -1',
    ],
    [
      'a key longer than the file',
      patched(24, 255, 255, 255),
      'bytes of the key 0 of at least 16777215',
    ],
    ['a key that is not UTF-8', patched(32, 0xff), 'got a key 0 that is not UTF-8'],
    ['a type of metadata', patched(52, 13), 'got type 13 of general.architecture'],
  ];

  test.each(refusals)('%s', (_, bytes, part) => {
    const read = () => readGguf(bytes, { fileByteLength: bytes.length, name: 'x.gguf' });
    expect(read).toThrow(FormatError);
    expect(read).toThrow(part);
  });

  test('a truncated file', () => {
    const cut = FILE.subarray(0, FILE.length - 64);
    expect(() => readGguf(cut, { fileByteLength: cut.length })).toThrow(
      /got tensor half up to byte \d+, expected at most \d+, where the file ends/,
    );
    const head = FILE.subarray(0, 100);
    expect(() => readGguf(head, { fileByteLength: 100 })).toThrow('where the file ends');
  });

  test('a head without an end, where the length of the file is unknown', () => {
    const long = patched(24, 255, 255, 255, 127);
    expect(() => readGguf(long)).toThrow('where the longest head ends');
  });

  const tensor = { name: 'a', shape: [32], type: 'F32', bytes: new Uint8Array(128) };
  const files: [string, Uint8Array, string][] = [
    ['two tensors of a name', writeGguf({ tensors: [tensor, tensor] }), 'got tensor a twice'],
    [
      'rows that are no whole blocks',
      writeGguf({ tensors: [{ ...tensor, shape: [48, 16], type: 'Q4_0' }] }),
      'got rows of 16 elements in a, expected a multiple of 32, the block of Q4_0.',
    ],
    ['rank 5', writeGguf({ tensors: [{ ...tensor, shape: [1, 1, 1, 1, 32] }] }), 'got rank 5 of a'],
    [
      'an alignment',
      writeGguf({ metadata: { 'general.alignment': 48 }, tensors: [] }),
      'got general.alignment 48, expected a power of two',
    ],
    [
      'dimensions beyond all memory',
      writeGguf({ tensors: [{ ...tensor, shape: [2 ** 40, 2 ** 40] }] }),
      'got tensor a up to byte',
    ],
  ];
  test.each(files)('%s', (_, bytes, part) => {
    const read = () => readGguf(bytes);
    expect(read).toThrow(FormatError);
    expect(read).toThrow(part);
  });

  test('a value of another type', () => {
    const { metadata } = head(FILE);
    expect(() => metadata.number('general.architecture')).toThrow(
      'GGUF file, general.architecture: got string llama, expected a number.',
    );
    expect(() => metadata.strings('tokenizer.ggml.scores')).toThrow('got an array of 3');
    expect(() => metadata.string('tokenizer.ggml.tokens')).toThrow(FormatError);
  });
});

test('types that Weft does not read have names, unknown ones their numbers', () => {
  const tensor = { name: 'a', shape: [256], type: 'IQ4_XS', bytes: new Uint8Array(136) };
  const file = writeGguf({ tensors: [tensor] });
  expect(head(file).tensors.get('a')?.type).toBe('IQ4_XS');
  // Magic, version and counts; the name, the rank and the size stand before the type.
  file[24 + 9 + 4 + 8] = 77;
  expect(head(file).tensors.get('a')).toMatchObject({ type: 'type 77', byteLength: undefined });
});

test('no damage leads to anything but a FormatError, a head or a wish for bytes', () => {
  const random = seededRandom(7);
  for (let round = 0; round < 2000; round++) {
    const copy = FILE.slice();
    for (let i = 0; i < 3; i++) copy[Math.floor(random() * copy.length)] = random() * 256;
    try {
      readGguf(copy, round % 2 === 0 ? { fileByteLength: copy.length } : {});
    } catch (thrown) {
      if (!(thrown instanceof FormatError || thrown instanceof UnsupportedError)) throw thrown;
    }
  }
});
