import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { DEVICES } from '../../device/testing/node-devices.ts';
import { NaiveAllocator } from '../../runtime/testing/naive-allocator.ts';
import { AdtValue, TensorValue, type Value } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { compile } from '../compile.ts';
import { parseModule } from '../ir/text/parse.ts';

const CACHE = 'Tensor[(2, 3, n, 8), float32]';

/** Attention of a new row over a cache of keys and values, six slices of rows that grow. */
const STEP = `def @main(%keys: ${CACHE}, %values: ${CACHE}, %row: Tensor[(2, 3, 1, 8), float32]) {
  let %k = concat(%keys, %row, axis=2);
  let %v = concat(%values, add(%row, 1f), axis=2);
  (%k, %v, matmul(softmax(matmul(%row, transpose(%k, perm=[0, 1, 3, 2])), axis=-1), %v))
}`;

/** The same in a loop, whose state is captured, and of which a view is read at the end. */
const LOOP = `def @turns(%i: int, %past: Tensor[(2, ?, 4), float32], %x: Tensor[(2, 1, 4), float32]) -> Tensor[(2, ?, 4), float32] {
  if (%i) { @turns(int_sub(%i, #1), concat(%past, %x, %x, axis=1), add(%x, 1f)) } else { %past }
}
def @main(%i: int, %x: Tensor[(2, 1, 4), float32]) {
  let %all: Tensor[(2, n, 4), float32] = @turns(%i, %x, %x);
  (%all, reshape(%all, shape=[2 * n, 4]), relu(%all))
}`;

const row = (n: number): HostTensor => {
  const values = Array.from({ length: 48 }, (_, i) => Math.sin(n * 48 + i));
  return HostTensor.from('float32', [2, 3, 1, 8], values);
};

function tensorsOf(value: Value): TensorValue[] {
  return value instanceof AdtValue ? value.fields.filter((one) => one instanceof TensorValue) : [];
}

function machine(device: Device, text: string, isNaive = false): Promise<VirtualMachine> {
  const createAllocator = (of: Device) => new NaiveAllocator(of);
  return VirtualMachine.create(compile(parseModule(text), { verify: true }), {
    devices: [device, createHostDevice()],
    ...(isNaive && { createAllocator }),
  });
}

