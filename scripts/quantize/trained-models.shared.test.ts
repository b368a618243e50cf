import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ValueErrorSum } from '../../src/cli/quantize/value-error.ts';
import { Session, Tensor } from '../../src/client/index.ts';
import { quantizeOnnx } from '../../src/frontend/index.ts';
import { sharedPath } from '../../src/testing/files/shared-path.ts';
import { inputOf, TRAINED_MODELS } from './trained-models.ts';

// Those that run quickly; `scripts/quantize/compare-models.ts` takes 500 inputs of all models in onnxruntime-node.
test.each([
  ['mnist-cntk', 60],
  ['mnist-pytorch-cnn', 60],
  ['superres-core', 1],
  ['silero-vad-v6-16k-op15', 20],
])('%s of 8 bits gives what the float model gives', async (name, count) => {
  const model = TRAINED_MODELS.find((each) => each.name === name);
  if (model === undefined) throw new Error(`no model ${name}`);
  const bytes = new Uint8Array(readFileSync(sharedPath(`models/${name}/model.onnx`)));
  const { model: rounded } = quantizeOnnx(bytes);
  expect(rounded.byteLength).toBeLessThan(bytes.byteLength * 0.65);
  const options = { device: 'wasm', worker: false } as const;
  const [float, tested] = [
    await Session.load(bytes, options),
    await Session.load(rounded, options),
  ];
  const sums = new Map<string, ValueErrorSum>();
  for (let index = 0; index < count; index++) {
    const inputs = Object.fromEntries(
      Object.entries(inputOf(model, index)).map(
        ([input, { dtype, data, shape }]) => [input, new Tensor(dtype, data, shape)] as const,
      ),
    );
    const [got, wanted] = [await tested.run(inputs), await float.run(inputs)];
    for (const [output, want] of Object.entries(wanted)) {
      const sum = sums.get(output) ?? new ValueErrorSum();
      sums.set(output, sum);
      const value = got[output];
      if (value === undefined) throw new Error(`no output ${output}`);
      sum.add(value, want);
    }
  }
  await Promise.all([float.dispose(), tested.dispose()]);
  for (const [output, { total }] of sums) {
    expect(total.cosine).toBeGreaterThan(0.999);
    if (output === model.classes) expect(total.sameTop).toBeGreaterThanOrEqual(0.99);
  }
});

test('mobilenetv2-qdq is quantised already', () => {
  const bytes = new Uint8Array(readFileSync(sharedPath('models/mobilenetv2-qdq/model.onnx')));
  const { model, wasQuantized, layers } = quantizeOnnx(bytes);
  expect(Buffer.from(model).equals(bytes)).toBe(true);
  expect(wasQuantized).toEqual(['QuantizeLinear', 'DequantizeLinear']);
  expect(layers).toEqual([]);
});
