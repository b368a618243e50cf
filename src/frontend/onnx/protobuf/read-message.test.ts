import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { describe, expect, test } from 'vitest';
import { WeftError } from '../../../core/errors.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { writeOnnxModel, writeOnnxTensor } from '../../../testing/onnx-writer.ts';
import { seededRandom } from '../../../core/random.ts';
import { importOnnx } from '../import-onnx.ts';
import { readMessage } from './read-message.ts';

const MODEL = writeOnnxModel({
  inputs: [{ name: 'x', shape: [1, 2, 4, 4] }],
  initializers: {
    w: HostTensor.from('float32', [2, 2, 3, 3], new Array<number>(36).fill(0.5)),
    shape: HostTensor.from('int64', [2], [1, -1]),
  },
  nodes: [
    { op: 'Conv', inputs: ['x', 'w'], outputs: ['c'], attributes: { pads: [1, 1, 1, 1] } },
    { op: 'LeakyRelu', inputs: ['c'], outputs: ['r'], attributes: { alpha: { float: 0.25 } } },
    { op: 'Reshape', inputs: ['r', 'shape'], outputs: ['y'] },
  ],
  outputs: ['y'],
});

describe('reading a model', () => {
  test('gives fields by name', () => {
    const { graph, opsetImport, producerName } = readMessage('ModelProto', MODEL);
    expect(producerName).toBe('test');
    expect(opsetImport[0]?.version).toBe(17);
    expect(graph?.node.map(({ opType }) => opType)).toEqual(['Conv', 'LeakyRelu', 'Reshape']);
    expect(graph?.node[0]?.attribute[0]?.ints).toEqual(BigInt64Array.of(1n, 1n, 1n, 1n));
    expect(graph?.node[1]?.attribute[0]?.f).toBe(0.25);
  });

  test('leaves raw data where it is', () => {
    const { graph } = readMessage('ModelProto', MODEL);
    expect(graph?.initializer[0]?.rawData?.buffer).toBe(MODEL.buffer);
  });

  test('takes repeated numbers packed and one by one', () => {
    const writer = new BinaryWriter();
    writer.tag(1, WireType.Varint).int64(2);
    writer.tag(1, WireType.LengthDelimited).fork().int64(3).int64(-1).join();
    writer.tag(4, WireType.Bit32).float(0.5);
    writer.tag(4, WireType.LengthDelimited).fork().float(1).float(2).join();
    writer.tag(7, WireType.Varint).int64(-(2n ** 63n));
    writer.tag(10, WireType.LengthDelimited).fork().double(1e300).join();
    writer
      .tag(11, WireType.LengthDelimited)
      .fork()
      .uint64(2n ** 64n - 1n)
      .join();
    const tensor = readMessage('TensorProto', writer.finish());
    expect(tensor.dims).toEqual([2, 3, -1]);
    expect(tensor.floatData).toEqual(Float32Array.of(0.5, 1, 2));
    expect(tensor.int64Data).toEqual(BigInt64Array.of(-(2n ** 63n)));
    expect(tensor.doubleData).toEqual(Float64Array.of(1e300));
    expect(tensor.uint64Data).toEqual(BigUint64Array.of(2n ** 64n - 1n));
  });

  test('copies packed numbers that are not aligned, also out of a Buffer', () => {
    const writer = new BinaryWriter();
    writer.tag(8, WireType.LengthDelimited).string('abc');
    writer.tag(4, WireType.LengthDelimited).fork().float(1).float(2).join();
    const tensor = readMessage('TensorProto', Buffer.from(writer.finish()));
    expect(tensor.floatData).toEqual(Float32Array.of(1, 2));
  });
});

describe('bytes that are no model', () => {
  test.each([
    ['text', new TextEncoder().encode('<!doctype html>')],
    ['a wire type that does not fit', Uint8Array.of(0x3d, 0, 0, 0, 0)],
    ['an end that is missing', Uint8Array.of(0x3a, 0x05, 0x01)],
  ])('%s', (_, bytes) => {
    expect(() => readMessage('ModelProto', bytes)).toThrowErrorMatchingSnapshot();
  });

  test('thousands of nested subgraphs', () => {
    let bytes = new Uint8Array();
    for (let depth = 0; depth < 2000; depth++) {
      const writer = new BinaryWriter();
      const attribute = new BinaryWriter().tag(6, WireType.LengthDelimited).bytes(bytes).finish();
      const node = new BinaryWriter().tag(5, WireType.LengthDelimited).bytes(attribute).finish();
      bytes = writer.tag(1, WireType.LengthDelimited).bytes(node).finish();
    }
    expect(() => readMessage('GraphProto', bytes)).toThrow(
      /got messages nested more than 100 deep/,
    );
  });

  test('every truncation is a typed error or a model', () => {
    for (let length = 0; length < MODEL.length; length++) {
      expectTyped(MODEL.slice(0, length));
    }
  });

  test('flipped bits and bytes are a typed error or a model', () => {
    const random = seededRandom(7);
    for (let round = 0; round < 5000; round++) {
      const bytes = MODEL.slice();
      for (let flips = 0; flips < 1 + (round % 3); flips++) {
        bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      }
      expectTyped(bytes);
    }
  });
});

function expectTyped(bytes: Uint8Array): void {
  try {
    importOnnx(bytes);
  } catch (thrown) {
    if (!(thrown instanceof WeftError)) throw thrown;
    expect(thrown.message.length).toBeGreaterThan(10);
  }
}

test('a tensor file', () => {
  const tensor = HostTensor.from('int32', [2], [1, 2]);
  const proto = readMessage('TensorProto', writeOnnxTensor(tensor, 'x'));
  expect(proto.name).toBe('x');
  expect(proto.dims).toEqual([2]);
});
