import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { DEVICES } from '../../device/testing/node-devices.ts';
import type { Device } from '../../device/device.ts';
import { f32, type LoadedProgram, loadProgram } from '../testing/load-program.ts';

/** The host, and WebGPU as on software adapters. */

const bool = (value: number): HostTensor => HostTensor.from('bool', [], [value]);

interface State {
  readonly hidden: readonly number[];
  readonly memory: readonly number[];
}

const sum = (a: readonly number[], b: readonly number[]): number[] =>
  a.map((value, i) => value + (b[i] ?? 0));

function meanOfRows(rows: readonly number[][]): number[] {
  return rows.reduce(sum).map((value) => value / rows.length);
}

const sigmoid = (value: number): number => 1 / (1 + Math.exp(-value));

/** The same cell as in tree-lstm.ir. */
function treeLstmCell(weights: readonly number[], x: readonly number[], state: State): State {
  const inputs = [...x, ...state.hidden];
  const gate = (index: number): number =>
    inputs.reduce((total, value, row) => total + value * (weights[row * 8 + index] ?? 0), 0);
  const memory = state.memory.map(
    (before, i) => sigmoid(gate(i)) * Math.tanh(gate(6 + i)) + sigmoid(gate(2 + i)) * before,
  );
  return { memory, hidden: memory.map((value, i) => sigmoid(gate(4 + i)) * Math.tanh(value)) };
}

