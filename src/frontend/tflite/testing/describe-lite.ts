import { afterAll, beforeAll, describe } from 'vitest';
import type { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { createHostDevice } from '../../../device/host/host-device.ts';
import type { Device } from '../../../device/device.ts';
import { HOST, WASM } from '../../../device/testing/node-devices.ts';
import { AdtValue, TensorValue } from '../../../runtime/values/value.ts';
import { VirtualMachine } from '../../../runtime/virtual-machine.ts';
import { compileTflite } from '../compile-tflite.ts';
import {
  type TfliteModelSpec,
  type TfliteOperatorSpec,
  type TfliteTensorSpec,
  writeTflite,
} from './tflite-writer.ts';

/** An operator with its tensors: those without data are inputs of the program, in the order of the operator. */
export interface LiteRun extends Omit<TfliteOperatorSpec, 'inputs' | 'outputs'> {
  readonly inputs: readonly (LiteInput | undefined)[];
  readonly outputs: readonly TfliteTensorSpec[];
}

/** A tensor, and its elements where the program takes it as an input. */
export interface LiteInput extends TfliteTensorSpec {
  readonly given?: HostTensor;
}

/** The model of one operator. */
export function modelOf({ inputs, outputs, ...operator }: LiteRun): TfliteModelSpec {
  const named = inputs.flatMap((tensor, i) => (tensor === undefined ? [] : [[`x${i}`, tensor]]));
  const results = outputs.map((tensor, i) => [`y${i}`, tensor]);
  return {
    graphs: [
      {
        tensors: Object.fromEntries([...named, ...results]),
        inputs: inputs.flatMap((tensor, i) => (tensor?.given === undefined ? [] : [`x${i}`])),
        outputs: outputs.map((_, i) => `y${i}`),
        operators: [
          {
            ...operator,
            inputs: inputs.map((tensor, i) => (tensor === undefined ? '' : `x${i}`)),
            outputs: outputs.map((_, i) => `y${i}`),
          },
        ],
      },
    ],
  };
}

/** Tests of operators on the host and on wasm. */
export function describeLite(
  title: string,
  define: (run: (operator: LiteRun) => Promise<HostTensor[]>) => void,
): void {
  describe.each([HOST, WASM])(`${title} on $title`, ({ open }) => {
    let device: Device;
    beforeAll(async () => {
      device = await open();
    });
    afterAll(() => device.destroy());
    define((operator) => {
      const inputs = operator.inputs.flatMap((input) => input?.given ?? []);
      return runTflite(device, modelOf(operator), inputs);
    });
  });
}

/** The outputs of a model on a device. */
export async function runTflite(
  device: Device,
  model: TfliteModelSpec,
  inputs: readonly HostTensor[],
): Promise<HostTensor[]> {
  const vm = await VirtualMachine.create(compileTflite(writeTflite(model)), {
    devices: [device, createHostDevice()],
  });
  const tensors = inputs.map((input) => vm.tensor(input));
  const result = await vm.get('main')(...tensors);
  const values = result instanceof AdtValue ? result.fields : [result];
  const read = await vm.read(
    values.flatMap((value) => (value instanceof TensorValue ? [value] : [])),
  );
  for (const value of [result, ...tensors]) vm.release(value);
  vm.dispose();
  return read;
}
