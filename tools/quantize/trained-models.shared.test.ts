import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ValueErrorSum } from '../../src/cli/quantize/value-error.ts';
import { Session, Tensor } from '../../src/client/index.ts';
import { observeOnnx, quantizeOnnx, SampleMoments } from '../../src/frontend/index.ts';
import { sharedPath } from '../../src/testing/files/shared-path.ts';
import { inputOf, TRAINED_MODELS } from './trained-models.ts';

// Those that run quickly; `tools/quantize/compare-models.ts` takes 500 inputs of all models in onnxruntime-node.
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

test('with samples silero is near in each single input', async () => {
  const model = TRAINED_MODELS.find(({ name }) => name.startsWith('silero'));
  if (model === undefined) throw new Error('no model silero');
  const bytes = new Uint8Array(readFileSync(sharedPath(`models/${model.name}/model.onnx`)));
  const given = (index: number): Record<string, Tensor> =>
    Object.fromEntries(
      Object.entries(inputOf(model, index)).map(
        ([input, { dtype, data, shape }]) => [input, new Tensor(dtype, data, shape)] as const,
      ),
    );
  const open = (model: Uint8Array) => Session.load(model, { device: 'wasm', worker: false });
  const moments = new SampleMoments(bytes);
  const observed = await open(observeOnnx(moments.model, moments.values));
  const SAMPLES = 48;
  for (let sample = 0; sample < SAMPLES; sample++) {
    const inputs = given(100_000 + sample);
    const outputs = Object.entries(await observed.run(inputs)).flatMap(([name, value]) =>
      value instanceof Tensor ? [[name, value] as const] : [],
    );
    moments.add({ ...inputs, ...Object.fromEntries(outputs) }, SAMPLES);
  }
  const [float, tested] = [await open(bytes), await open(quantizeOnnx(bytes, { moments }).model)];
  const sum = new ValueErrorSum();
  for (let index = 0; index < 100; index++) {
    const inputs = given(index);
    const [got, wanted] = [await tested.run(inputs), await float.run(inputs)];
    sum.add(got['stateN'] ?? expect.unreachable(), wanted['stateN'] ?? expect.unreachable());
  }
  await Promise.all([observed, float, tested].map((session) => session.dispose()));
  expect(sum.total.worstCosine).toBeGreaterThan(0.999);
});

test('mobilenetv2-qdq is quantised already', () => {
  const bytes = new Uint8Array(readFileSync(sharedPath('models/mobilenetv2-qdq/model.onnx')));
  const { model, wasQuantized, layers } = quantizeOnnx(bytes);
  expect(Buffer.from(model).equals(bytes)).toBe(true);
  expect(wasQuantized).toEqual(['QuantizeLinear', 'DequantizeLinear']);
  expect(layers).toEqual([]);
});
