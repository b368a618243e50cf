import { compile } from '../../../src/compiler/compile.ts';
import type { Module } from '../../../src/compiler/ir/expr.ts';
import type { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import type { Device } from '../../../src/device/device.ts';
import { createHostDevice } from '../../../src/device/host/host-device.ts';
import type { HostInput } from '../../../src/runtime/host-function.ts';
import { AdtValue, TensorValue, type Value } from '../../../src/runtime/value.ts';
import { VirtualMachine } from '../../../src/runtime/virtual-machine.ts';

/** Runs `main` of a program, compiled, on a device: the tensors of its result, in order. */
export async function runDerivatives(
  module: Module,
  args: readonly HostInput[],
  device: Device,
): Promise<readonly HostTensor[]> {
  const host = createHostDevice();
  const machine = await VirtualMachine.create(compile(module), {
    devices: device.info.adapterClass === 'host' ? [device] : [device, host],
    compile: 'on demand',
  });
  try {
    const result = await machine.get('main')(...args);
    const tensors = await machine.read(tensorsIn(result));
    machine.release(result);
    return tensors;
  } finally {
    machine.dispose();
  }
}

function tensorsIn(value: Value): TensorValue[] {
  if (value instanceof TensorValue) return [value];
  return value instanceof AdtValue ? value.fields.flatMap(tensorsIn) : [];
}
