import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Session, Tensor } from '../../client/index.ts';
import { type OnnxModelSpec, writeOnnxModel } from '../../testing/onnx-writer.ts';
import { randomTensor } from '../../testing/random-tensor.ts';
import { readMessage } from '../onnx/protobuf/read-message.ts';
import { quantizeOnnx } from './quantize-onnx.ts';
import { FLOAT16_MODELS } from './testing/float16-models.ts';
import { bytesOf, inputsOf, type SmallModel } from './testing/quantized-models.ts';

/** Outputs of onnxruntime-node 1.30 for these models (tools/quantize/write-expected.ts). */
const EXPECTED = JSON.parse(
  readFileSync(new URL('testing/onnxruntime-outputs.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, readonly number[]>>;

async function run(model: Uint8Array, small: SmallModel, device: 'host' | 'wasm') {
  const session = await Session.load(model.slice(), { device, worker: false });
  const given = Object.entries(inputsOf(small)).map(
    ([name, { dtype, data, shape }]) => [name, new Tensor(dtype, data, shape)] as const,
  );
  const { y } = await session.run(Object.fromEntries(given));
  await session.dispose();
  expect(y?.dtype).toBe('float32');
  return Array.from(y?.data as Float32Array);
}

/** The largest distance, relative to the range of what is expected. */
function distance(got: readonly number[], expected: readonly number[]): number {
  expect(got.length).toBe(expected.length);
  const most = Math.max(...got.map((value, i) => Math.abs(value - (expected[i] ?? Number.NaN))));
  return most / (Math.max(...expected) - Math.min(...expected));
}

describe.each(Object.entries(FLOAT16_MODELS))('%s', (name, small) => {
  const bytes = bytesOf(small);
  const { layers, model } = quantizeOnnx(bytes, small.options);
  const { weightsOnly = false } = small.options;

  test('nodes that changed', () => {
    expect(layers.map(({ becomes }) => becomes)).toEqual(small.becomes);
    expect(Math.max(...layers.map(({ weightError }) => weightError))).toBeGreaterThan(1e-5);
    expect(Math.max(...layers.map(({ weightError }) => weightError))).toBeLessThan(5e-4);
  });

  test('outputs are those of onnxruntime, and near those of the float model', async () => {
    const float = await run(bytes, small, 'host');
    for (const device of ['host', 'wasm'] as const) {
      const got = await run(model, small, device);
      // Each value between two nodes is rounded to eleven bits.
      expect(distance(got, EXPECTED[name] ?? [])).toBeLessThan(weightsOnly ? 2e-6 : 2e-3);
      expect(distance(got, float)).toBeGreaterThan(1e-6);
      expect(distance(got, float)).toBeLessThan(4e-3);
    }
  });
});

const nodesOf = (model: Uint8Array) =>
  readMessage('ModelProto', model).graph?.node.map(({ opType, input, output }) => [
    opType,
    ...input,
    '->',
    ...output,
  ]);

test('casts stand where both types meet, and values keep their names', () => {
  const small = FLOAT16_MODELS['classifier in float16'];
  if (small === undefined) throw new Error('no such model');
  const { model } = quantizeOnnx(bytesOf(small), { bits: 16 });
  expect(nodesOf(model)).toEqual([
    ['Cast', 'x', '->', 'x_float16'],
    ['Conv', 'x_float16', 'w_float16', 'b_float16', '->', 'a'],
    ['Relu', 'a', '->', 'r'],
    ['GlobalAveragePool', 'r', '->', 'p'],
    ['Flatten', 'p', '->', 'f'],
    ['Gemm', 'f', 'v_float16', 'c_float16', '->', 'logits_float16'],
    ['Cast', 'logits_float16', '->', 'logits'],
    ['Softmax', 'logits_float16', '->', 'y_float16'],
    ['Cast', 'y_float16', '->', 'y'],
  ]);
  const { graph } = readMessage('ModelProto', model);
  expect(graph?.initializer.map(({ name, dataType }) => [name, dataType])).toEqual([
    ['w_float16', 10],
    ['b_float16', 10],
    ['v_float16', 10],
    ['c_float16', 10],
  ]);
  expect(graph?.output).toEqual(readMessage('ModelProto', bytesOf(small)).graph?.output);
});

test('what stays in float32 is named, with the reason', () => {
  const small = FLOAT16_MODELS['what float16 does not hold'];
  if (small === undefined) throw new Error('no such model');
  const { kept, others, activations } = quantizeOnnx(bytesOf(small), small.options);
  expect(Object.fromEntries(kept.map(({ node, reason }) => [node, reason]))).toEqual({
    beyond: 'its constants reach 1000000, and float16 ends at 65504',
    tiny: 'its constants are too small for float16',
    exp: 'its values reach 40000, and float16 ends at 65504',
    log: 'its values reach 40000, and float16 ends at 65504',
    celu: 'there is no form of it in float16',
    'branch Tanh': 'it lies in a branch or the body of a loop',
    'branch Relu': 'it lies in a branch or the body of a loop',
  });
  expect(others).toEqual({ If: 1 });
  expect(activations).toEqual(['x', 'a', 'large', 'back', 'e', 'l', 'k', 't', 's', 'y']);
});

const PLAIN: OnnxModelSpec = {
  inputs: [{ name: 'x', shape: [2, 64] }],
  nodes: [
    { op: 'MatMul', name: 'first', inputs: ['x', 'w'], outputs: ['a'] },
    { op: 'MatMul', name: 'second', inputs: ['a', 'w'], outputs: ['y'] },
  ],
  initializers: { w: randomTensor([64, 64], 1) },
  outputs: ['y'],
};

test('a constant that a node needs in float32 stays beside', () => {
  const { model, kept } = quantizeOnnx(writeOnnxModel(PLAIN), { bits: 16, keep: ['second'] });
  expect(kept).toEqual([{ node: 'second', operator: 'MatMul', reason: 'it was asked to' }]);
  expect(nodesOf(model)).toEqual([
    ['Cast', 'x', '->', 'x_float16'],
    ['MatMul', 'x_float16', 'w_float16', '->', 'a'],
    ['Cast', 'a', '->', 'a_float32'],
    ['MatMul', 'a_float32', 'w', '->', 'y'],
  ]);
});

test('weights alone are read through one cast', () => {
  const bytes = writeOnnxModel(PLAIN);
  const { model, layers } = quantizeOnnx(bytes, { bits: 16, weightsOnly: true });
  expect(layers.map(({ node }) => node)).toEqual(['first', 'second']);
  expect(nodesOf(model)).toEqual([
    ['Cast', 'w_float16', '->', 'w_float16_float32'],
    ['MatMul', 'x', 'w_float16_float32', '->', 'a'],
    ['MatMul', 'a', 'w_float16_float32', '->', 'y'],
  ]);
  expect(model.byteLength).toBeLessThan(bytes.byteLength * 0.6);
});

test('a model without floats is as it was', () => {
  const bytes = writeOnnxModel({
    inputs: [{ name: 'x', dtype: 'int64', shape: [2] }],
    nodes: [{ op: 'Add', inputs: ['x', 'x'], outputs: ['y'] }],
    outputs: ['y'],
  });
  const { model, layers, others } = quantizeOnnx(bytes, { bits: 16 });
  expect(Buffer.from(model).equals(bytes)).toBe(true);
  expect(layers).toEqual([]);
  expect(others).toEqual({ Add: 1 });
});

test('what cannot be done is refused', () => {
  expect(() => quantizeOnnx(writeOnnxModel({ ...PLAIN, opset: 5 }), { bits: 16 })).toThrow(
    'quantize to float16: got a model of operator set 5, expected 6 or later. Convert the model to a later operator set first.',
  );
});
