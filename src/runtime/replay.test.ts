import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ExecBuilder } from '../bytecode/index.ts';
import type { OperandLike } from '../bytecode/build/function-builder.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import type { PrimitiveFunction, TensorType } from '../core/contracts/primitive-function.ts';
import type { Device } from '../device/device.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { createWasmDevice } from '../device/wasm/wasm-device.ts';
import { createWebGpuDevice } from '../device/webgpu/index.ts';
import { CORE_OPERATORS } from '../ops/tables/core-operators.ts';
import { nodeGpu } from '../testing/node-gpu.ts';
import type { HostFunction } from './link/host-function.ts';
import { AdtValue, TensorValue, type Value } from './values/value.ts';
import { VirtualMachine } from './virtual-machine.ts';

const VECTOR: TensorType = { dtype: 'float32', shape: ['n'] };

function binary(name: string, op: string): PrimitiveFunction {
  const body = [{ op, inputs: [0, 1], attributes: {} }];
  return { name, params: [VECTOR, VECTOR], body, results: [{ value: 2, type: VECTOR }] };
}

/**
 * `main(x, w)` is (x * w + w, x + w), with a copy on the way; `scale(x, steps)` adds x to itself so
 * many times; `same(x)` is (x, a constant); `branch(x)` waits for an element; `effect(x)` calls JS.
 */
function program() {
  const b = new ExecBuilder();
  b.primitive(binary('mul', 'mul'));
  b.primitive(binary('add', 'add'));
  const float = b.dtype('float32');
  const build = (name: string, params: string[]) => {
    const f = b.function(name, params);
    const heap = f.call('vm.builtin.alloc_shape_heap', [1]);
    const x = f.param('x');
    f.call('vm.builtin.match_shape', [x, heap, 1, 1, 0, f.void], { into: f.void });
    const shape = f.call('vm.builtin.make_shape', [heap, 1, 1, 0]);
    const apply = (op: string, inputs: readonly OperandLike[]) => {
      const storage = f.call('vm.builtin.alloc_storage', [4096, 0]);
      const out = f.call('vm.builtin.alloc_tensor', [storage, 0, shape, float]);
      f.call(op, [...inputs, out], { into: f.void });
      return out;
    };
    return { f, x, apply };
  };
  return { b, build };
}

function example() {
  const { b, build } = program();
  const main = build('main', ['x', 'w']);
  const w = main.f.param('w');
  const product = main.f.call('vm.builtin.copy', [main.apply('mul', [main.x, w])]);
  const results = [main.apply('add', [product, w]), main.apply('add', [main.x, w])];
  main.f.ret(main.f.call('vm.builtin.make_tuple', results));

  const scale = build('scale', ['x', 'steps']);
  const [sum, left, top] = [scale.f.fresh(), scale.f.fresh(), scale.f.label()];
  const done = scale.f.label();
  scale.f.call('vm.builtin.move', [scale.x], { into: sum });
  scale.f.call('vm.builtin.move', [scale.f.param('steps')], { into: left });
  scale.f.place(top);
  scale.f.if(left, done);
  scale.f.call('vm.builtin.move', [scale.apply('add', [sum, scale.x])], { into: sum });
  scale.f.call('vm.builtin.int_sub', [left, 1], { into: left });
  scale.f.goto(top);
  scale.f.place(done);
  scale.f.ret(sum);

  const same = build('same', ['x']);
  const constant = b.tensor(HostTensor.from('float32', [2], [7, 8]));
  same.apply('add', [same.x, same.x]);
  same.f.ret(same.f.call('vm.builtin.make_tuple', [same.x, constant, 5]));

  const branch = build('branch', ['x']);
  const otherwise = branch.f.label();
  branch.f.if(branch.f.call('vm.builtin.read_if_cond', [branch.x]), otherwise);
  branch.f.ret(branch.apply('add', [branch.x, branch.x]));
  branch.f.place(otherwise);
  branch.f.ret(branch.x);

  const effect = build('effect', ['x']);
  effect.f.call('test.effect', [effect.x], { into: effect.f.void });
  effect.f.ret(effect.apply('add', [effect.x, effect.x]));

  const speak = build('speak', ['x']);
  speak.f.call('vm.builtin.print', [1], { into: speak.f.void });
  speak.f.ret(speak.apply('add', [speak.x, speak.x]));
  return b.build();
}

