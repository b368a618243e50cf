import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { createWebGpuDevice } from '../../device/webgpu/index.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { AdtValue, TensorValue } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { firstDifference } from '../../core/tensor/all-close.ts';
import { nodeGpu } from '../../testing/node-gpu.ts';
import { sharedPath } from '../../testing/files/shared-path.ts';
import { compileOnnx } from './compile-onnx.ts';
import { readMessage } from './protobuf/read-message.ts';
import { tensorFromProto } from './protobuf/read-tensor.ts';

const MODELS = sharedPath('models/');

/** The tensors of a data set that are named `input_0.pb` and so on, or `output_0.pb`. */
function tensors(folder: string, kind: 'input' | 'output'): HostTensor[] {
  const found: HostTensor[] = [];
  for (let i = 0; existsSync(`${folder}/${kind}_${i}.pb`); i++) {
    const bytes = readFileSync(`${folder}/${kind}_${i}.pb`);
    found.push(tensorFromProto(readMessage('TensorProto', bytes), `${kind} ${i}`));
  }
  return found;
}

test('an encoder of one batch and one length is all numbers', () => {
  const dims = { batch: 2, max_seq_len_in_batch: 16 };
  const { functions } = compileOnnx(readFileSync(`${MODELS}bert-toy/model.onnx`), { dims });
  expect(functions[0]?.signature?.results).toEqual([
    { name: 'prediction_scores', type: { kind: 'tensor', dtype: 'float32', shape: [2, 16, 99] } },
    { name: 'seq_relationship_score', type: { kind: 'tensor', dtype: 'float32', shape: [2, 2] } },
  ]);
});

test('a layer of an encoder takes nine kernels', () => {
  const executable = compileOnnx(readFileSync(`${MODELS}bert-toy/model.onnx`));
  const names = new Set(executable.primitives.map(({ name }) => name));
  const calls = executable.toText().matchAll(/ call ([^\s(]+)\(/g);
  const kernels = [...calls].filter(([, name = '']) => names.has(name));
  // Five layers, and what comes before the first and behind the last.
  expect(kernels).toHaveLength(5 * 9 + 11);
});

const DEVICES = [
  { name: 'the host device', open: () => Promise.resolve(createHostDevice()) },
  {
    name: 'WebGPU',
    open: async () => createWebGpuDevice({ gpu: await nodeGpu(), operators: CORE_OPERATORS }),
  },
];

describe.each(DEVICES)('on $name', ({ open }) => {
  describe.each(['bert-toy', 'gpt2-past-tiny'])('%s', (model) => {
    let device: Device;
    let vm: VirtualMachine;
    beforeAll(async () => {
      device = await open();
      const executable = compileOnnx(readFileSync(`${MODELS}${model}/model.onnx`));
      vm = await VirtualMachine.create(executable, { devices: [device] });
    });
    afterAll(() => {
      vm.dispose();
      device.destroy();
    });

    test('gives the published outputs for every batch and length', async () => {
      const sets = readdirSync(`${MODELS}${model}`).filter((name) => name.startsWith('test_data'));
      expect(sets.length).toBeGreaterThan(1);
      for (const set of sets) {
        const folder = `${MODELS}${model}/${set}`;
        const inputs = tensors(folder, 'input').map((tensor) => vm.tensor(tensor));
        const result = await vm.get('main')(...inputs);
        if (!(result instanceof AdtValue)) throw new Error('no tuple of results');
        const fields = result.fields.filter((field) => field instanceof TensorValue);
        const outputs = await vm.read(fields);
        const expected = tensors(folder, 'output');
        expect(outputs).toHaveLength(expected.length);
        for (const [i, output] of expected.entries()) {
          const actual = outputs[i];
          if (actual === undefined) throw new Error('a result is missing');
          const difference = firstDifference(actual, output, { rtol: 1e-3, atol: 1e-4 });
          expect(difference, `${set}, output ${i}`).toBeUndefined();
        }
      }
    });
  });
});
