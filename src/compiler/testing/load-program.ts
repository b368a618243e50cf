import { expect } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import type { HostInput } from '../../runtime/link/host-function.ts';
import { AdtValue, TensorValue, type Value } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { compile, type CompileOptions, type Executable } from '../compile.ts';
import { parseModule } from '../ir/text/parse.ts';

/** A program in text form on a device, for tests. */
export interface LoadedProgram {
  readonly executable: Executable;
  readonly vm: VirtualMachine;
  readonly device: Device;
  /**
   * Calls a function. Tensors become nested lists of numbers, data `[tag, ...fields]`. Everything
   * that the call allocated must be free again once its result is released.
   */
  readonly run: (name: string, ...args: readonly HostInput[]) => Promise<unknown>;
  /** Calls a function; the names of the kernels that it launched. */
  readonly launches: (name: string, ...args: readonly HostInput[]) => Promise<readonly string[]>;
}

export async function loadProgram(
  text: string,
  { device = createHostDevice(), ...options }: CompileOptions & { device?: Device } = {},
): Promise<LoadedProgram> {
  const executable = compile(parseModule(text), { verify: true, ...options });
  const vm = await VirtualMachine.create(executable, { devices: [device, createHostDevice()] });
  const { liveBytes } = vm.memory();
  const run = async (name: string, ...args: readonly HostInput[]): Promise<unknown> => {
    const result = await vm.get(name)(...args);
    const plain = await plainValue(vm, result);
    vm.release(result);
    expect(vm.memory().liveBytes).toBe(liveBytes);
    return plain;
  };
  const launches = async (name: string, ...args: readonly HostInput[]) => {
    const { result, timings } = await vm.profile(name, args);
    vm.release(result);
    return timings.map(({ primitive }) => primitive);
  };
  return { executable, vm, device, run, launches };
}

export async function plainValue(vm: VirtualMachine, value: Value): Promise<unknown> {
  if (value instanceof TensorValue) {
    const [tensor] = await vm.read([value]);
    return tensor === undefined ? undefined : nested(tensor, 0, 0);
  }
  if (!(value instanceof AdtValue)) return value;
  const fields: unknown[] = [];
  for (const field of value.fields) fields.push(await plainValue(vm, field));
  return [value.tag, ...fields];
}

function nested(tensor: HostTensor, axis: number, offset: number): unknown {
  const { shape, data } = tensor;
  const length = shape[axis];
  if (length === undefined) return Number(data[offset]);
  const stride = shape.slice(axis + 1).reduce((count, dim) => count * dim, 1);
  return Array.from({ length }, (_, i) => nested(tensor, axis + 1, offset + i * stride));
}

/** A float32 tensor. */
export function f32(shape: readonly number[], ...values: readonly number[]): HostTensor {
  return HostTensor.from('float32', shape, values);
}