describe.each(DEVICES)('programs on $title', ({ open }) => {
  const used: { vm: LoadedProgram['vm']; device: Device }[] = [];

  afterEach(() => {
    for (const { vm, device } of used.splice(0)) {
      vm.dispose();
      device.destroy();
    }
  });

  async function load(name: string): Promise<LoadedProgram> {
    const device = await open();
    const text = readFileSync(new URL(`${name}.ir`, import.meta.url), 'utf8');
    const program = await loadProgram(text, { device });
    used.push({ vm: program.vm, device });
    return program;
  }

  test('functions that call each other', async () => {
    const { run } = await load('mutual-calls');
    expect(await run('main', f32([2], 1, 2), f32([2], 3, 4), f32([2], 5, 6))).toEqual([29, 62]);
  });

  test('a recursion that ends by a comparison of tensors', async () => {
    const { run } = await load('recursion');
    expect(await run('sum_to', f32([], 10))).toBe(55);
  });

  test('closures', async () => {
    const { run, launches } = await load('closures');
    const e = f32([], Math.E);
    for (const name of ['inside', 'shared', 'outside']) {
      expect(await run(name, e)).toBeCloseTo(Math.E + 2);
    }
    expect(await launches('inside', e)).toEqual(['log_add', 'log_add']);
    expect(await launches('shared', e)).toEqual(['log_add', 'log_add']);
    expect(await launches('outside', e)).toEqual(['log', 'add', 'add']);
    const [tag, first, second] = (await run('use_adder', e)) as number[];
    expect([tag, first?.toFixed(4), second?.toFixed(4)]).toEqual([0, '3.7183', '2.0000']);
    expect(await run('use_global', e)).toBeCloseTo(Math.E);
    expect(await run('use_constructor', f32([], 3))).toEqual([0, 3]);
    expect(await run('capture_branch', 0, f32([], 3))).toBe(9);
    expect(await run('capture_branch', 1, f32([], 0))).toBe(2);
    expect(await run('nested', f32([], 2))).toBe(50);
  });

  test('lists', async () => {
    const { run } = await load('lists');
    const x = f32([2], 1, 2);
    const cells = (...values: readonly unknown[]): unknown =>
      values.reduceRight((tail, head) => [0, head, tail], [1]);
    expect(await run('map_exp', x)).toEqual(cells([-1, -2], [-2, -3], [-3, -4]));
    expect(await run('map_to_ints', x)).toEqual(cells(2, 2, 2));
    expect(await run('sum', x)).toEqual([7, 11]);
    expect(await run('fold_right', x)).toEqual([2, 3]);
    expect(await run('reversed', x)).toEqual(cells([3, 4], [2, 3], [1, 2]));
    expect(await run('appended', x)).toEqual(
      cells([1, 2], [2, 3], [3, 4], [-1, -2], [0, -1], [1, 0]),
    );
    expect(await run('zipped', x)).toEqual(cells([0, [1, 2], 1], [0, [2, 3], 2]));
    expect(await run('second', x)).toEqual([2, 3]);
    await expect(run('missing', x)).rejects.toThrow(
      /prelude:\d+:12: @nth: got an index behind the end of the list, expected one below its length/,
    );
    expect(await run('long_length')).toBe(10_000);
  });

  test('patterns of numbers', async () => {
    const { run } = await load('numbers');
    const x = f32([2], 1, 2);
    const weekdays: unknown[] = [];
    for (const day of [0, -1, 7, 4]) weekdays.push(await run('weekday', day, x));
    expect(weekdays).toEqual([
      [1, 2],
      [-1, -2],
      [2, 4],
      [3, 6],
    ]);
    const pairs: unknown[] = [];
    const cases = [
      [1, 0.5],
      [1, -0],
      [5, 0],
      [1, 2],
      [2, 2],
      [1, NaN],
    ] as const;
    for (const [a, b] of cases) pairs.push(await run('pair', a, b, x));
    expect(pairs).toEqual([
      [1, 1],
      [-1, -2],
      [-1, -2],
      [2, 4],
      [2, 3],
      [2, 3],
    ]);
    expect(await run('search', 3, 3, x)).toEqual([3, 6]);
    expect(await run('search', 3, 4, x)).toEqual([-1, -2]);
    expect(await run('search', 4, 3, x)).toEqual([2, 4]);
    expect(await run('power', f32([2], 2, 3), 3)).toEqual([8, 27]);
    expect(await run('some', 1, x)).toEqual([1, 2]);
    expect(await run('some', 2, x)).toEqual([-1, -2]);
    await expect(run('some', 3, x)).rejects.toThrow(/:\d+:3: no clause fits the value/);
  });

  test('loops', async () => {
    const { run, vm } = await load('loops');
    expect(await run('even', 1001)).toBe(0);
    expect(await run('odd', 1001)).toBe(1);
    expect(await run('double_until', f32([], 3), f32([], 100))).toBe(192);
    expect(await run('iterate', 2, f32([4], 1, 0, 2, 3))).toEqual([
      0.53125, 0.28125, 2.78125, 11.53125,
    ]);
    expect(vm.memory().liveBytes).toBeLessThan(1024);
  });

  test('branches', async () => {
    const { run, launches } = await load('branches');
    const zeros = f32([2], 0, 0);
    expect(await run('join', 1, zeros)).toEqual([5, 5]);
    expect(await run('join', 0, zeros)).toEqual([1, 1]);
    expect(await run('all_three', 1, f32([2], 1, 1))).toEqual([-0.5, -0.5]);
    expect(await run('all_three', 0, f32([2], 1, 1))).toEqual([-0.5, -0.5]);
    const [x, y] = [f32([2], 1, 2), f32([2], 10, 20)];
    expect(await run('pair', 1, x, y)).toEqual([0, [1, 2], [10, 20]]);
    expect(await run('pair', 0, x, y)).toEqual([0, [11, 22], [1, 2]]);
    expect(await run('pair_inside', 1, x, y)).toEqual([-9, -18]);
    expect(await run('pair_inside', 0, x, y)).toEqual([10, 20]);
    expect(await run('nested', bool(1), bool(1), x)).toEqual([2, 4]);
    expect(await run('nested', bool(1), bool(0), x)).toEqual([0, 0]);
    expect(await run('nested', bool(0), bool(1), x)).toEqual([8, 10]);
    expect(await run('nested', bool(0), bool(0), zeros)).toEqual([1, 1]);
    expect(await launches('lazy', 0, x)).toEqual([]);
    expect(await launches('lazy', 1, x)).not.toEqual([]);
    expect(await launches('eager', 0, x)).toEqual(['softmax']);
    expect(await run('added_use', 1, zeros)).toEqual([1, 1]);
    expect(await run('added_use', 0, zeros)).toEqual([1, 1]);
    expect(await launches('twins', 0, 0, x)).toEqual([]);
    expect(await launches('twins', 0, 1, x)).toEqual(['softmax']);
  });

  test('trees', async () => {
    const { run } = await load('trees');
    const result = (await run(
      'main',
      f32([1, 2], 0, 0),
      f32([2, 2], 0.1, 0.2, 0.3, 0.4),
    )) as number[];
    const expected = [0.4, 0.6].map((sum) => Math.tanh(Math.tanh(sum) + 1));
    expect(result.map((value) => value.toFixed(5))).toEqual(expected.map((v) => v.toFixed(5)));
    expect(await run('rose', f32([2], 1, 2))).toEqual([
      0,
      [-1, -2],
      [0, [0, [-2, -3], [1]], [0, [0, [-3, -4], [1]], [1]]],
    ]);
  });

  test('a TreeLSTM over words of different lengths', async () => {
    const { run } = await load('tree-lstm');
    const weights = Array.from({ length: 32 }, (_, i) => Math.sin(i));
    const [a, b] = [
      [[0.5, -1]],
      [
        [0.25, 1],
        [-0.75, 2],
        [1, 0],
      ],
    ];
    const result = await run(
      'main',
      f32([1, 2], ...a.flat()),
      f32([3, 2], ...b.flat()),
      f32([4, 8], ...weights),
    );
    const word = (rows: readonly number[][]): State =>
      treeLstmCell(weights, meanOfRows(rows), { hidden: [0, 0], memory: [0, 0] });
    const phrase = (left: State, right: State): State =>
      treeLstmCell(weights, [0, 0], {
        hidden: sum(left.hidden, right.hidden),
        memory: sum(left.memory, right.memory),
      });
    const expA = a.map((row) => row.map(Math.exp));
    const { hidden, memory } = phrase(phrase(word(a), word(b)), word(expA));
    const [, h, m] = result as [number, number[][], number[][]];
    for (const i of [0, 1]) {
      expect(h[0]?.[i]).toBeCloseTo(hidden[i] ?? NaN, 5);
      expect(m[0]?.[i]).toBeCloseTo(memory[i] ?? NaN, 5);
    }
  });

  test('shapes that only the run knows', async () => {
    const { run } = await load('shapes');
    const x = f32([1, 2], 1, 2);
    expect(await run('grow', x)).toEqual([
      [1, 2, 0],
      [0, 0, 0],
    ]);
    const grown = (await run('grow_twice', f32([2, 1], 0, 0))) as number[][];
    expect([grown.length, grown[0]?.length]).toEqual([4, 3]);
    expect(grown[3]).toEqual([1, 1, 1]);
    expect(await run('join', f32([2], 1, 2), f32([1], 3))).toEqual([1, 2, 3]);
    expect(await run('join', f32([0]), f32([2], 3, 4))).toEqual([3, 4]);
    const w = f32([3, 4], 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0);
    const v = f32([4, 2], 1, 0, 0, 1, 1, 1, 5, 5);
    expect(await run('chain', f32([2, 3], 1, 2, 3, -1, 4, 1), w, v)).toEqual([
      [4, 5],
      [1, 5],
    ]);
    expect(await run('chain', f32([1, 3], 1, 2, 3), w, v)).toEqual([[4, 5]]);
    expect(await run('flatten', f32([1, 2, 2], 1, 2, 3, 4))).toEqual([[1, 2, 3, 4]]);
    expect(await run('sum', x, x)).toEqual([[2, 4]]);
    expect(await run('sum_unproved', f32([2], 1, 2), f32([2], 3, 4))).toEqual([4, 6]);
    expect(await run('size', f32([2, 3], 1, 2, 3, 4, 5, 6))).toBe(6);
    expect(await run('scale_rows', x, f32([2], 3, 4))).toEqual([0, [9, 16], [1]]);
  });

  test('dimensions that are unknown in types', async () => {
    const { run } = await load('unknown-dims');
    const row = f32([1, 2], 0, 0);
    expect(await run('wrap', f32([2, 2], 0, 0, 0, 0))).toEqual([
      0,
      [
        [2, 2],
        [2, 2],
      ],
    ]);
    const [x, y] = [
      [1, 2],
      [-1, -2],
    ];
    const one = f32([1, 2], 1, 2);
    expect(await run('four_times', one)).toEqual([y, y, y, y]);
    expect(await run('either', 1, one)).toEqual([0, [y, y], 2]);
    expect(await run('either', 0, one)).toEqual([0, [y], 1]);
    expect(await run('each', one)).toEqual([0, [x, y], [0, [x, x, y, y], [1]]]);
    expect(await run('double', f32([3], 1, 2, 3))).toEqual([2, 4, 6]);
    expect(await run('grow', row, 5)).toHaveLength(8);
  });

  test('shapes that do not fit are refused by name', async () => {
    const { run } = await load('shapes');
    const two = f32([2], 1, 2);
    await expect(run('sum', f32([1, 2], 1, 2), f32([1, 3], 1, 2, 3))).rejects.toThrow(
      'sum, parameter b, dimension 1: got 3 in shape (1, 3), expected 2, since n is also dimension 1 of sum, parameter a.',
    );
    await expect(run('sum_unproved', two, f32([3], 1, 2, 3))).rejects.toThrow(
      /add: got \(m,\) and \(n,\)/,
    );
  });
});

test('1,000,000 iterations in constant frames, 10,000 on tensors in flat memory', async () => {
  const text = readFileSync(new URL('loops.ir', import.meta.url), 'utf8');
  const { run, vm, device } = await loadProgram(text);
  expect(await run('count', 1_000_000, 0)).toBe(500_000_500_000);
  expect(await run('even', 1_000_000)).toBe(1);
  await run('iterate', 10, f32([4], 0, 0, 0, 0));
  const { peakBytes } = vm.memory();
  await run('iterate', 10_000, f32([4], 0, 0, 0, 0));
  // The caller lets go of the argument when the call first yields, which may be before it begins.
  const argument = 256;
  expect(vm.memory().peakBytes).toBeLessThanOrEqual(peakBytes + argument);
  vm.dispose();
  device.destroy();
});
