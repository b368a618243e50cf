import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { createHostDevice } from '../../../device/host/host-device.ts';
import { compileOnnx } from '../../../frontend/onnx/compile-onnx.ts';
import { readMessage } from '../../../frontend/onnx/protobuf/read-message.ts';
import { tensorFromProto } from '../../../frontend/onnx/protobuf/read-tensor.ts';
import { AdtValue, TensorValue } from '../../../runtime/values/value.ts';
import { VirtualMachine } from '../../../runtime/virtual-machine.ts';
import { firstDifference } from '../../../core/tensor/all-close.ts';
import { sharedPath } from '../../../testing/files/shared-path.ts';
import type { DispatchReport } from './dispatch.ts';
import { logarithmic } from './dispatchers.ts';

const MODEL = sharedPath('models/bert-toy/');

function tensor(path: string): HostTensor {
  return tensorFromProto(readMessage('TensorProto', readFileSync(`${MODEL}${path}`)), path);
}

test('a transformer by batch and length gives its published outputs', async () => {
  const reports: DispatchReport[] = [];
  const by = {
    0: [[1, 2] as const, [2, 4] as const],
    1: logarithmic({ min: 1, max: 31, base: 8 }),
  };
  const executable = compileOnnx(readFileSync(`${MODEL}model.onnx`), {
    dispatch: { main: { input_ids: by } },
    onDispatch: (report) => reports.push(report),
  });
  expect(reports).toMatchObject([{ name: 'main', clones: 4, pruned: 0 }]);
  const vm = await VirtualMachine.create(executable, { devices: [createHostDevice()] });
  const called = new Set<string>();
  for (const set of readdirSync(MODEL).filter((name) => name.startsWith('test_data'))) {
    const inputs = [0, 1, 2].map((i) => tensor(`${set}/input_${i}.pb`));
    called.add(String(inputs[0]?.shape));
    const result = await vm.get('main')(...inputs.map((input) => vm.tensor(input)));
    const first = result instanceof AdtValue ? result.fields[0] : result;
    if (!(first instanceof TensorValue)) throw new Error('the result is no tensor');
    const [actual] = await vm.read([first]);
    vm.release(result);
    if (actual === undefined) throw new Error('no result');
    const expected = tensor(`${set}/output_0.pb`);
    expect(firstDifference(actual, expected, { rtol: 1e-3, atol: 1e-4 })).toBeUndefined();
  }
  expect([...called]).toEqual(['1,7', '2,16', '3,1']);
  vm.dispose();
});
