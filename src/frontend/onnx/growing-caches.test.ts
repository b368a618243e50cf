import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { DEVICES } from '../../device/testing/node-devices.ts';
import { NaiveAllocator } from '../../runtime/testing/naive-allocator.ts';
import { AdtValue, TensorValue, type Value } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../../testing/onnx-writer.ts';
import { compileOnnx } from './compile-onnx.ts';

const MICROSOFT = 'com.microsoft';
const [LAYERS, BATCH, HEADS, KV_HEADS, SIZE] = [2, 2, 4, 2, 8];
/** Queries, keys and values of a token, one after the other. */
const WIDTH = (HEADS + 2 * KV_HEADS) * SIZE;
const POSITIONS = 64;

const random = seededRandom(3);

function halves(...shape: number[]): HostTensor {
  const count = shape.reduce((n, dim) => n * dim, 1);
  return HostTensor.from(
    'float16',
    shape,
    Array.from({ length: count }, () => random() - 0.5),
  );
}

/** A decoder as exporters write it: attention with caches that begin as long as what came before. */
function decoder(): Uint8Array {
  const nodes: OnnxNodeSpec[] = [
    { op: 'ReduceSum', inputs: ['attention_mask', 'one'], outputs: ['sums'] },
    { op: 'Sub', inputs: ['sums', 'one'], outputs: ['wide_lasts'] },
    { op: 'Cast', inputs: ['wide_lasts'], outputs: ['lasts'], attributes: { to: 6 } },
    { op: 'Shape', inputs: ['attention_mask'], outputs: ['shape'] },
    { op: 'Gather', inputs: ['shape', 'axis'], outputs: ['wide_total'] },
    { op: 'Cast', inputs: ['wide_total'], outputs: ['total'], attributes: { to: 6 } },
  ];
  let x = 'x';
  for (let layer = 0; layer < LAYERS; layer++) {
    const caches = [`past.${layer}.key`, `past.${layer}.value`];
    nodes.push(
      {
        op: 'GroupQueryAttention',
        domain: MICROSOFT,
        inputs: [x, '', '', ...caches, 'lasts', 'total', 'cos', 'sin'],
        outputs: [`y.${layer}`, `present.${layer}.key`, `present.${layer}.value`],
        attributes: { num_heads: HEADS, kv_num_heads: KV_HEADS, do_rotary: 1 },
      },
      { op: 'MatMul', inputs: [`y.${layer}`, 'weight'], outputs: [`x.${layer}`] },
    );
    x = `x.${layer}`;
  }
  const names = (prefix: string): string[] =>
    Array.from({ length: LAYERS }, (_, n) => [`${prefix}.${n}.key`, `${prefix}.${n}.value`]).flat();
  return writeOnnxModel({
    opset: 21,
    opsets: { [MICROSOFT]: 1 },
    nodes,
    initializers: {
      one: HostTensor.from('int64', [1], [1n]),
      axis: HostTensor.from('int64', [], [1n]),
      cos: halves(POSITIONS, SIZE / 2),
      sin: halves(POSITIONS, SIZE / 2),
      weight: halves(HEADS * SIZE, WIDTH),
    },
    inputs: [
      { name: 'x', dtype: 'float16', shape: ['batch', 'sequence', WIDTH] },
      { name: 'attention_mask', dtype: 'int64', shape: ['batch', 'total'] },
      ...names('past').map((name) => ({
        name,
        dtype: 'float16' as const,
        shape: ['batch', KV_HEADS, 'past', SIZE],
      })),
    ],
    outputs: [x, ...names('present')],
  });
}

const CACHES = Array.from({ length: 2 * LAYERS }, (_, i) => i + 2);

/** Tokens of the rows, and the mask of all so far: the second row began with one token less. */
function inputs(tokens: number, total: number): [x: HostTensor, mask: HostTensor] {
  const mask = Array.from({ length: BATCH * total }, (_, i) => (i === total + 2 ? 0n : 1n));
  const values = Array.from({ length: BATCH * tokens * WIDTH }, (_, i) =>
    Math.sin(total * 131 + i * 7),
  );
  return [
    HostTensor.from('float16', [BATCH, tokens, WIDTH], values),
    HostTensor.from('int64', [BATCH, total], mask),
  ];
}

const empty = (): HostTensor[] =>
  CACHES.map(() => HostTensor.zeros('float16', [BATCH, KV_HEADS, 0, SIZE]));

function tensorsOf(value: Value): TensorValue[] {
  return value instanceof AdtValue ? value.fields.filter((one) => one instanceof TensorValue) : [];
}

