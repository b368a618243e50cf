import { describe, expect, test } from 'vitest';
import { ExecBuilder, Executable, type FunctionBuilder } from '../../bytecode/index.ts';
import type { Operand } from '../../bytecode/build/function-builder.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import type { DeviceTensor } from '../../device/device.ts';
import { floatsOf, TestDevice, type TestDeviceOptions } from '../testing/test-device.ts';
import { AdtValue, TensorValue, type Value } from '../values/value.ts';
import { VirtualMachine } from '../virtual-machine.ts';

function primitive(name: string, input: readonly Dim[], output: readonly Dim[]): PrimitiveFunction {
  return {
    name,
    params: [{ dtype: 'float32', shape: input }],
    body: [{ op: 'relu', inputs: [0], attributes: {} }],
    results: [{ value: 1, type: { dtype: 'float32', shape: output } }],
  };
}

function increment(args: readonly DeviceTensor[]): void {
  const [input, output] = args.map(floatsOf);
  output?.set(input?.map((element) => element + 1) ?? []);
}

const KERNELS: TestDeviceOptions = { kernels: { increment } };

/** `main(x, y)` runs the kernel from x to y and returns y. */
function launching(kernel: PrimitiveFunction): ExecBuilder {
  const b = new ExecBuilder();
  b.primitive(kernel);
  const f = b.function('main', ['x', 'y']);
  f.call(kernel.name, [f.param('x'), f.param('y')]);
  f.ret(f.param('y'));
  return b;
}

async function floats(vm: VirtualMachine, value: Value): Promise<number[]> {
  if (!(value instanceof TensorValue)) throw new Error('internal: the result is no tensor');
  const [host] = await vm.read([value]);
  return Array.from(host?.data ?? [], Number);
}

const zeros = (...shape: number[]) => HostTensor.zeros('float32', shape);

