import { expect, test } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { writeOnnxModel } from '../../../testing/onnx-writer.ts';
import { readMessage } from './read-message.ts';
import { mergeDraft, rewriteFields } from './rewrite-fields.ts';
import { writeMessage } from './write-message.ts';

/** A model with attributes of every kind, subgraphs, functions and typed data. */
const MODEL = writeOnnxModel({
  opsets: { 'my.domain': 3 },
  inputs: [{ name: 'x', shape: ['n', 2, ''] }],
  initializers: {
    w: HostTensor.from('float32', [2, 2], [1, -2, 3, 4.5]),
    empty: HostTensor.zeros('int64', [0]),
  },
  externalInitializers: {
    far: { dtype: 'float32', shape: [2], place: { location: 'far.bin', offset: '8' } },
  },
  nodes: [
    {
      op: 'Some',
      name: 'some',
      domain: 'my.domain',
      inputs: ['x', '', 'w'],
      outputs: ['y'],
      attributes: {
        i: -7,
        s: 'text',
        ints: [1, -2, 2 ** 40],
        f: { float: 0.5 },
        floats: { floats: [1.5, -2] },
        strings: { strings: ['a', 'b'] },
        t: HostTensor.from('int64', [2], [5n, -6n]),
        g: { graph: { nodes: [{ op: 'Relu', inputs: ['y'], outputs: ['z'] }], outputs: ['z'] } },
      },
    },
  ],
  functions: [
    {
      domain: 'my.domain',
      name: 'F',
      inputs: ['a'],
      outputs: ['b'],
      nodes: [{ op: 'Relu', inputs: ['a'], outputs: ['b'] }],
    },
  ],
  outputs: ['y'],
});

test('what is written reads as it was', () => {
  const read = readMessage('ModelProto', MODEL);
  expect(readMessage('ModelProto', writeMessage('ModelProto', read))).toEqual(read);
});

test('numbers that repeat, and those of 64 bits', () => {
  const tensor = {
    dims: [3],
    dataType: 7,
    int64Data: [2n ** 62n, -1n, 5],
    floatData: [0.5, -2],
    doubleData: [Math.PI],
    uint64Data: [2n ** 63n],
    int32Data: [-1, 2],
  };
  const read = readMessage('TensorProto', writeMessage('TensorProto', tensor));
  expect(read.dims).toEqual([3]);
  expect(read.int64Data).toEqual(BigInt64Array.of(2n ** 62n, -1n, 5n));
  expect(read.floatData).toEqual(Float32Array.of(0.5, -2));
  expect(read.doubleData).toEqual(Float64Array.of(Math.PI));
  expect(read.uint64Data).toEqual(BigUint64Array.of(2n ** 63n));
  expect(read.int32Data).toEqual([-1, 2]);
});

/** Field 99, a varint, which ONNX's schema does not have. */
const UNKNOWN = Uint8Array.of(0x98, 0x06, 0x05);

const join = (...parts: readonly Uint8Array[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));

test('a draft takes the place of fields, and others stay byte by byte', () => {
  const node = join(
    writeMessage('NodeProto', { input: ['a', 'b'], opType: 'Add', name: 'n' }),
    UNKNOWN,
  );
  const merged = mergeDraft('NodeProto', node, { input: ['c'], name: undefined });
  expect(readMessage('NodeProto', merged)).toMatchObject({ input: ['c'], opType: 'Add' });
  expect(readMessage('NodeProto', merged).name).toBe(undefined);
  expect(Buffer.from(merged).includes(Buffer.from(UNKNOWN))).toBe(true);
});

test('fields are replaced, taken away and doubled in their place', () => {
  const text = (value: string): Uint8Array => new TextEncoder().encode(value);
  const node = join(writeMessage('NodeProto', { input: ['a', 'b', 'c'], opType: 'Add' }), UNKNOWN);
  const edited = rewriteFields(node, {
    1: (bytes) => {
      const name = new TextDecoder().decode(bytes);
      return { a: [], b: [bytes, text('b2')] }[name] ?? [text('d')];
    },
  });
  expect(readMessage('NodeProto', edited).input).toEqual(['b', 'b2', 'd']);
  expect(rewriteFields(node, {})).toEqual(node);
});
