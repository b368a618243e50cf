import { describe, expect, test } from 'vitest';
import { logarithmic } from '../../compiler/passes/dispatch-by-shape/dispatchers.ts';
import type { DispatchReport } from '../../compiler/passes/dispatch-by-shape/dispatch.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { createWebGpuDevice } from '../../device/webgpu/index.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { AdtValue, TensorValue } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { firstDifference } from '../../core/tensor/all-close.ts';
import { ownModel } from '../../testing/files/own-model.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { compileOnnx } from './compile-onnx.ts';
import { readTensorFile } from './protobuf/read-tensor.ts';

const { onnx, dataSets } = ownModel('transformer');

/** Runs every data set on one machine, which meets another batch, length and past each time. */
async function expectOutputs(
  executable: ReturnType<typeof compileOnnx>,
  devices: Device[],
): Promise<void> {
  const machine = await VirtualMachine.create(executable, { devices });
  expect(dataSets).toHaveLength(3);
  for (const { name, inputs, outputs } of dataSets) {
    const values = inputs.map((bytes) => machine.tensor(readTensorFile(bytes).tensor));
    const result = await machine.get('main')(...values);
    if (!(result instanceof AdtValue)) throw new Error('no tuple of results');
    const fields = result.fields.filter((field) => field instanceof TensorValue);
    const actual = await machine.read(fields);
    machine.release(result);
    expect(actual).toHaveLength(outputs.length);
    for (const [i, bytes] of outputs.entries()) {
      const tensor = actual[i];
      if (tensor === undefined) throw new Error('a result is missing');
      const expected = readTensorFile(bytes).tensor;
      const difference = firstDifference(tensor, expected, { rtol: 1e-4, atol: 1e-5 });
      expect(difference, `${name}, output ${i}`).toBeUndefined();
    }
  }
  machine.dispose();
  for (const device of devices) device.destroy();
}

describe('a decoder with keys and values of earlier calls', () => {
  test('gives its outputs for every batch, length and past on the host device', () =>
    expectOutputs(compileOnnx(onnx), [createHostDevice()]));

  test('and on WebGPU', async () => {
    const device = await createWebGpuDevice({
      gpu: await sharedNodeGpu(),
      operators: CORE_OPERATORS,
    });
    await expectOutputs(compileOnnx(onnx), [device, createHostDevice()]);
  });

  test('and by clones for intervals of batch and length', async () => {
    const reports: DispatchReport[] = [];
    const by = {
      0: [[1, 2] as const, [2, 4] as const],
      1: logarithmic({ min: 1, max: 31, base: 8 }),
    };
    const executable = compileOnnx(onnx, {
      dispatch: { main: { input_ids: by } },
      onDispatch: (report) => reports.push(report),
    });
    expect(reports).toMatchObject([{ name: 'main', clones: 4, pruned: 0 }]);
    await expectOutputs(executable, [createHostDevice()]);
  });

  test('is all numbers with one batch, length and past', () => {
    const dims = { batch: 2, sequence: 5, past: 3 };
    const { functions } = compileOnnx(onnx, { dims });
    const [logits, key] = functions[0]?.signature?.results ?? [];
    expect(logits).toEqual({
      name: 'logits',
      type: { kind: 'tensor', dtype: 'float32', shape: [2, 5, 64] },
    });
    expect(key?.type).toEqual({ kind: 'tensor', dtype: 'float32', shape: [2, 3, 8, 8] });
  });
});