describe('kernels', () => {
  test('write their results to the last arguments', async () => {
    const b = launching(primitive('increment', ['n'], ['n']));
    const vm = await VirtualMachine.create(b.build(), { devices: [new TestDevice(KERNELS)] });
    const x = HostTensor.from('float32', [3], [1, 2, 3]);
    expect(await floats(vm, await vm.invoke('main', [x, zeros(3)]))).toEqual([2, 3, 4]);
  });

  test('profile gives results, launches and the number of instructions', async () => {
    const b = launching(primitive('increment', ['n'], ['n']));
    const vm = await VirtualMachine.create(b.build(), { devices: [new TestDevice(KERNELS)] });
    const profile = await vm.profile('main', [zeros(2), zeros(2)]);
    expect(await floats(vm, profile.result)).toEqual([1, 1]);
    expect(profile.instructionCount).toBe(2);
    expect(profile.timings).toMatchObject([{ primitive: 'increment', label: 'increment' }]);
  });

  test('refuse arguments of another type, and constants as results', async () => {
    const kernel = primitive('increment', ['n', 2], [{ op: 'add', left: 'n', right: 1 }, 'm']);
    const b = launching(kernel);
    const f = b.function('constant', ['x']);
    f.ret(f.call('main', [f.param('x'), b.tensor(zeros(3, 2))]));
    const vm = await VirtualMachine.create(b.build(), { devices: [new TestDevice(KERNELS)] });
    const message = (...args: (HostTensor | number)[]) =>
      vm.invoke(args.length === 1 ? 'constant' : 'main', args).then(
        () => 'accepted',
        (error: unknown) => String(error).split('\n')[0],
      );
    expect(await message(zeros(2, 2), zeros(3, 7))).toBe('accepted');
    expect(await message(zeros(2, 2), zeros(4, 7))).toMatchInlineSnapshot(
      `"ShapeError: kernel increment, argument 1: got float32 tensor (4, 7), expected float32 ((n + 1), m)."`,
    );
    expect(await message(zeros(2, 3), zeros(3, 7))).toMatchInlineSnapshot(
      `"ShapeError: kernel increment, argument 0: got float32 tensor (2, 3), expected float32 (n, 2)."`,
    );
    expect(await message(zeros(2), zeros(3, 7))).toMatchInlineSnapshot(
      `"ShapeError: kernel increment, argument 0: got float32 tensor (2,), expected float32 (n, 2)."`,
    );
    expect(await message(zeros(2, 2), HostTensor.zeros('int32', [3, 7]))).toMatchInlineSnapshot(
      `"ShapeError: kernel increment, argument 1: got int32 tensor (3, 7), expected float32 ((n + 1), m)."`,
    );
    expect(await message(zeros(2, 2), 3)).toMatchInlineSnapshot(
      `"RuntimeError: kernel increment, argument 1: got int 3, expected a tensor on test device."`,
    );
    expect(await message(zeros(2, 2))).toMatchInlineSnapshot(
      `"RuntimeError: kernel increment, argument 1: got a constant as destination, expected a tensor from alloc_tensor over memory that the call uses for nothing else."`,
    );
    expect(vm.memory().liveBytes).toBe(256);
  });

  test('refuse results over what they read, and over each other', async () => {
    const type = { dtype: 'float32', shape: [64] } as const;
    const [relu, abs] = ['relu', 'abs'].map((op) => ({ op, inputs: [0], attributes: {} }));
    const b = new ExecBuilder();
    b.definePrimitive({
      name: 'split',
      params: [type],
      body: [relu, abs].flatMap((call) => call ?? []),
      results: [1, 2].map((value) => ({ value, type })),
    });
    const views = (f: FunctionBuilder, storage: Operand, offsets: readonly number[]) =>
      offsets.map((offset) =>
        f.call('vm.builtin.alloc_tensor', [storage, offset, b.shape([64]), b.dtype('float32')]),
      );
    const launch = (name: string, offsets: readonly number[], isApart: boolean) => {
      const f = b.function(name, ['x']);
      const storage = f.call('vm.builtin.alloc_storage', [512, 0]);
      const first = isApart ? [f.param('x')] : [];
      f.call('split', [...first, ...views(f, storage, offsets)], { into: f.void });
      f.ret(0);
    };
    launch('reads', [0, 256, 256], false);
    launch('overlaps', [0, 0], true);
    launch('apart', [0, 256], true);
    const device = new TestDevice({ kernels: { split: () => undefined } });
    const vm = await VirtualMachine.create(b.build(), { devices: [device] });
    const x = HostTensor.zeros('float32', [64]);
    await expect(vm.invoke('reads', [x])).rejects.toThrow(
      'kernel split, argument 1: got a destination in the storage of argument 0, which the kernel does not overwrite',
    );
    await expect(vm.invoke('overlaps', [x])).rejects.toThrow(
      'kernel split, argument 2: got a destination in the storage of argument 1',
    );
    await expect(vm.invoke('apart', [x])).resolves.toBe(0);
    vm.dispose();
  });
});

