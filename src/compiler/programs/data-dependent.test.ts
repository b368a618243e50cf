import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { DEVICES } from '../../device/testing/node-devices.ts';
import type { Device } from '../../device/device.ts';
import { f32, type LoadedProgram, loadProgram } from '../testing/load-program.ts';

const int64 = (...values: number[]) => HostTensor.from('int64', [values.length], values);

describe.each(DEVICES)('sizes that depend on elements, on $title', ({ open }) => {
  const used: { vm: LoadedProgram['vm']; device: Device }[] = [];

  afterEach(() => {
    for (const { vm, device } of used.splice(0)) {
      vm.dispose();
      device.destroy();
    }
  });

  async function load(): Promise<LoadedProgram> {
    const device = await open();
    const text = readFileSync(new URL('data-dependent.ir', import.meta.url), 'utf8');
    const program = await loadProgram(text, { device });
    used.push({ vm: program.vm, device });
    return program;
  }

  /** The result of a call, and how often it waited for data of the session's device. */
  async function readbacks(
    { vm, device }: LoadedProgram,
    call: Parameters<typeof vm.get>[0],
    ...args: HostTensor[]
  ) {
    const inputs = args.map((arg) => vm.tensor(arg));
    const before = device.counters().readbacks;
    const result = await vm.get(call)(...inputs);
    const count = device.counters().readbacks - before;
    for (const value of [result, ...inputs]) vm.release(value);
    return count;
  }

  test('nonzero', async () => {
    const program = await load();
    const { run } = program;
    expect(await run('chosen', f32([5], 0, 3, 0, -1, 2))).toEqual([6, -2, 4]);
    expect(await run('chosen', f32([2], 0, 0))).toEqual([]);
    expect(await run('positions', f32([2, 2], 0, 1, 1, 0))).toEqual([
      [0, 1],
      [1, 0],
    ]);
    expect(await readbacks(program, 'positions', f32([2, 2], 0, 1, 1, 0))).toBe(1);
    expect(await readbacks(program, 'chosen', f32([3], 0, 1, 1))).toBe(1);
  });

  test('unique', async () => {
    const { run } = await load();
    const x = HostTensor.from('int32', [5], [7, 3, 7, 3, 1]);
    expect(await run('distinct', x)).toEqual([0, [1, 3, 7], [2, 2, 2], [2, 1, 2, 1, 0]]);
  });

  test('integers as dimensions, in order of evaluation', async () => {
    const { run } = await load();
    const x = f32([3], 0, 0, 0);
    expect(await run('filled', int64(1, 2), x)).toEqual([0, [[3, 3]], [0, 0], [1, 1, 1]]);
    expect(await run('filled', int64(0, 2), x)).toEqual([0, [], [0, 0, 0], [1, 1, 1]]);
    await expect(run('filled', int64(2, -1), x)).rejects.toThrow(
      'sizes: got size -1, expected 0 to 2147483647',
    );
  });

  test('a branch that needs no sizes reads nothing back', async () => {
    const program = await load();
    const { run, vm, device } = program;
    expect(await run('maybe', 1, int64(4), f32([2], 5, 6))).toBe(4);
    const inputs = [vm.tensor(int64(4)), vm.tensor(f32([2], 5, 6))] as const;
    const before = device.counters().readbacks;
    const result = await vm.get('maybe')(0, ...inputs);
    expect(device.counters().readbacks).toBe(before);
    for (const value of [result, ...inputs]) vm.release(value);
  });

  test('other sizes need no other pipelines', async () => {
    const { run, device } = await load();
    await run('chosen', f32([5], 0, 3, 0, -1, 2));
    await run('filled', int64(3, 2), f32([4], 0, 0, 0, 0));
    const { pipelinesCreated } = device.counters();
    for (const size of [1, 6, 17, 300]) {
      const values = Array.from({ length: size }, (_, i) => i % 3);
      const expected = values.filter((value) => value !== 0).map((value) => value * 2);
      expect(await run('chosen', f32([size], ...values))).toEqual(expected);
      // A slice of the whole has code of its own.
      await run('filled', int64(1 + (size % 5), size), f32([size], ...values));
    }
    expect(device.counters().pipelinesCreated).toBe(pipelinesCreated);
  });
});
