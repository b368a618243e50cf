import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { describe, expect, test } from 'vitest';
import { FormatError } from '../../../core/errors.ts';
import { FileWindow } from '../../../core/bytes/file-window.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../../core/random.ts';
import { writeOnnxModel } from '../../../testing/onnx-writer.ts';
import { externalRanges, loadExternalData } from './external-data.ts';
import { importOnnx } from '../import-onnx.ts';
import { readMessage } from '../protobuf/read-message.ts';
import { writeMessage } from '../protobuf/write-message.ts';
import { readOnnxOutline } from './read-outline.ts';

const random = seededRandom(5);
const floats = (count: number): HostTensor =>
  new HostTensor('float32', [count], Float32Array.from({ length: count }, random));

const windowOf = (bytes: Uint8Array): FileWindow =>
  new FileWindow(async (begin, end) => bytes.slice(begin, end), bytes.byteLength);

const isSame = (a: Uint8Array, b: Uint8Array = new Uint8Array()): boolean =>
  Buffer.compare(a, b) === 0;

/** Elements of float32 that take one. */
const MEGABYTE = 2 ** 18;
const SMALL = Array.from({ length: 200 }, (_, i) => [`small${i}`, floats(8)] as const);
const inner = {
  nodes: [{ op: 'Add', inputs: ['x', 'deep'], outputs: ['z'] }],
  outputs: ['z'],
  initializers: { deep: floats(MEGABYTE) },
};
const MODEL = writeOnnxModel({
  inputs: [{ name: 'x', shape: [MEGABYTE] }],
  initializers: {
    flag: HostTensor.from('bool', [], [1]),
    first: floats(MEGABYTE),
    ...Object.fromEntries(SMALL),
    second: floats(MEGABYTE),
    third: floats(MEGABYTE),
  },
  nodes: [
    {
      op: 'If',
      inputs: ['flag'],
      outputs: ['a'],
      attributes: { then_branch: { graph: inner }, else_branch: { graph: inner } },
    },
    { op: 'Sum', inputs: ['a', 'first', 'second', 'third'], outputs: ['y'] },
  ],
  outputs: ['y'],
});

describe('an outline', () => {
  test('has all but elements of large tensors, and says where these are', async () => {
    const outline = await readOnnxOutline(windowOf(MODEL));
    const ranges = externalRanges(outline);
    expect(ranges.map(({ byteLength }) => byteLength)).toEqual(
      Array.from({ length: 5 }, () => 4 * MEGABYTE),
    );
    const externalData = await loadExternalData(outline, async (_, { byteOffset, byteLength }) =>
      MODEL.slice(byteOffset, byteOffset + byteLength),
    );
    const { graph } = readMessage('ModelProto', MODEL);
    const own = readMessage('ModelProto', outline).graph;
    expect({ ...own, initializer: [], node: [] }).toEqual({ ...graph, initializer: [], node: [] });
    expect(own?.initializer.map(({ name, dims }) => [name, dims])).toEqual(
      graph?.initializer.map(({ name, dims }) => [name, dims]),
    );
    // Those of the branches come behind.
    const range = ranges[2] ?? { byteOffset: 0, byteLength: 0 };
    const elements = graph?.initializer.at(-1)?.rawData;
    expect(isSame(externalData('the model', range), elements)).toBe(true);
    const types = (bytes: Uint8Array): unknown =>
      importOnnx(bytes, { externalData }).functions.get('main')?.params;
    expect(types(outline)).toEqual(types(MODEL));
  });

  test('takes few bytes, and a read for each large tensor at most', async () => {
    const window = windowOf(MODEL);
    const outline = await readOnnxOutline(window);
    expect(outline.byteLength).toBeLessThan(20_000);
    expect(window.reads).toBeLessThanOrEqual(8);
    expect(window.readByteLength).toBeLessThan(300_000);
  });

  test('of small tensors is read in large pieces', async () => {
    const tensors = Array.from({ length: 10_000 }, (_, i) => [`t${i}`, floats(8)] as const);
    const bytes = writeOnnxModel({
      inputs: [{ name: 'x', shape: [8] }],
      initializers: Object.fromEntries(tensors),
      nodes: [{ op: 'Relu', inputs: ['x'], outputs: ['y'] }],
      outputs: ['y'],
    });
    const window = windowOf(bytes);
    expect(isSame(await readOnnxOutline(window), bytes)).toBe(true);
    expect(window.reads).toBeLessThan(4 + bytes.byteLength / 2 ** 18);
  });

  test('takes elements in fields of their own as others', async () => {
    const int64Data = Array.from({ length: 10_000 }, (_, i) => i);
    const initializer = [{ name: 't', dims: [10_000], dataType: 7, int64Data }];
    const bytes = writeMessage('ModelProto', { graph: { initializer } });
    const outline = await readOnnxOutline(windowOf(bytes));
    expect(outline.byteLength).toBeLessThan(100);
    expect(externalRanges(outline)).toMatchObject([{ byteLength: 80_000 }]);
  });
});