describe('two devices', () => {
  /** `gpu` on device 0, `host` on device 1, with copies between. */
  function placed(withCopies: boolean): ExecBuilder {
    const b = new ExecBuilder();
    b.primitive(primitive('gpu', ['n'], ['n']));
    b.primitive({ ...primitive('host', ['n'], ['n']), device: 'host' });
    const f = b.function('main', ['x', 'y']);
    f.call('gpu', [f.param('x'), f.param('y')]);
    const to = (value: ReturnType<typeof f.param>, device: number) =>
      withCopies ? f.call('vm.builtin.to_device', [value, device]) : value;
    const [x, y] = [to(f.param('y'), 1), to(f.param('x'), 1)];
    f.call('host', [x, y]);
    f.ret(to(y, 0));
    return b;
  }

  const devices = () => [
    new TestDevice({ name: 'the GPU', mustWait: true, kernels: { gpu: increment } }),
    new TestDevice({ name: 'the host', kernels: { host: increment } }),
  ];

  test('a primitive that is placed on the host runs there', async () => {
    const pair = devices();
    const vm = await VirtualMachine.create(placed(true).build(), { devices: pair });
    const result = await vm.invoke('main', [zeros(3), zeros(3)]);
    expect(await floats(vm, result)).toEqual([2, 2, 2]);
    expect(result).toMatchObject({ storage: { device: pair[0] } });
    expect(pair.map((device) => device.counters().launches)).toEqual([1, 1]);
    vm.release(result);
    expect(vm.memory()).toMatchObject({ liveBytes: 0 });
    expect(vm.memory().devices).toHaveLength(2);
  });

  test('a tensor on the wrong device is refused with a remedy', async () => {
    const vm = await VirtualMachine.create(placed(false).build(), { devices: devices() });
    await expect(
      vm.invoke('main', [zeros(3), zeros(3)]),
    ).rejects.toThrowErrorMatchingInlineSnapshot(`
      [RuntimeError: kernel host, argument 0: got float32 tensor (3,) on the GPU, expected a tensor on the host. Place a vm.builtin.to_device before the call.
          at main, instruction 1 (line 5): call host(%1, %0)]
    `);
  });

  test('what the first device refuses is refused, though another one would run it', async () => {
    const b = launching(primitive('host', ['n'], ['n']));
    await expect(VirtualMachine.create(b.build(), { devices: devices() })).rejects.toThrow(
      'the GPU cannot run host',
    );
  });

  test('what one device refuses frees the kernels of the other', async () => {
    const b = placed(true);
    b.primitive({ ...primitive('nobody', ['n'], ['n']), device: 'host' });
    const pair = devices();
    await expect(VirtualMachine.create(b.build(), { devices: pair })).rejects.toThrow(
      'the host cannot run nobody',
    );
    expect(pair[0]?.journal).toContain('dispose kernels');
  });

  test('a machine without a host refuses what is placed there', async () => {
    const [gpu] = devices();
    const load = VirtualMachine.create(placed(true).build(), { devices: gpu ? [gpu] : [] });
    await expect(load).rejects.toThrow(
      'kernel host: got a machine without a host device, expected one: the program runs this kernel on the host.',
    );
  });

  test('a constant for the host lies there, and is another than the equal one of the session', async () => {
    const b = placed(true);
    const one = HostTensor.from('float32', [3], [1, 1, 1]);
    const f = b.function('constants');
    const shape = f.call('vm.builtin.shape_of', [b.tensor(one)]);
    const place = (device: number) => {
      const storage = f.call('vm.builtin.alloc_storage', [12, device]);
      return f.call('vm.builtin.alloc_tensor', [storage, 0, shape, b.dtype('float32')]);
    };
    const [onGpu, onHost] = [place(0), place(1)];
    f.call('gpu', [b.tensor(one), onGpu]);
    f.call('host', [b.tensor(one, 'host'), onHost]);
    f.ret(f.call('vm.builtin.make_tuple', [onGpu, f.call('vm.builtin.to_device', [onHost, 0])]));
    const executable = Executable.fromBytes(b.build().toBytes());
    expect(executable.constants.filter(({ kind }) => kind === 'tensor')).toMatchObject([
      { byteOffset: 0 },
      { byteOffset: 256, device: 'host' },
    ]);
    const pair = devices();
    const vm = await VirtualMachine.create(executable, { devices: pair });
    const result = await vm.invoke('constants', []);
    if (!(result instanceof AdtValue)) throw new Error('no tuple');
    for (const field of result.fields) expect(await floats(vm, field)).toEqual([2, 2, 2]);
    expect(vm.memory().devices.map(({ reservedBytes }) => reservedBytes)).toEqual([256, 256]);
  });

  test('the host alone stands for both devices', async () => {
    const b = new ExecBuilder();
    const f = b.function('main', ['x']);
    const moved = f.call('vm.builtin.to_device', [f.param('x'), 1]);
    f.ret(moved);
    const { log } = console;
    const vm = await VirtualMachine.create(b.build(), { devices: [new TestDevice()], log });
    const x = vm.tensor(zeros(2));
    expect(await vm.invoke('main', [x])).toBe(x);
    const gpu = new TestDevice({ mustWait: true });
    const alone = await VirtualMachine.create(b.build(), { devices: [gpu] });
    await expect(alone.invoke('main', [zeros(2)])).rejects.toThrow(
      'got device index 1, expected an index below 1.',
    );
  });
});
