import { expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { readMessage } from '../onnx/protobuf/read-message.ts';
import { tensorFromProto } from '../onnx/protobuf/read-tensor.ts';
import { exportOnnx } from './export-onnx.ts';

const model = writeOnnxModel({
  producer: 'somebody',
  inputs: [{ name: 'x', shape: ['n', 2] }],
  nodes: [{ op: 'Gemm', inputs: ['x', 'w', 'b'], outputs: ['y'] }],
  initializers: {
    w: HostTensor.from('float32', [2, 2], [1, 2, 3, 4]),
    b: HostTensor.from('float32', [2], [5, 6]),
  },
  outputs: ['y'],
});

test('initializers get other values, and nothing else changes', () => {
  const w = HostTensor.from('float32', [2, 2], [8, 7, 6, 5]);
  const after = readMessage('ModelProto', exportOnnx(model, { w }));
  const values = after.graph?.initializer.map((tensor) => [
    tensor.name,
    ...Array.from(tensorFromProto(tensor, '').data, Number),
  ]);
  expect(values).toEqual([
    ['w', 8, 7, 6, 5],
    ['b', 5, 6],
  ]);
  const before = readMessage('ModelProto', model);
  expect({ ...after, graph: undefined }).toEqual({ ...before, graph: undefined });
  expect(after.graph?.node).toEqual(before.graph?.node);
  expect(exportOnnx(model, {})).toEqual(model);
});

test.each([
  [{ c: [2] }, 'initializer "c": got no such one, expected one of "w", "b"'],
  [{ w: [4] }, 'initializer "w": got float32 (4,), expected float32 (2, 2)'],
])('%o is refused', (shapes, message) => {
  const weights = Object.entries(shapes).map(([name, shape]) => [
    name,
    HostTensor.zeros('float32', shape),
  ]);
  expect(() => exportOnnx(model, Object.fromEntries(weights))).toThrow(message);
});