/** A model around the fields of a graph. */
function modelOf(graph: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(7, WireType.LengthDelimited).bytes(graph).finish();
}

describe('bytes that are no model', () => {
  test('a length beyond the file', async () => {
    const cut = MODEL.subarray(0, 2 ** 21);
    await expect(readOnnxOutline(windowOf(cut))).rejects.toThrow(
      /^the file, byte 8: got a field up to byte \d+, expected an ONNX model/,
    );
    const tensor = new BinaryWriter().tag(9, WireType.LengthDelimited).uint32(2 ** 31);
    const graph = new BinaryWriter().tag(5, WireType.LengthDelimited);
    const pad = new Uint8Array(2 ** 14);
    const bytes = modelOf(graph.fork().raw(tensor.finish()).raw(pad).join().finish());
    await expect(readOnnxOutline(windowOf(bytes))).rejects.toThrow('got a field up to byte');
  });

  test('more levels than any model', async () => {
    const pad = 'x'.repeat(2 ** 13);
    let node = writeMessage('NodeProto', { name: pad });
    for (let level = 0; level < 40; level++) {
      const graph = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(node).finish();
      const attribute = new BinaryWriter().tag(6, WireType.LengthDelimited).bytes(graph).finish();
      node = new BinaryWriter().tag(5, WireType.LengthDelimited).bytes(attribute).finish();
    }
    const graph = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(node).finish();
    await expect(readOnnxOutline(windowOf(modelOf(graph)))).rejects.toThrow(
      'ONNX model: got 101 levels of messages, or more, expected at most 100.',
    );
  });

  test('a million tiny tensors end the reading early', async () => {
    const tensor = [0x2a, 0x02, 0x10, 0x01];
    const graph = new Uint8Array(4 * 10 ** 6);
    for (let at = 0; at < graph.byteLength; at += 4) graph.set(tensor, at);
    const window = windowOf(modelOf(graph));
    await expect(readOnnxOutline(window)).rejects.toThrow(
      'ONNX model: got 262145 fields, or more, expected at most 262144.',
    );
    expect(window.readByteLength).toBeLessThan(1.5 * 2 ** 20);
  });

  test('more bytes than any model has beside its weights', async () => {
    const name = new BinaryWriter().tag(2, WireType.LengthDelimited).bytes(new Uint8Array(2 ** 26));
    await expect(readOnnxOutline(windowOf(modelOf(name.finish())))).rejects.toThrow(
      /got \d+ bytes without weights, or more, expected at most 67108864/,
    );
  });

  test('damaged bytes give an outline or a FormatError', async () => {
    const bytes = writeOnnxModel({
      inputs: [{ name: 'x', shape: [4096] }],
      initializers: { w: floats(4096), v: floats(3) },
      nodes: [{ op: 'Add', inputs: ['x', 'w'], outputs: ['y'] }],
      outputs: ['y'],
    });
    for (let trial = 0; trial < 300; trial++) {
      const damaged = bytes.slice();
      const place = Math.floor(random() * (trial % 2 === 0 ? 200 : bytes.byteLength));
      damaged[place] = Math.floor(random() * 256);
      const error: unknown = await readOnnxOutline(windowOf(damaged)).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error !== undefined) expect(error).toBeInstanceOf(FormatError);
    }
  });
});
