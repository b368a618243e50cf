import { expect, test } from 'vitest';
import { ExecBuilder } from '../../bytecode/index.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { TestDevice } from '../testing/test-device.ts';
import { AdtValue, TensorValue } from '../values/value.ts';
import { VirtualMachine } from '../virtual-machine.ts';

async function machine(axis = 0): Promise<VirtualMachine> {
  const b = new ExecBuilder();
  const f = b.function('main', ['x', 'y']);
  f.ret(f.call('vm.builtin.append', [f.param('x'), axis, f.param('y')]));
  return VirtualMachine.create(b.build(), { devices: [new TestDevice()] });
}

async function appended(vm: VirtualMachine, x: TensorValue, y: HostTensor): Promise<TensorValue> {
  const result = await vm.invoke('main', [x, y], { donate: [0] });
  if (result instanceof TensorValue) return result;
  throw new Error('no tensor');
}

test('extends a tensor where there is room, and else moves it', async () => {
  const vm = await machine();
  let x = vm.tensor(HostTensor.from('int32', [1, 2], [0, 0]));
  const capacities: number[] = [];
  for (let n = 1; n < 12; n++) {
    x = await appended(vm, x, HostTensor.from('int32', [1, 2], [n, -n]));
    capacities.push(x.storage.byteLength / 8);
  }
  expect(capacities).toEqual([2, 6, 6, 6, 6, 14, 14, 14, 14, 14, 14]);
  const [read] = await vm.read([x]);
  expect([...(read?.data ?? [])]).toEqual(Array.from({ length: 12 }, (_, n) => [n, 0 - n]).flat());
  vm.release(x);
  expect(vm.memory().liveBytes).toBe(0);
});

test('along an inner axis keeps room behind each slice of the axes before', async () => {
  const b = new ExecBuilder();
  const f = b.function('main', ['x', 'y']);
  f.ret(f.call('vm.builtin.append', [f.param('x'), 1, f.param('y')]));
  const g = b.function('views', ['x']);
  const x0 = g.param('x');
  const copy = g.call('vm.builtin.copy', [x0]);
  const whole = g.call('vm.builtin.whole', [x0, 1]);
  const other = g.call('vm.builtin.whole', [x0, 0]);
  g.ret(g.call('vm.builtin.make_tuple', [copy, whole, other]));
  const device = new TestDevice();
  const vm = await VirtualMachine.create(b.build(), { devices: [device] });
  let x = vm.tensor(HostTensor.from('int32', [2, 1, 2], [0, 0, 100, 100]));
  const capacities: number[] = [];
  const row = (n: number) => HostTensor.from('int32', [2, 1, 2], [n, -n, 100 + n, 100 - n]);
  for (let n = 1; n < 12; n++) {
    x = await appended(vm, x, row(n));
    capacities.push(x.storage.byteLength / 16);
  }
  const expected = [0, 100].flatMap((base) =>
    Array.from({ length: 12 }, (_, n) => [base + n, base - n]).flat(),
  );
  const contents = async (tensor: TensorValue) => [...((await vm.read([tensor]))[0]?.data ?? [])];
  expect(capacities).toEqual([2, 6, 6, 6, 6, 14, 14, 14, 14, 14, 14]);
  expect(x.shape).toEqual([2, 12, 2]);
  expect(x.layout).toBe('|1,14');
  expect(await contents(x)).toEqual(expected);
  const result = await vm.invoke('views', [x]);
  const [copied, all, others] = result instanceof AdtValue ? result.fields : [];
  if (
    !(copied instanceof TensorValue && all instanceof TensorValue && others instanceof TensorValue)
  )
    throw new Error('no tensors');
  expect(copied.layout).toBe('');
  expect(await contents(copied)).toEqual(expected);
  expect(await contents(others)).toEqual(expected);
  expect(all.shape).toEqual([2, 14, 2]);
  expect(all.buffer).toBe(x.buffer);
  expect((await contents(all)).slice(28, 32)).toEqual([100, 100, 101, 99]);
  vm.release(result);
  vm.release(x);
  expect(vm.memory().liveBytes).toBe(0);
});

test('takes no more than is there', async () => {
  const b = new ExecBuilder();
  const f = b.function('main', ['x', 'y']);
  f.ret(f.call('vm.builtin.append', [f.param('x'), 0, f.param('y')]));
  const byteBudget = 20 * 1024;
  const vm = await VirtualMachine.create(b.build(), { devices: [new TestDevice()], byteBudget });
  let x = vm.tensor(HostTensor.zeros('int32', [1024]));
  for (let n = 0; n < 2; n++) x = await appended(vm, x, HostTensor.zeros('int32', [512]));
  // Twice as much would be beyond the budget beside the tensor that moves.
  expect(x.storage.byteLength).toBe(8 * 1024);
});

test.each([
  [0, HostTensor.zeros('int32', [2, 2]), HostTensor.zeros('float32', [1, 2])],
  [0, HostTensor.zeros('int32', [2, 2]), HostTensor.zeros('int32', [1, 3])],
  [1, HostTensor.zeros('int32', [2, 2]), HostTensor.zeros('int32', [3, 1])],
  [1, HostTensor.zeros('uint8', [2, 2]), HostTensor.zeros('uint8', [2, 2])],
  [0, HostTensor.zeros('uint8', [1]), HostTensor.zeros('uint8', [4])],
] as const)('along axis %i refuses other tensors', async (axis, x, y) => {
  const vm = await machine(axis);
  await expect(vm.invoke('main', [x, y])).rejects.toThrow(
    `append: got ${x.dtype} (${x.shape.join(', ')}${x.shape.length === 1 ? ',' : ''}) on test device and `,
  );
});

test.each([2, 3])('an axis that the tensor lacks: %i', async (axis) => {
  const vm = await machine(axis);
  const x = HostTensor.zeros('int32', [2, 2]);
  await expect(vm.invoke('main', [x, x])).rejects.toThrow(
    `append: got axis ${axis} of a tensor (2, 2), expected one of its axes.`,
  );
});
