import { expect, test } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../../../testing/onnx-writer.ts';
import { checkOnnxHead } from './check-onnx-head.ts';

const weights = new HostTensor('float32', [1000], new Float32Array(1000));

const modelOf = (...nodes: OnnxNodeSpec[]): Uint8Array =>
  writeOnnxModel({ nodes, outputs: ['y'], initializers: { weights } });

const relu: OnnxNodeSpec = { op: 'Relu', inputs: ['weights'], outputs: ['x'] };

test('nodes are known before the weights are there, and not before', () => {
  const model = modelOf(relu, { op: 'Tanh', inputs: ['x'], outputs: ['y'] });
  expect(checkOnnxHead(model)).toBe(true);
  const lengths = Array.from({ length: model.byteLength }, (_, i) => i);
  const first = lengths.find((length) => checkOnnxHead(model.subarray(0, length)));
  expect(first).toBeLessThan(model.byteLength - weights.byteLength);
  expect(lengths.slice(first).every((length) => checkOnnxHead(model.subarray(0, length)))).toBe(
    true,
  );
});

test('what Weft lacks is listed, within other nodes too; other domains may be functions further behind', () => {
  const inner = {
    nodes: [{ op: 'Whirl', inputs: ['x'], outputs: ['z'], name: 'deep' }],
    outputs: ['z'],
  };
  const model = modelOf(
    relu,
    { op: 'If', inputs: ['c'], outputs: ['y'], attributes: { then_branch: { graph: inner } } },
    { op: 'Twist', inputs: ['x'], outputs: ['t'], domain: 'com.microsoft', name: 'second' },
    { op: 'Own', inputs: ['x'], outputs: ['o'], domain: 'my.domain' },
  );
  expect(() => checkOnnxHead(model)).toThrow(
    'ONNX model: got 2 nodes of unsupported operators (Whirl, com.microsoft.Twist), expected operators that Weft has:\n  node "deep" (Whirl)\n  node "second"',
  );
});