describe.each(DEVICES)('a cache of several heads on $title', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  const empty = (vm: VirtualMachine): TensorValue[] =>
    [0, 1].map(() => vm.tensor(HostTensor.zeros('float32', [2, 3, 0, 8])));

  async function step(vm: VirtualMachine, state: readonly TensorValue[], n: number) {
    const result = await vm.invoke('main', [...state, row(n)], { donate: [0, 1] });
    const [keys, values, out] = tensorsOf(result);
    if (!(keys && values && out)) throw new Error('no state');
    const [read] = await vm.read([out]);
    vm.retain(keys);
    vm.retain(values);
    vm.release(result);
    return { state: [keys, values], out: [...(read?.data ?? [])].map(Number) };
  }

  test('costs what its rows cost, at any length', async () => {
    const vm = await machine(device, STEP);
    const naive = await machine(device, STEP, true);
    const { liveBytes } = vm.memory();
    let state = empty(vm);
    let plain = [0, 1].map(() => HostTensor.zeros('float32', [2, 3, 0, 8]));
    const expected: number[][] = [];
    for (let n = 1; n <= 48; n++) {
      const result = await naive.invoke('main', [...plain, row(n)]);
      const read = await naive.read(tensorsOf(result));
      naive.release(result);
      plain = read.slice(0, 2);
      expected.push([...(read[2]?.data ?? [])].map(Number));
    }
    naive.dispose();
    const moves: number[] = [];
    const costs = new Set<string>();
    const made: string[] = [];
    let copied = 0;
    const copy = vi.spyOn(device, 'copy');
    for (let n = 1; n <= 48; n++) {
      const { buffer } = state[0] ?? {};
      copy.mockClear();
      const before = device.counters();
      const next = await step(vm, state, n);
      const after = device.counters();
      copied = copy.mock.calls.reduce((sum, [{ byteLength }]) => sum + byteLength, 0);
      state = next.state;
      if (state[0]?.buffer !== buffer) moves.push(n);
      else {
        costs.add(`${copied} bytes, ${after.launches - before.launches} launches`);
        for (const name of ['buffersCreated', 'bindGroupsCreated', 'pipelinesCreated'] as const) {
          // The step after a move meets other buffers.
          if (moves.at(-1) !== n - 1 && after[name] !== before[name]) made.push(`${name} ${n}`);
        }
      }
      expect(next.out, `step ${n}`).toEqual(expected[n - 1]);
    }
    copy.mockRestore();
    expect(moves).toEqual([1, 2, 5, 11, 23, 47]);
    expect(costs.size, [...costs].join('; ')).toBe(1);
    // Kernels of WebAssembly have sizes in their code.
    if (device.kind !== 'wasm') expect(made).toEqual([]);
    expect(await vm.read(state)).toEqual(plain);
    for (const one of state) vm.release(one);
    expect(vm.memory().liveBytes).toBe(liveBytes);
    vm.dispose();
  });

  test('is copied while somebody else has it, and read as it was', async () => {
    const vm = await machine(device, STEP);
    let state = empty(vm);
    for (let n = 1; n <= 3; n++) ({ state } = await step(vm, state, n));
    const [before] = await vm.read(state);
    expect(state[0]?.layout).toBe('|2,4');
    const outs: number[][] = [];
    for (let turn = 0; turn < 4; turn++) {
      for (const one of state) vm.retain(one);
      const next = await step(vm, state, 4);
      expect(next.state[0]?.buffer).not.toBe(state[0]?.buffer);
      outs.push(next.out);
      for (const one of next.state) vm.release(one);
    }
    expect(outs).toEqual([outs[0], outs[0], outs[0], outs[0]]);
    expect((await vm.read(state))[0]).toEqual(before);
    for (const one of state) vm.release(one);
    vm.dispose();
  });

  test('is repeated as it was recorded', async () => {
    const vm = await machine(device, STEP);
    const found: unknown[][] = [];
    for (let turn = 0; turn < 5; turn++) {
      let state = empty(vm);
      const outs: unknown[] = [];
      for (let n = 1; n <= 6; n++) {
        const next = await step(vm, state, n);
        state = next.state;
        outs.push([next.out, state.map(({ layout }) => layout), await vm.read(state)]);
      }
      found.push(outs);
      for (const one of state) vm.release(one);
    }
    for (const outs of found) expect(outs).toEqual(found[0]);
    if (device.kind !== 'host') expect(vm.replays().replayed).toBeGreaterThan(6);
    vm.dispose();
  });

  test('of a loop takes as many storages as it doubles', async () => {
    const vm = await machine(device, LOOP);
    const { allocations } = vm.memory();
    const x = HostTensor.from('float32', [2, 1, 4], [0, 0, 0, 0, 900, 900, 900, 900]);
    const result = await vm.invoke('main', [100, x]);
    const [all, flat, other] = await vm.read(tensorsOf(result));
    const rows = [0, ...Array.from({ length: 200 }, (_, i) => Math.floor(i / 2))];
    const expected = [0, 900].flatMap((base) =>
      rows.flatMap((n) => [base + n, base + n, base + n, base + n]),
    );
    expect(all?.shape).toEqual([2, 201, 4]);
    for (const one of [all, flat, other]) expect([...(one?.data ?? [])]).toEqual(expected);
    expect(vm.memory().allocations - allocations).toBeLessThan(120);
    vm.release(result);
    vm.dispose();
  });
});

