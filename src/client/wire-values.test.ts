import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { keepSpares, takeRoom, takeSpare } from './spare-memory.ts';
import { Tensor } from './tensor.ts';
import { toWire } from './wire-values.ts';

const MEGABYTE = 1024 * 1024;
const info = {
  name: 'main',
  params: [{ name: 'x', dtype: 'float32' as const, shape: ['n'] }],
  results: [],
};

function copyOf(tensor: Tensor) {
  const { args, transfers } = toWire(info, [tensor], false);
  const [arg] = args;
  if (arg?.kind !== 'tensor') throw new Error('no tensor');
  expect(transfers[0]).toBe(arg.data.buffer);
  return arg;
}

// One timer serves all.
beforeAll(() => void vi.useFakeTimers());
afterAll(() => void vi.useRealTimers());

test('inputs are copied into spare memory of their size or up to twice as much, else into new', () => {
  const unit = 2 ** 14;
  const spares = [8, 24, 16].map((byteLength) => new ArrayBuffer(byteLength * unit));
  keepSpares(spares);
  const content = new Float32Array(3 * unit).fill(5);
  const tensor = new Tensor('float32', content, [3 * unit]);
  const [first, second, third] = [copyOf(tensor), copyOf(tensor), copyOf(tensor)];
  expect(new Set([first.data.buffer, second.data.buffer])).toEqual(new Set(spares.slice(1)));
  expect(spares).not.toContain(third.data.buffer);
  for (const { data } of [first, second, third]) expect(data).toEqual(content);
  first.data.fill(9 as never);
  expect(tensor.data[0]).toBe(5);
  expect(takeSpare(8 * unit)).toBe(spares[0]);
  expect(takeSpare(8 * unit)).toBeUndefined();
});

test('small inputs are copied as they are posted, unless they are to be handed over', () => {
  const tensor = Tensor.from([1, 2, 3]);
  const { args, transfers } = toWire(info, [tensor], false);
  expect(transfers).toEqual([]);
  expect(args).toMatchObject([{ data: Float32Array.of(1, 2, 3) }]);
  expect(toWire(info, [tensor], true).transfers).toHaveLength(1);
  expect(tensor.data).toHaveLength(0);
});

test('of spare memory the latest 64 MB are kept, until no run has ended for a while', () => {
  const spares = Array.from({ length: 9 }, () => new ArrayBuffer(8 * MEGABYTE));
  for (const spare of spares) keepSpares([spare]);
  const kept = Array.from({ length: 9 }, () => takeSpare(8 * MEGABYTE) ?? new ArrayBuffer());
  expect(kept.map((spare) => spares.indexOf(spare))).toEqual([8, 7, 6, 5, 4, 3, 2, 1, -1]);
  keepSpares(spares);
  vi.advanceTimersByTime(4000);
  keepSpares([]);
  vi.advanceTimersByTime(4000);
  expect(takeSpare(8 * MEGABYTE)).toBeDefined();
  vi.advanceTimersByTime(1000);
  expect(takeSpare(8 * MEGABYTE)).toBeUndefined();
});

test('memory of disposed tensors is room for the next results', () => {
  const count = 2 ** 14;
  const tensor = new Tensor('float32', new Float32Array(count), [count]);
  tensor.dispose();
  tensor.dispose();
  expect(tensor.data).toHaveLength(0);
  const part = new Tensor('float32', new Float32Array(count + 2).subarray(2), [count]);
  const small = new Tensor('float32', new Float32Array(count - 1), [count - 1]);
  for (const kept of [part, small]) {
    kept.dispose();
    expect(kept.data).toHaveLength(kept.shape[0] ?? 0);
  }
  expect(takeRoom().map(({ byteLength }) => byteLength)).toEqual([4 * count]);
  expect(takeRoom()).toEqual([]);
});