const vector = (values: readonly number[]) => HostTensor.from('float32', [values.length], values);
const ramp = (length: number, seed: number) =>
  vector(Array.from({ length }, (_, i) => Math.fround(Math.sin(seed * 31 + i) * 4)));

const onGpu = async () => createWebGpuDevice({ gpu: await nodeGpu(), operators: CORE_OPERATORS });

describe.each([
  { title: 'WebGPU', open: onGpu },
  { title: 'wasm', open: async () => createWasmDevice() },
])('a call that is repeated on $title', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  async function load(options: { replay?: boolean; effect?: HostFunction; log?: () => void } = {}) {
    const { effect = () => null, log = () => undefined, replay } = options;
    const devices = [device, createHostDevice()];
    const functions = { 'test.effect': effect };
    return VirtualMachine.create(example(), { devices, functions, replay, log });
  }

  async function contents(vm: VirtualMachine, value: Value): Promise<number[][]> {
    const fields = value instanceof AdtValue ? value.fields : [value];
    const read = await vm.read(fields.filter((field) => field instanceof TensorValue));
    return read.map(({ elements }) => [...elements].map(Number));
  }

  async function call(vm: VirtualMachine, name: string, args: readonly (HostTensor | number)[]) {
    const result = await vm.invoke(name, args);
    const values = await contents(vm, result);
    vm.release(result);
    return values;
  }

  test('gives what interpreting gives, for every size and element', async () => {
    const [vm, oracle] = [await load(), await load({ replay: false })];
    for (let i = 0; i < 40; i++) {
      const n = [3, 5, 64, 65][i % 4] ?? 1;
      const args = [ramp(n, i), ramp(n, i + 100)];
      expect(await call(vm, 'main', args)).toEqual(await call(oracle, 'main', args));
    }
    expect(vm.replays()).toEqual({ interpreted: 8, recorded: 4, replayed: 32 });
    expect(oracle.replays()).toEqual({ interpreted: 40, recorded: 0, replayed: 0 });
    vm.dispose();
    oracle.dispose();
  });

  test('makes no buffer, bind group or pipeline in 1,000 runs, of one size or of two', async () => {
    const vm = await load();
    const run = (i: number) =>
      call(vm, 'main', [ramp(3 + (i % 2) * 4, i), ramp(3 + (i % 2) * 4, 1)]);
    for (let i = 0; i < 6; i++) await run(i);
    const before = device.counters();
    const memory = vm.memory();
    for (let i = 0; i < 1000; i++) await run(i % 3 === 0 ? i : 0);
    const after = device.counters();
    expect(after).toEqual({
      ...before,
      launches: before.launches + 3000,
      submits: before.submits + (device.kind === 'webgpu' ? 1000 : 0),
      readbacks: before.readbacks + 1000,
    });
    expect(vm.replays()).toEqual({ interpreted: 4, recorded: 2, replayed: 1002 });
    expect(vm.memory()).toEqual({
      ...memory,
      allocations: expect.any(Number),
      reuses: expect.any(Number),
      devices: expect.any(Array),
    });
    vm.dispose();
  });

  test('leaves results alone that are still held, and takes them as arguments', async () => {
    const vm = await load();
    const held: Value[] = [];
    let x: Value = vm.tensor(vector([1, 2, 3]));
    for (let i = 0; i < 12; i++) {
      const result: Value = await vm.invoke('scale', [x, 1]);
      held.push(x);
      x = result;
    }
    held.push(x);
    for (const [i, value] of held.entries()) {
      expect(await contents(vm, value)).toEqual([[1, 2, 3].map((element) => element * 2 ** i)]);
      vm.release(value);
    }
    expect(vm.memory().liveBytes).toBe(0);
    // Two buffers take turns.
    let turn: Value = vm.tensor(vector([1, 1, 1]));
    const { replayed } = vm.replays();
    for (let i = 0; i < 20; i++) {
      const next: Value = await vm.invoke('scale', [turn, 1]);
      vm.release(turn);
      turn = next;
    }
    expect(await contents(vm, turn)).toEqual([[2 ** 20, 2 ** 20, 2 ** 20]]);
    expect(vm.replays().replayed - replayed).toBeGreaterThan(10);
    vm.release(turn);
    vm.dispose();
  });

  test('depends on numbers among the arguments', async () => {
    const vm = await load();
    for (let i = 0; i < 12; i++) {
      const steps = i % 3;
      expect(await call(vm, 'scale', [vector([i, 1]), steps])).toEqual([
        [i * (steps + 1), steps + 1],
      ]);
    }
    expect(vm.replays()).toEqual({ interpreted: 6, recorded: 3, replayed: 6 });
    vm.dispose();
  });

  test('returns arguments, constants and numbers', async () => {
    const vm = await load();
    for (let i = 0; i < 5; i++) {
      const result = await vm.invoke('same', [vector([i, 2])]);
      expect(result instanceof AdtValue && result.fields[2]).toBe(5);
      expect(await contents(vm, result)).toEqual([
        [i, 2],
        [7, 8],
      ]);
      vm.release(result);
    }
    expect(vm.replays().replayed).toBe(3);
    expect(vm.memory().liveBytes).toBe(0);
    vm.dispose();
  });

  test('is interpreted where it waits for elements, calls JS or prints', async () => {
    let effects = 0;
    const effect = () => void effects++;
    const vm = await load({ effect, log: effect });
    for (let i = 0; i < 6; i++) {
      const branched = i % 2 === 0 ? 0 : 2;
      expect(await call(vm, 'branch', [vector([i % 2])])).toEqual([[branched]]);
      expect(await call(vm, 'effect', [vector([i])])).toEqual([[2 * i]]);
      expect(await call(vm, 'speak', [vector([i])])).toEqual([[2 * i]]);
    }
    expect(effects).toBe(12);
    expect(vm.replays()).toEqual({ interpreted: 18, recorded: 0, replayed: 0 });
    vm.dispose();
  });

  test('is recorded again when its buffers are gone', async () => {
    const vm = await load();
    const run = (i: number) => call(vm, 'scale', [vector([i, 1]), 2]);
    for (let i = 0; i < 4; i++) expect(await run(i)).toEqual([[3 * i, 3]]);
    expect(vm.trim()).toBeGreaterThan(0);
    for (let i = 0; i < 4; i++) expect(await run(i)).toEqual([[3 * i, 3]]);
    expect(vm.replays()).toEqual({ interpreted: 3, recorded: 2, replayed: 5 });
    vm.dispose();
  });

  test('is profiled launch by launch', async () => {
    const vm = await load();
    for (let i = 0; i < 3; i++) await call(vm, 'scale', [vector([1]), 2]);
    const { result, timings } = await vm.profile('scale', [vector([1]), 2]);
    expect(timings.map(({ primitive }) => primitive)).toEqual(['add', 'add']);
    vm.release(result);
    vm.dispose();
  });

  test('keeps apart calls that run at the same time', async () => {
    const vm = await load();
    const calls = Array.from({ length: 60 }, (_, i) =>
      call(vm, 'main', [vector([i, i, 1]), vector([2, 3, i])]),
    );
    for (const [i, values] of (await Promise.all(calls)).entries()) {
      expect(values).toEqual([
        [2 * i + 2, 3 * i + 3, 2 * i],
        [i + 2, i + 3, 1 + i],
      ]);
    }
    expect(vm.memory().liveBytes).toBe(0);
    vm.dispose();
  });
});

test('a lost device fails the repeated call too', async () => {
  const device = await createWebGpuDevice({ gpu: await nodeGpu(), operators: CORE_OPERATORS });
  const functions = { 'test.effect': () => null };
  const devices = [device, createHostDevice()];
  const vm = await VirtualMachine.create(example(), { devices, functions });
  const args = [vm.tensor(vector([1])), 2];
  for (let i = 0; i < 3; i++) vm.release(await vm.invoke('scale', args));
  expect(vm.replays().replayed).toBe(1);
  device.destroy();
  await expect(vm.invoke('scale', args)).rejects.toThrow(/device was destroyed by its owner/);
  vm.dispose();
});
