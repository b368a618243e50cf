import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { type HostFunction, type MachineValue, TensorValue, type Value } from '../index.ts';

/** Elements of a tensor, or a number repeated. */
async function elementsOf(vm: MachineValue, value: Value, count: number): Promise<number[]> {
  if (typeof value === 'number') return new Array<number>(count).fill(value);
  if (!(value instanceof TensorValue)) throw new TypeError('expected a tensor or an int');
  const [host] = await vm.read([value]);
  return Array.from(host?.data ?? [], Number);
}

function elementwise(combine: (a: number, b: number) => number): HostFunction {
  return async (vm: MachineValue, a: TensorValue, b: Value) => {
    const count = a.shape.reduce((product, dim) => product * dim, 1);
    const [x, y] = await Promise.all([elementsOf(vm, a, count), elementsOf(vm, b, count)]);
    const result = x.map((element, i) => combine(element, y[i] ?? Number.NaN));
    return HostTensor.from('float32', a.shape, result);
  };
}

/** Packed functions of the examples, over float32 tensors; `%vm` comes first. */
export const VECTOR_FUNCTIONS: Readonly<Record<string, HostFunction>> = {
  'test.move': (x: Value) => x,
  'test.add': elementwise((a, b) => a + b),
  'test.mul': elementwise((a, b) => a * b),
};