describe.each(DEVICES)('a decoder with growing caches on $title', ({ open }) => {
  const executable = compileOnnx(decoder());
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  const machine = (isNaive = false): Promise<VirtualMachine> =>
    VirtualMachine.create(executable, {
      devices: [device, createHostDevice()],
      ...(isNaive && { createAllocator: (of: Device) => new NaiveAllocator(of) }),
    });

  async function step(vm: VirtualMachine, state: readonly TensorValue[], given: HostTensor[]) {
    const result = await vm.invoke('main', [...given, ...state], { donate: CACHES });
    const [out, ...caches] = tensorsOf(result);
    const [read] = out ? await vm.read([out]) : [];
    for (const cache of caches) vm.retain(cache);
    vm.release(result);
    return { caches, out: read };
  }

  test('writes what is new, and copies no cache between moves', async () => {
    const naive = await machine(true);
    const steps = Array.from({ length: 40 }, (_, n) => inputs(n === 0 ? 3 : 1, n + 3));
    const expected: (HostTensor | undefined)[] = [];
    let plain = empty();
    for (const given of steps) {
      const result = await naive.invoke('main', [...given, ...plain]);
      const [out, ...caches] = await naive.read(tensorsOf(result));
      naive.release(result);
      expected.push(out);
      plain = caches;
    }
    naive.dispose();

    const vm = await machine();
    const { liveBytes } = vm.memory();
    let state = empty().map((cache) => vm.tensor(cache));
    const moves: number[] = [];
    const costs = new Set<string>();
    const made: string[] = [];
    let bound = 0;
    const copy = vi.spyOn(device, 'copy');
    for (const [n, given] of steps.entries()) {
      const { buffer } = state[0] ?? {};
      copy.mockClear();
      const before = device.counters();
      const next = await step(vm, state, given);
      const after = device.counters();
      const copied = copy.mock.calls.reduce((sum, [{ byteLength }]) => sum + byteLength, 0);
      state = next.caches;
      expect(next.out, `step ${n}`).toEqual(expected[n]);
      if (state[0]?.buffer !== buffer) {
        moves.push(n);
        continue;
      }
      costs.add(`${copied} bytes, ${after.launches - before.launches} launches`);
      if (after.bindGroupsCreated !== before.bindGroupsCreated) bound++;
      for (const name of ['buffersCreated', 'pipelinesCreated'] as const) {
        if (after[name] !== before[name]) made.push(`${name} ${n}`);
      }
    }
    copy.mockRestore();
    expect(moves).toEqual([0, 1, 6, 16, 36]);
    // A row of zeros for each head of keys and of values, which the new ones are written over.
    const rowBytes = LAYERS * 2 * BATCH * KV_HEADS * SIZE * 2;
    expect([...costs]).toEqual([expect.stringMatching(new RegExp(`^${rowBytes} bytes, `))]);
    expect(made).toEqual([]);
    // After a move, and where a mask or scores outgrow their memory.
    expect(bound).toBeLessThan(steps.length / 3);
    expect(await vm.read(state)).toEqual(plain);
    for (const one of state) vm.release(one);
    expect(vm.memory().liveBytes).toBe(liveBytes);
    vm.dispose();
  });

  test('leaves caches that somebody else has as they were', async () => {
    const vm = await machine();
    let state = empty().map((cache) => vm.tensor(cache));
    for (let n = 0; n < 4; n++)
      state = (await step(vm, state, inputs(n === 0 ? 3 : 1, n + 3))).caches;
    expect(state[0]?.layout).toBe('|2,8');
    const before = await vm.read(state);
    const outs = [];
    for (let turn = 0; turn < 2; turn++) {
      for (const one of state) vm.retain(one);
      const next = await step(vm, state, inputs(1, 7));
      outs.push([next.out, ...(await vm.read(next.caches))]);
      for (const one of next.caches) vm.release(one);
    }
    expect(outs[1]).toEqual(outs[0]);
    expect(await vm.read(state)).toEqual(before);
    const { caches, out } = await step(vm, state, inputs(1, 7));
    expect([out, ...(await vm.read(caches))]).toEqual(outs[0]);
    for (const one of caches) vm.release(one);
    vm.dispose();
  });
});

/** A decoder extends its caches in place, or in a branch for those that are too short for that. */
test.each([
  ['some heads', 2, true],
  ['more heads than are worth a copy each', 80, false],
])('caches of %s', (_, heads, isExtended) => {
  const bytes = writeOnnxModel({
    opset: 21,
    opsets: { [MICROSOFT]: 1 },
    nodes: [
      {
        op: 'GroupQueryAttention',
        domain: MICROSOFT,
        inputs: ['x', '', '', 'key', 'value', 'lasts', 'total'],
        outputs: ['y', 'next_key', 'next_value'],
        attributes: { num_heads: heads, kv_num_heads: heads },
      },
    ],
    inputs: [
      { name: 'x', dtype: 'float32', shape: [1, 1, 3 * heads * SIZE] },
      ...['key', 'value'].map((name) => ({
        name,
        dtype: 'float32' as const,
        shape: [1, heads, 'past', SIZE],
      })),
      { name: 'lasts', dtype: 'int32', shape: [1] },
      { name: 'total', dtype: 'int32', shape: [] },
    ],
    outputs: ['y', 'next_key', 'next_value'],
  });
  const { functionTable } = compileOnnx(bytes, { verify: true });
  expect(functionTable.some(({ name }) => name === 'vm.builtin.append')).toBe(isExtended);
});
