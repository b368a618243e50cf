import { describe, expect, test } from 'vitest';
import { ExecBuilder } from '../bytecode/index.ts';
import { DeviceLostError } from '../core/errors.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { macrotask } from '../core/async/macrotask.ts';
import type { HostFunction } from './link/host-function.ts';
import { TestDevice } from './testing/test-device.ts';
import type { TensorValue, Value } from './values/value.ts';
import { VirtualMachine } from './virtual-machine.ts';

/** `spin()` never ends, `wait(x)` calls `test.wait`, `branch(x)` reads a tensor, `answer()`. */
function program(): ExecBuilder {
  const b = new ExecBuilder();
  const spin = b.function('spin');
  const storage = spin.call('vm.builtin.alloc_storage', [512, 0]);
  const top = spin.label();
  spin.place(top);
  spin.call('vm.builtin.make_tuple', [storage], { into: spin.void });
  spin.goto(top);
  const wait = b.function('wait', ['x']);
  const waited = wait.call('test.wait', [wait.param('x')]);
  wait.ret(wait.call('vm.builtin.make_tuple', [waited, wait.param('x')]));
  const branch = b.function('branch', ['x']);
  const otherwise = branch.label();
  branch.if(branch.call('vm.builtin.read_if_cond', [branch.param('x')]), otherwise);
  branch.ret(10);
  branch.place(otherwise);
  branch.ret(20);
  b.function('answer').ret(42);
  return b;
}

async function load(device: TestDevice, wait: HostFunction = () => 0): Promise<VirtualMachine> {
  const functions = { 'test.wait': wait };
  return VirtualMachine.create(program().build(), { devices: [device], functions });
}

function gate() {
  let open: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open: () => open() };
}

describe('a branch on a tensor', () => {
  const truths = [
    HostTensor.from('bool', [], [1]),
    HostTensor.from('int64', [1, 1], [-1]),
    HostTensor.from('float16', [], [0x3c00]),
    HostTensor.from('uint8', [1], [3]),
  ];
  const falsehoods = [
    HostTensor.from('bool', [], [0]),
    HostTensor.from('float32', [], [-0]),
    HostTensor.from('float16', [1], [0x8000]),
    HostTensor.from('int64', [], [0]),
  ];

  test('awaits nothing where the device can be read at once', async () => {
    const device = new TestDevice();
    const vm = await load(device);
    for (const x of truths) expect(await vm.invoke('branch', [x])).toBe(10);
    for (const x of falsehoods) expect(await vm.invoke('branch', [x])).toBe(20);
    expect(await vm.invoke('branch', [3])).toBe(10);
    expect(device.counters().readbacks).toBe(0);
  });

  test('awaits one readback where it cannot', async () => {
    const device = new TestDevice({ mustWait: true });
    const vm = await load(device);
    for (const x of truths) expect(await vm.invoke('branch', [x])).toBe(10);
    for (const x of falsehoods) expect(await vm.invoke('branch', [x])).toBe(20);
    expect(device.counters().readbacks).toBe(8);
  });

  test('on more than one element is a ShapeError', async () => {
    const vm = await load(new TestDevice());
    await expect(vm.invoke('branch', [HostTensor.zeros('int32', [2])])).rejects.toThrow(
      'read_if_cond: got int32 tensor (2,), expected one element.',
    );
  });
});

describe('several calls in flight', () => {
  test('each has its own stack', async () => {
    const gates = [gate(), gate(), gate()];
    const vm = await load(new TestDevice(), async (x: number) => {
      await gates[x]?.promise;
      return x * 10;
    });
    const calls = [0, 1, 2].map((x) => vm.invoke('wait', [x]));
    gates[2]?.open();
    expect(await calls[2]).toMatchObject({ fields: [20, 2] });
    expect(await vm.invoke('answer')).toBe(42);
    gates[0]?.open();
    gates[1]?.open();
    expect(await Promise.all(calls)).toMatchObject([{ fields: [0, 0] }, { fields: [10, 1] }, {}]);
  });

  test('a long run lets others and the event loop in', async () => {
    const vm = await load(new TestDevice());
    const stop = new AbortController();
    const spinning = vm.invoke('spin', [], { signal: stop.signal });
    await macrotask();
    expect(await vm.invoke('answer')).toBe(42);
    stop.abort();
    await expect(spinning).rejects.toThrow('This operation was aborted');
  });
});

