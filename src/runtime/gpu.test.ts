import { describe, expect, test } from 'vitest';
import { ExecBuilder } from '../bytecode/index.ts';
import type { Executable } from '../bytecode/index.ts';
import type { OperandLike } from '../bytecode/build/function-builder.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import type {
  AttributeValue,
  PrimitiveFunction,
  TensorType,
} from '../core/contracts/primitive-function.ts';
import type { Device } from '../device/device.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { createWebGpuDevice } from '../device/webgpu/index.ts';
import { CORE_OPERATORS } from '../ops/tables/core-operators.ts';
import { nodeGpu } from '../testing/node-gpu.ts';
import { FORMS } from './testing/forms.ts';
import { TensorValue, type Value } from './values/value.ts';
import { VirtualMachine } from './virtual-machine.ts';

const VECTOR: TensorType = { dtype: 'float32', shape: ['n'] };
const SCALAR: TensorType = { dtype: 'float32', shape: [] };
const FLAG: TensorType = { dtype: 'bool', shape: [] };

interface PrimitiveOptions {
  readonly params: readonly TensorType[];
  readonly result: TensorType;
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
}

function primitive(name: string, op: string, options: PrimitiveOptions): PrimitiveFunction {
  const { params, result, attributes = {} } = options;
  const inputs = params.map((_, index) => index);
  return {
    name,
    params,
    body: [{ op, inputs, attributes }],
    results: [{ value: params.length, type: result }],
  };
}

/** Doubles `x` until its sum exceeds the limit: the GPU decides how often the loop turns. */
function doubleUntil(): Executable {
  const b = new ExecBuilder();
  b.primitive(primitive('double', 'add', { params: [VECTOR, VECTOR], result: VECTOR }));
  const attributes = { axes: [0], keepdims: false };
  b.primitive(primitive('sum', 'reduce_sum', { params: [VECTOR], result: SCALAR, attributes }));
  b.primitive(primitive('exceeds', 'greater', { params: [SCALAR, SCALAR], result: FLAG }));
  const f = b.function('main', ['x']);
  const allocate = (shape: OperandLike, dtype: OperandLike) => {
    const storage = f.call('vm.builtin.alloc_storage', [4096, 0]);
    return f.call('vm.builtin.alloc_tensor', [storage, 0, shape, dtype]);
  };
  const [float, bool, scalar] = [b.dtype('float32'), b.dtype('bool'), b.shape([])];
  const limit = b.tensor(HostTensor.from('float32', [], [1000]));
  const [current, count] = [f.fresh(), f.fresh()];
  f.call('vm.builtin.reshape', [f.param('x'), b.shape([100])], { into: current });
  f.call('vm.builtin.int_add', [0, 0], { into: count });
  const [top, done] = [f.label(), f.label()];
  f.place(top);
  const sum = allocate(scalar, float);
  f.call('sum', [current, sum]);
  const flag = allocate(scalar, bool);
  f.call('exceeds', [sum, limit, flag]);
  const next = f.label();
  f.if(f.call('vm.builtin.read_if_cond', [flag]), next);
  f.goto(done);
  f.place(next);
  const doubled = allocate(b.shape([100]), float);
  f.call('double', [current, current, doubled]);
  f.call('vm.builtin.reshape', [doubled, b.shape([100])], { into: current });
  f.call('vm.builtin.int_add', [count, 1], { into: count });
  f.goto(top);
  f.place(done);
  f.ret(f.call('vm.builtin.make_tuple', [count, current]));
  return b.build();
}

const DEVICES: readonly [string, () => Promise<Device>, number][] = [
  ['the host', async () => createHostDevice(), 0],
  [
    'WebGPU',
    async () => createWebGpuDevice({ gpu: await nodeGpu(), operators: CORE_OPERATORS }),
    5,
  ],
];

describe.each(DEVICES)('on %s', (_, createDevice, readbacks) => {
  test.each(FORMS)('a loop branches on a tensor of the device, %s', async (_, form) => {
    const device = await createDevice();
    const vm = await VirtualMachine.create(form(doubleUntil()), { devices: [device] });
    const before = device.counters();
    const result = await vm.invoke('main', [HostTensor.splat('float32', [100], 1)]);
    const [count, tensor] = fieldsOf(result);
    expect(count).toBe(4);
    if (!(tensor instanceof TensorValue)) throw new Error('internal: the result is no tensor');
    if (device.kind === 'webgpu') {
      expect(device.counters().readbacks - before.readbacks).toBe(readbacks);
      expect(device.counters().pipelinesCreated).toBe(before.pipelinesCreated);
    }
    const [host] = await vm.read([tensor]);
    expect(host?.elements.every((element) => element === 16)).toBe(true);
    vm.release(result);
    expect(vm.memory().liveBytes).toBe(0);
    vm.dispose();
    device.destroy();
  });

  test('constants of every form, copies and to_device', async () => {
    const b = new ExecBuilder();
    const f = b.function('main');
    const bools = b.tensor(HostTensor.from('bool', [5], [1, 0, 1, 1, 0]));
    const bytes = b.tensor(HostTensor.from('int8', [3], [-1, 2, -3]));
    const splat = b.tensor(HostTensor.splat('float32', [1000, 30], 0.25));
    const fields = [bools, bytes, splat].map((tensor) => {
      const copy = f.call('vm.builtin.copy', [tensor]);
      return f.call('vm.builtin.to_device', [copy, 1]);
    });
    f.ret(f.call('vm.builtin.make_tuple', fields));
    const [device, host] = [await createDevice(), createHostDevice()];
    const vm = await VirtualMachine.create(b.build(), { devices: [device, host] });
    const result = await vm.invoke('main');
    const tensors = fieldsOf(result).filter((field) => field instanceof TensorValue);
    expect(tensors.every(({ storage }) => storage.device === host)).toBe(true);
    const [flags, ints, floats] = await vm.read(tensors);
    expect([...(flags?.elements ?? [])]).toEqual([1, 0, 1, 1, 0]);
    expect([...(ints?.elements ?? [])]).toEqual([-1, 2, -3]);
    expect(floats?.elements.length).toBe(30_000);
    expect(floats?.elements.every((element) => element === 0.25)).toBe(true);
    vm.release(result);
    expect(vm.memory().liveBytes).toBe(0);
    vm.dispose();
    expect([device, host].map((one) => one.counters().bytesLive)).toEqual([0, 0]);
    device.destroy();
  });
});

function fieldsOf(value: Value): readonly Value[] {
  if (typeof value === 'object' && value?.kind === 'adt') return value.fields;
  throw new Error('internal: the result is no tuple');
}
