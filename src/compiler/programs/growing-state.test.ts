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

/** Keys and values that a step adds to; it compares with all of them. */
const STEP = `def @main(%keys: Tensor[(1, n, 8), float32], %values: Tensor[(n, 8), float32], %row: Tensor[(1, 1, 8), float32]) {
  let %k = concat(%keys, %row, axis=1);
  let %v = concat(%values, relu(reshape(%row, shape=[1, 8])), axis=0);
  (%k, %v, reduce_sum(mul(reduce_sum(mul(%k, %row), axes=[2], keepdims=true), reshape(%v, shape=[1, n + 1, 8])), axes=[1]))
}`;

const LOOP = `def @turns(%k: int, %past: Tensor[(?, 2), int32], %x: Tensor[(1, 2), int32]) -> Tensor[(?, 2), int32] {
  if (%k) { @turns(int_sub(%k, #1), concat(%past, %x, %x, axis=0), %x) } else { %past }
}
def @main(%k: int, %x: Tensor[(1, 2), int32]) { @turns(%k, %x, %x) }`;

const row = (value: number): HostTensor =>
  HostTensor.from('float32', [1, 1, 8], new Array<number>(8).fill(value));

function tensorsOf(value: Value): TensorValue[] {
  return value instanceof AdtValue ? value.fields.filter((one) => one instanceof TensorValue) : [];
}

interface MachineOptions {
  readonly isNaive?: boolean;
  readonly replay?: boolean;
}

async function machine(
  device: Device,
  text: string,
  { isNaive = false, replay = true }: MachineOptions = {},
): Promise<VirtualMachine> {
  const createAllocator = (of: Device) => new NaiveAllocator(of);
  return VirtualMachine.create(compile(parseModule(text), { verify: true }), {
    devices: [device, createHostDevice()],
    replay,
    ...(isNaive && { createAllocator }),
  });
}

describe.each(DEVICES)('a state that grows on $title', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  const empty = (vm: VirtualMachine): TensorValue[] => [
    vm.tensor(HostTensor.zeros('float32', [1, 0, 8])),
    vm.tensor(HostTensor.zeros('float32', [0, 8])),
  ];

  /** Calls `main` with the state, which it gives away, and checks the products of a row with all. */
  async function step(vm: VirtualMachine, state: readonly TensorValue[], n: number) {
    const result = await vm.invoke('main', [...state, row(n)], { donate: [0, 1] });
    const [keys, values, out] = tensorsOf(result);
    if (keys === undefined || values === undefined) throw new Error('no state');
    if (out !== undefined) {
      const [read] = await vm.read([out]);
      const products = Array.from({ length: n }, (_, i) => 8 * n * (i + 1) * (i + 1));
      expect(read?.data[5], `step ${n}`).toBe(products.reduce((sum, one) => sum + one, 0));
    }
    vm.retain(keys);
    vm.retain(values);
    vm.release(result);
    return [keys, values];
  }

  /** Steps after which the state lies elsewhere, and those that made something but for that. */
  async function steps(vm: VirtualMachine): Promise<{ moves: number[]; made: string[] }> {
    const { liveBytes } = vm.memory();
    let state = empty(vm);
    const moves: number[] = [];
    const made: string[] = [];
    let before = device.counters();
    for (let n = 1; n <= 48; n++) {
      const { buffer } = state[0] ?? {};
      state = await step(vm, state, n);
      const after = device.counters();
      if (state[0]?.buffer !== buffer) moves.push(n);
      // The step after a move meets other buffers.
      else if (moves.at(-1) !== n - 1) {
        for (const name of ['buffersCreated', 'bindGroupsCreated', 'pipelinesCreated'] as const) {
          if (after[name] !== before[name]) made.push(`${name} ${n}`);
        }
      }
      before = after;
    }
    for (const one of state) vm.release(one);
    expect(vm.memory().liveBytes).toBe(liveBytes);
    vm.dispose();
    return { moves, made };
  }

  test('stays where it is until its room is used up, and twice as much follows', async () => {
    const { moves, made } = await steps(await machine(device, STEP));
    expect(moves).toEqual([1, 2, 5, 11, 23, 47]);
    // Kernels of WebAssembly have sizes in their code.
    if (device.kind !== 'wasm') expect(made).toEqual([]);
  });

  test('takes no code of its own', async () => {
    const end = STEP.lastIndexOf('(%k, %v');
    const { moves, made } = await steps(await machine(device, `${STEP.slice(0, end)}(%k, %v)\n}`));
    expect(moves).toEqual([1, 2, 5, 11, 23, 47]);
    expect(made).toEqual([]);
  });

  test('is copied while somebody else has it, each time anew', async () => {
    const vm = await machine(device, STEP);
    let state = empty(vm);
    for (let n = 1; n <= 3; n++) state = await step(vm, state, n);
    for (let turn = 0; turn < 4; turn++) {
      for (const one of state) vm.retain(one);
      const next = await step(vm, state, 4);
      expect(next[0]?.buffer).not.toBe(state[0]?.buffer);
      for (const one of next) vm.release(one);
    }
    const [kept] = await vm.read(state);
    expect([...(kept?.data ?? [])].filter((_, i) => i % 8 === 0)).toEqual([1, 2, 3]);
    for (const one of state) vm.release(one);
    vm.dispose();
  });

  test('is repeated as it was recorded, with as much room', async () => {
    const results = [true, false].map(async (replay) => {
      const vm = await machine(device, STEP, { replay });
      const found: number[][] = [];
      for (let turn = 0; turn < 5; turn++) {
        let state = empty(vm);
        for (let n = 1; n <= 6; n++) {
          state = await step(vm, state, n);
          found.push(state.map(({ storage }) => storage.byteLength));
        }
        for (const one of state) vm.release(one);
      }
      const { replayed } = vm.replays();
      vm.dispose();
      return { found, replayed };
    });
    const [repeated, interpreted] = await Promise.all(results);
    expect(repeated?.found).toEqual(interpreted?.found);
    if (device.kind !== 'host') expect(repeated?.replayed).toBeGreaterThan(6);
  });

  test('of a loop takes as many storages as it doubles', async () => {
    const vm = await machine(device, LOOP);
    const { allocations } = vm.memory();
    const result = await vm.invoke('main', [1000, HostTensor.from('int32', [1, 2], [1, 2])]);
    const [all] = await vm.read(result instanceof TensorValue ? [result] : []);
    expect(all?.shape).toEqual([2001, 2]);
    expect(all?.data.every((value, i) => Number(value) === 1 + (i % 2))).toBe(true);
    expect(vm.memory().allocations - allocations).toBeLessThan(16);
    vm.release(result);
    vm.dispose();
  });
});