describe('abort', () => {
  test('before the call, while it runs, and while it waits', async () => {
    const device = new TestDevice({ mustWait: true });
    const hold = gate();
    device.holdReads(hold.promise);
    const vm = await load(device);
    const { signal } = new AbortController();
    expect(await vm.invoke('answer', [], { signal })).toBe(42);
    const aborted = AbortSignal.abort();
    await expect(vm.invoke('answer', [], { signal: aborted })).rejects.toHaveProperty(
      'name',
      'AbortError',
    );
    const reason = new Error('the user left');
    for (const args of [['spin'], ['branch', HostTensor.from('int32', [], [1])]] as const) {
      const stop = new AbortController();
      const [name, ...inputs] = args;
      const call = vm.invoke(name, inputs, { signal: stop.signal });
      const rejected = expect(call).rejects.toBe(reason);
      await macrotask();
      stop.abort(reason);
      await rejected;
    }
    expect(vm.memory().liveBytes).toBe(256);
    hold.open();
    await vm.invoke('branch', [1]);
    await macrotask();
    expect(vm.memory().liveBytes).toBe(0);
  });

  test('an async function keeps its arguments until it is done', async () => {
    const hold = gate();
    let seen: Value = null;
    const vm: VirtualMachine = await load(new TestDevice(), async (x: TensorValue) => {
      await hold.promise;
      seen = vm.readSync(x)?.elements[0]?.toString() ?? null;
      return HostTensor.zeros('float32', [100]);
    });
    const stop = new AbortController();
    const input = HostTensor.from('int32', [1], [77]);
    const call = vm.invoke('wait', [input], { signal: stop.signal });
    stop.abort();
    await expect(call).rejects.toHaveProperty('name', 'AbortError');
    expect(vm.memory().liveBytes).toBe(256);
    hold.open();
    await macrotask();
    expect(seen).toBe('77');
    expect(vm.memory().liveBytes).toBe(0);
  });
});

describe('the end of a machine', () => {
  test('dispose rejects calls in flight and later ones, and frees everything', async () => {
    const device = new TestDevice();
    const vm = await load(device, () => new Promise<number>(() => undefined));
    const kept = vm.tensor(HostTensor.zeros('float32', [1000]));
    const calls = [vm.invoke('wait', [kept]), vm.invoke('spin')];
    const outcomes = Promise.allSettled(calls);
    await macrotask();
    expect(device.counters().bytesLive).toBeGreaterThan(0);
    vm.dispose();
    vm.dispose();
    const message =
      'virtual machine: got a call of a machine that was disposed of, expected a live machine.';
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'UsageError' } });
    }
    await expect(vm.invoke('answer')).rejects.toThrow(message);
    await expect(vm.read([kept])).rejects.toThrow(message);
    expect(() => vm.tensor(HostTensor.zeros('float32', [1]))).toThrow(message);
    expect(vm.memory()).toMatchObject({ liveBytes: 0, pooledBytes: 0, constantBytes: 0 });
    expect(device.counters()).toMatchObject({ buffersLive: 0, bytesLive: 0 });
    vm.release(kept);
  });

  test('a tensor that comes from a function after dispose leaves no buffer', async () => {
    const device = new TestDevice();
    const hold = gate();
    const vm = await load(device, async () => {
      await hold.promise;
      return HostTensor.zeros('float32', [100]);
    });
    const call = vm.invoke('wait', [1]);
    vm.dispose();
    await expect(call).rejects.toThrow('a machine that was disposed of');
    hold.open();
    await macrotask();
    expect(device.counters()).toMatchObject({ buffersCreated: 0, bytesLive: 0 });
  });

  test('a function that disposes of its own machine', async () => {
    const vm: VirtualMachine = await load(new TestDevice(), () => vm.dispose());
    await expect(vm.invoke('wait', [1])).rejects.toThrow('a machine that was disposed of');
  });

  test('device loss rejects pending and later calls', async () => {
    const device = new TestDevice({ mustWait: true });
    device.holdReads(new Promise(() => undefined));
    const vm = await load(device);
    const pending = vm.invoke('branch', [HostTensor.from('int32', [], [1])]);
    const lost = new DeviceLostError('the GPU went away');
    device.lose(lost);
    await expect(pending).rejects.toBe(lost);
    await expect(vm.invoke('answer')).rejects.toBe(lost);
    expect(device.counters().bytesLive).toBe(0);
  });

  test('abort while loading frees what was made', async () => {
    const b = new ExecBuilder();
    b.function('main').ret(b.tensor(HostTensor.from('float32', [3], [1, 2, 3])));
    const device = new TestDevice();
    const stop = new AbortController();
    const executable = b.build();
    async function* blocks() {
      yield { byteOffset: 0, bytes: executable.data.subarray(0, 4) };
      stop.abort();
      yield { byteOffset: 4, bytes: executable.data.subarray(4) };
    }
    const options = { devices: [device], signal: stop.signal, dataBlocks: blocks() };
    await expect(VirtualMachine.create(executable, options)).rejects.toHaveProperty(
      'name',
      'AbortError',
    );
    expect(device.counters().bytesLive).toBe(0);
  });
});
