import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { DEVICES } from '../../device/testing/node-devices.ts';
import { NaiveAllocator } from '../../runtime/testing/naive-allocator.ts';
import { AdtValue, TensorValue, type Value } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { compile } from '../compile.ts';
import { parseModule } from '../ir/text/parse.ts';

/** A cache of 64 rows; a step writes one row of it and reads all. */
const STEP = `def @main(%cache: Tensor[(1, 64, 16), float32], %row: Tensor[(1, 1, 16), float32], %at: Tensor[(1,), int32]) {
  let %next = tensor_scatter(%cache, %row, %at, axis=1);
  (%next, reduce_sum(%next, axes=[1]))
}`;

const row = (value: number): HostTensor =>
  HostTensor.from('float32', [1, 1, 16], new Array<number>(16).fill(value));
const at = (index: number): HostTensor => HostTensor.from('int32', [1], [index]);

describe.each(DEVICES)('a state that steps give to each other on $title', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  async function machine(): Promise<VirtualMachine> {
    const executable = compile(parseModule(STEP));
    return VirtualMachine.create(executable, { devices: [device, createHostDevice()] });
  }

  async function step(vm: VirtualMachine, cache: TensorValue, n: number): Promise<TensorValue> {
    const inputs = [cache, row(n + 1), at(n % 64)];
    const result = await vm.invoke('main', inputs, { donate: [0] });
    const [next, sum] = result instanceof AdtValue ? result.fields : [];
    if (!(next instanceof TensorValue && sum instanceof TensorValue)) throw new Error('no pair');
    const [total] = await vm.read([sum]);
    expect(total?.data[3], `step ${n}`).toBe(((n + 1) * (n + 2)) / 2);
    vm.retain(next);
    vm.release(result);
    return next;
  }

  test('lies in the memory that it had, and makes nothing after the third step', async () => {
    const vm = await machine();
    const first = vm.tensor(HostTensor.zeros('float32', [1, 64, 16]));
    const { buffer } = first;
    let cache = first;
    for (let n = 0; n < 4; n++) cache = await step(vm, cache, n);
    const before = device.counters();
    const { peakBytes } = vm.memory();
    for (let n = 4; n < 40; n++) cache = await step(vm, cache, n);
    expect(cache.buffer).toBe(buffer);
    const after = device.counters();
    expect(after.buffersCreated).toBe(before.buffersCreated);
    expect(after.bindGroupsCreated).toBe(before.bindGroupsCreated);
    expect(after.pipelinesCreated).toBe(before.pipelinesCreated);
    expect(vm.memory().peakBytes).toBe(peakBytes);
    if (device.kind !== 'host') expect(vm.replays().replayed).toBeGreaterThan(30);
    vm.release(cache);
    vm.dispose();
  });

  test('is copied while somebody else has it', async () => {
    const vm = await machine();
    const first = vm.tensor(HostTensor.zeros('float32', [1, 64, 16]));
    for (let n = 0; n < 5; n++) {
      vm.retain(first);
      const next = await step(vm, first, 0);
      expect(next.buffer).not.toBe(first.buffer);
      vm.release(next);
    }
    const [kept] = await vm.read([first]);
    expect(kept?.data.every((value) => value === 0)).toBe(true);
    vm.release(first);
    vm.dispose();
  });

  test('is gone with a call that fails', async () => {
    const vm = await machine();
    const { liveBytes } = vm.memory();
    const cache = vm.tensor(HostTensor.zeros('float32', [1, 64, 16]));
    const call = vm.invoke('main', [cache, row(1), 7], { donate: [0] });
    await expect(call).rejects.toThrow('at');
    expect(vm.memory().liveBytes).toBe(liveBytes);
    vm.dispose();
  });
});

const UPDATE = `def @main(%w: Tensor[(n, 5), float32], %mean: Tensor[(n, 5), float32], %square: Tensor[(n, 5), float32], %g: Tensor[(n, 5), float32]) {
  let %m = add(mul(%mean, 0.9f), mul(%g, 0.1f));
  let %s = add(mul(%square, 0.999f), mul(mul(%g, %g), 0.001f));
  (sub(mul(%w, 0.99f), div(mul(%m, 0.01f), add(sqrt(%s), 0.00000001f))), %m, %s)
}`;

describe.each(DEVICES)('the parameters and moments of an optimiser on $title', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  test('are updated where they lie, to the bits that other memory would have', async () => {
    const devices = [device, createHostDevice()];
    const executable = compile(parseModule(UPDATE), { verify: true });
    const vm = await VirtualMachine.create(executable, { devices });
    const plain = await VirtualMachine.create(executable, {
      devices,
      createAllocator: (of) => new NaiveAllocator(of),
    });
    const host = (value: number): HostTensor => {
      const values = Array.from({ length: 185 }, (_, i) => Math.sin(i * value));
      return HostTensor.from('float32', [37, 5], values);
    };
    const fieldsOf = (value: Value): TensorValue[] =>
      value instanceof AdtValue ? value.fields.filter((one) => one instanceof TensorValue) : [];
    const first = [
      host(1),
      HostTensor.zeros('float32', [37, 5]),
      HostTensor.zeros('float32', [37, 5]),
    ];
    let [inPlace, copied] = [
      first.map((one) => vm.tensor(one)),
      first.map((one) => plain.tensor(one)),
    ];
    const buffers = inPlace.map(({ buffer }) => buffer);
    let before = device.counters();
    let allocated = 0;
    for (let n = 0; n < 12; n++) {
      const gradient = host(n + 2);
      const result = await vm.invoke('main', [...inPlace, gradient], { donate: [0, 1, 2] });
      inPlace = fieldsOf(result);
      for (const one of inPlace) vm.retain(one);
      vm.release(result);
      expect(inPlace.map(({ buffer }) => buffer)).toEqual(buffers);
      if (n === 3) [before, allocated] = [device.counters(), vm.memory().peakBytes];
    }
    const after = device.counters();
    for (const name of ['buffersCreated', 'bindGroupsCreated', 'pipelinesCreated'] as const) {
      expect(after[name], name).toBe(before[name]);
    }
    expect(vm.memory().peakBytes).toBe(allocated);
    if (device.kind !== 'host') expect(vm.replays().replayed).toBeGreaterThan(6);
    for (let n = 0; n < 12; n++) {
      const old = copied;
      const result = await plain.invoke('main', [...old, host(n + 2)]);
      copied = fieldsOf(result);
      for (const [i, one] of copied.entries()) {
        plain.retain(one);
        expect(one.buffer).not.toBe(old[i]?.buffer);
      }
      plain.release(result);
      for (const one of old) plain.release(one);
    }
    expect(await vm.read(inPlace)).toEqual(await plain.read(copied));
    vm.dispose();
    plain.dispose();
  });
});
