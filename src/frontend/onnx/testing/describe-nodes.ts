import { afterAll, beforeAll, describe } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { IMPORTER_DEVICES } from '../../../device/testing/node-devices.ts';
import type { Device } from '../../../device/device.ts';
import { createHostDevice } from '../../../device/host/host-device.ts';
import { AdtValue, TensorValue } from '../../../runtime/values/value.ts';
import { VirtualMachine } from '../../../runtime/virtual-machine.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../../../testing/onnx-writer.ts';
import { compileOnnx } from '../compile-onnx.ts';

/** A tensor of a node and its shape in the model, where that has names. */
export interface NodeInput {
  readonly tensor: HostTensor;
  readonly shape: readonly (number | string)[];
}

export interface NodeRun {
  readonly op: string;
  readonly domain?: string;
  readonly opset?: number;
  readonly inputs: readonly (NodeInput | undefined)[];
  readonly outputCount: number;
  readonly attributes?: OnnxNodeSpec['attributes'];
}

/** Random floats; a dimension with a name is written `['s', 3]`. */
export function floats(
  random: () => number,
  ...dims: readonly (number | readonly [string, number])[]
): NodeInput {
  const shape = dims.map((dim) => (typeof dim === 'number' ? dim : dim[1]));
  const count = shape.reduce((a, b) => a * b, 1);
  const values = Array.from({ length: count }, () => random() * 2 - 1);
  return {
    tensor: HostTensor.from('float32', shape, values),
    shape: dims.map((dim) => (typeof dim === 'number' ? dim : dim[0])),
  };
}

export function ints(
  shape: readonly number[],
  values: readonly number[],
  dtype: 'int32' | 'int64' = 'int32',
): NodeInput {
  return { tensor: HostTensor.from(dtype, shape, values), shape };
}

/** The element of a tensor at some coordinates. */
export function at({ shape, elements }: HostTensor, ...coords: readonly number[]): number {
  const index = coords.reduce((sum, coord, axis) => sum * (shape[axis] ?? 1) + coord, 0);
  return Number(elements[index]);
}

/** Tests of nodes on the host and on WebGPU. */
export function describeNodes(
  title: string,
  define: (run: (node: NodeRun) => Promise<HostTensor[]>) => void,
): void {
  describe.each(IMPORTER_DEVICES)(`${title} on $title`, ({ open }) => {
    let device: Device;
    beforeAll(async () => {
      device = await open();
    });
    afterAll(() => device.destroy());
    define((node) => runNode(device, node));
  });
}

/** The outputs of a model of one node, whose inputs are all inputs of the model. */
async function runNode(
  device: Device,
  { op, domain = '', opset = 17, inputs, outputCount, attributes = {} }: NodeRun,
): Promise<HostTensor[]> {
  const outputs = Array.from({ length: outputCount }, (_, i) => `y${i}`);
  const bytes = writeOnnxModel({
    opset,
    opsets: { 'com.microsoft': 1 },
    inputs: inputs.flatMap((input, i) =>
      input === undefined ? [] : [{ name: `x${i}`, dtype: input.tensor.dtype, shape: input.shape }],
    ),
    nodes: [
      {
        op,
        domain,
        inputs: inputs.map((input, i) => (input === undefined ? '' : `x${i}`)),
        outputs,
        attributes,
      },
    ],
    outputs,
  });
  const vm = await VirtualMachine.create(compileOnnx(bytes), {
    devices: [device, createHostDevice()],
  });
  const tensors = inputs.flatMap((input) => (input === undefined ? [] : [vm.tensor(input.tensor)]));
  const result = await vm.get('main')(...tensors);
  const values = result instanceof AdtValue ? result.fields : [result];
  const read = await vm.read(
    values.flatMap((value) => (value instanceof TensorValue ? [value] : [])),
  );
  for (const value of [result, ...tensors]) vm.release(value);
  vm.dispose();
  return read;
}