/** Rows that go to places of their own in a cache that is extended before. */
const PUT = `def @main(
  %past: ${CACHE}, %more: Tensor[(2, 3, m, 8), float32], %rows: Tensor[(2, 3, r, 8), float32], %at: Tensor[(2,), int32]
) {
  let %longer = concat(%past, %more, axis=2);
  let %next = tensor_scatter(%longer, %rows, %at, axis=2);
  (%next, reduce_sum(%next, axes=[2]))
}`;

describe.each(DEVICES)('a cache that is extended and changed on $title', ({ open }) => {
  test('keeps its room, and knows how long it is', async () => {
    const device = await open();
    const vm = await machine(device, PUT);
    const rows = (count: number, value: number): HostTensor =>
      HostTensor.from('float32', [2, 3, count, 8], new Array<number>(48 * count).fill(value));
    const at = (...places: number[]): HostTensor => HostTensor.from('int32', [2], places);
    let state = vm.tensor(rows(1, 1));
    const put = async (more: number, put: HostTensor, places: HostTensor): Promise<number[]> => {
      const given = [state, rows(more, 1), put, places];
      const result = await vm.invoke('main', given, { donate: [0] });
      const [next, sums] = tensorsOf(result);
      if (!(next && sums)) throw new Error('no state');
      const [read] = await vm.read([sums]);
      vm.retain(next);
      vm.release(result);
      state = next;
      return [0, 47].map((i) => Number(read?.data[i]));
    };
    for (let n = 2; n <= 5; n++) {
      const { buffer } = state;
      // The first slice gets a row at the begin, the last one at the end.
      expect(await put(1, rows(1, n), at(0, n - 1))).toEqual([n - 1 + n, (n * (n + 1)) / 2]);
      expect(state.buffer === buffer).toBe(n > 3);
    }
    expect(state.layout).toBe('|2,6');
    // Behind the end nothing is written, whether there is room or not.
    expect(await put(0, rows(1, 9), at(5, 6))).toEqual([9, 15]);
    expect(await put(1, rows(1, 9), at(7, 8))).toEqual([10, 16]);
    vm.retain(state);
    await expect(put(0, rows(7, 1), at(0, 0))).rejects.toThrow('updates no larger than x');
    vm.release(state);
    vm.dispose();
    device.destroy();
  });
});

test.each([
  ['with places that come around', 'tensor_scatter(%k, %row, %at, axis=2, circular=true)', false],
  ['that is changed by an operator that counts from the end', 'scatter_nd(%k, %at2, %all)', false],
  ['that is changed', 'tensor_scatter(%k, %row, %at, axis=2)', true],
])('a cache %s', (_, changed, isExtended) => {
  const text = `def @main(%past: ${CACHE}, %row: Tensor[(2, 3, 1, 8), float32], %at: Tensor[(2,), int32],
    %at2: Tensor[(1, 1), int32], %all: Tensor[(1, 3, n + 1, 8), float32]) {
  let %k = concat(%past, %row, axis=2);
  ${changed}
}`;
  const { functionTable } = compile(parseModule(text), { verify: true });
  expect(functionTable.some(({ name }) => name === 'vm.builtin.append')).toBe(isExtended);
});

test.each([
  ['read by kernels', '2, 3', 'add(%k, 1f)', true],
  ['read as a view', '2, 3', 'reshape(%k, shape=[6 * (n + 1), 8])', false],
  ['of many slices', '5, 13', 'add(%k, 1f)', false],
  ['of a number of slices that the run knows', 'b, 3', 'add(%k, 1f)', true],
  ['whose rows are read alone', '2, 3', 'reduce_sum(%past, axes=[2])', false],
])('a cache %s', (_, slices, read, isExtended) => {
  const text = `def @main(%past: Tensor[(${slices}, n, 8), float32], %row: Tensor[(${slices}, 1, 8), float32]) {
  let %k = concat(%past, %row, axis=2);
  (%k, ${read})
}`;
  const { functionTable } = compile(parseModule(text), { verify: true });
  expect(functionTable.some(({ name }) => name === 'vm.builtin.append')).toBe(isExtended);
});
