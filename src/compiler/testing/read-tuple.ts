import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { AdtValue, TensorValue, type Value } from '../../runtime/values/value.ts';
import type { VirtualMachine } from '../../runtime/virtual-machine.ts';

/** The elements of tensors, each as a list. */
export function lists(values: readonly unknown[]): number[][] {
  return values.map((value) => {
    if (value instanceof HostTensor) return [...value.data].map(Number);
    throw new Error('no tensor');
  });
}

/** The elements of the tensors of a tuple. */
async function contents(vm: VirtualMachine, value: Value): Promise<number[][]> {
  const fields = value instanceof AdtValue ? value.fields : [];
  return lists(await vm.read(fields.filter((field) => field instanceof TensorValue)));
}

/** The elements of a tuple, which then is free. */
export async function taken(vm: VirtualMachine, result: Promise<Value>): Promise<number[][]> {
  const value = await result;
  const read = await contents(vm, value);
  vm.release(value);
  return read;
}
