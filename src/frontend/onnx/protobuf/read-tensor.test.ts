import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { describe, expect, test } from 'vitest';
import type { DType } from '../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { writeOnnxTensor } from '../../../testing/onnx-writer.ts';
import { readTensorFile } from './read-tensor.ts';

function tensorOf(dims: readonly number[], dataType: number, write: (w: BinaryWriter) => void) {
  const writer = new BinaryWriter();
  for (const dim of dims) writer.tag(1, WireType.Varint).int64(dim);
  writer.tag(2, WireType.Varint).int32(dataType);
  write(writer);
  return () => readTensorFile(writer.finish()).tensor;
}

test.each<[DType, readonly (number | bigint)[]]>([
  ['float32', [1.5, -0]],
  ['float64', [1e300, 2]],
  ['float16', [0x3c00, 0x7c01]],
  ['int8', [-128, 127]],
  ['uint8', [0, 255]],
  ['int16', [-32768, 3]],
  ['uint16', [65535, 3]],
  ['int32', [-(2 ** 31), 3]],
  ['uint32', [2 ** 32 - 1, 3]],
  ['int64', [-(2n ** 63n), 3n]],
  ['uint64', [2n ** 64n - 1n, 3n]],
  ['bool', [0, 1]],
])('raw %s', (dtype, values) => {
  const tensor = HostTensor.from(dtype, [1, 2], values);
  expect(readTensorFile(writeOnnxTensor(tensor)).tensor).toEqual(tensor);
});

describe('typed fields', () => {
  const ints = (w: BinaryWriter) =>
    w.tag(5, WireType.LengthDelimited).fork().int32(-1).int32(2).join();

  test.each<[DType, number, readonly number[]]>([
    ['int32', 6, [-1, 2]],
    ['int16', 5, [-1, 2]],
    ['int8', 3, [-1, 2]],
    ['uint16', 4, [65535, 2]],
    ['uint8', 2, [255, 2]],
    ['float16', 10, [65535, 2]],
    ['bool', 9, [1, 1]],
  ])('int32_data as %s', (dtype, dataType, expected) => {
    expect(tensorOf([2], dataType, ints)()).toEqual(HostTensor.from(dtype, [2], expected));
  });

  test('uint64_data as uint32', () => {
    const read = tensorOf([1], 12, (w) => w.tag(11, WireType.Varint).uint64(2n ** 32n - 1n));
    expect(read().data).toEqual(Uint32Array.of(2 ** 32 - 1));
  });
});

describe('what is refused', () => {
  test('data in another file', () => {
    const entry = new BinaryWriter()
      .tag(1, WireType.LengthDelimited)
      .string('location')
      .tag(2, WireType.LengthDelimited)
      .string('weights.bin')
      .finish();
    const read = tensorOf([2], 1, (w) => w.tag(13, WireType.LengthDelimited).bytes(entry));
    expect(read).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: tensor file: got tensor data in an external file (weights.bin), expected data inside the model file, or a way to read that file. Give importOnnx or compileOnnx the option externalData, or load the model by its URL.]`,
    );
  });

  test('fewer elements than dimensions say', () => {
    expect(tensorOf([2, 2], 1, (w) => w.tag(4, WireType.Bit32).float(1))).toThrow(
      'tensor file: got 1 elements, expected 4 for float32 (2, 2). The file may be damaged.',
    );
  });

  test('raw data of another length', () => {
    const read = tensorOf([2], 1, (w) =>
      w.tag(9, WireType.LengthDelimited).bytes(new Uint8Array(7)),
    );
    expect(read).toThrow(
      'tensor file: got 7 bytes of raw data, expected 8 bytes for float32 (2,).',
    );
  });

  test('dimensions whose product no number holds', () => {
    expect(tensorOf([2 ** 40, 2 ** 40], 1, () => {})).toThrow(
      'expected non-negative dimensions with a product below 2^53.',
    );
    expect(tensorOf([-1], 1, () => {})).toThrow('got dimensions (-1,)');
  });

  test('element types', () => {
    expect(tensorOf([0], 14, () => {})).toThrow(
      'tensor file: got element type complex64, expected a float, an integer, or bool.',
    );
    expect(tensorOf([0], 99, () => {})).toThrow('got element type 99');
    expect(tensorOf([0], 0, () => {})).toThrow('got no element type');
  });
});
