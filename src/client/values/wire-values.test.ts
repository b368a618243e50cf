import { expect, test } from 'vitest';
import { FakeClock } from '../../testing/fake-clock.ts';
import { SPARE_MEMORY, SpareMemory } from './spare-memory.ts';
import { Tensor } from './tensor.ts';
import { toWire } from './wire-values.ts';

const MEGABYTE = 1024 * 1024;
const info = {
  name: 'main',
  params: [{ name: 'x', dtype: 'float32' as const, shape: ['n'] }],
  results: [],
};

function copyOf(tensor: Tensor, memory: SpareMemory) {
  const { args, transfers } = toWire(info, [tensor], { memory });
  const [arg] = args;
  if (arg?.kind !== 'tensor') throw new Error('no tensor');
  expect(transfers[0]).toBe(arg.data.buffer);
  return arg;
}

test('inputs are copied into spare memory of their size or up to twice as much, else into new', () => {
  const unit = 2 ** 14;
  const spares = [8, 24, 16].map((byteLength) => new ArrayBuffer(byteLength * unit));
  const memory = new SpareMemory(new FakeClock());
  memory.keep(spares);
  const content = new Float32Array(3 * unit).fill(5);
  const tensor = new Tensor('float32', content, [3 * unit]);
  const copy = () => copyOf(tensor, memory);
  const [first, second, third] = [copy(), copy(), copy()];
  expect(new Set([first.data.buffer, second.data.buffer])).toEqual(new Set(spares.slice(1)));
  expect(spares).not.toContain(third.data.buffer);
  for (const { data } of [first, second, third]) expect(data).toEqual(content);
  first.data.fill(9 as never);
  expect(tensor.data[0]).toBe(5);
  expect(memory.take(8 * unit)).toBe(spares[0]);
  expect(memory.take(8 * unit)).toBeUndefined();
});

test('small inputs are copied as they are posted, unless they are to be handed over', () => {
  const tensor = Tensor.from([1, 2, 3]);
  const { args, transfers } = toWire(info, [tensor]);
  expect(transfers).toEqual([]);
  expect(args).toMatchObject([{ data: Float32Array.of(1, 2, 3) }]);
  expect(toWire(info, [tensor], { move: true }).transfers).toHaveLength(1);
  expect(tensor.data).toHaveLength(0);
});

test('of spare memory the latest 64 MB are kept, until no run has ended for a while', async () => {
  const clock = new FakeClock();
  const memory = new SpareMemory(clock);
  const spares = Array.from({ length: 9 }, () => new ArrayBuffer(8 * MEGABYTE));
  for (const spare of spares) memory.keep([spare]);
  const kept = Array.from({ length: 9 }, () => memory.take(8 * MEGABYTE) ?? new ArrayBuffer());
  expect(kept.map((spare) => spares.indexOf(spare))).toEqual([8, 7, 6, 5, 4, 3, 2, 1, -1]);
  memory.keep(spares);
  await clock.advance(4000);
  memory.keep([]);
  await clock.advance(4000);
  expect(memory.take(8 * MEGABYTE)).toBeDefined();
  await clock.advance(1000);
  expect(memory.take(8 * MEGABYTE)).toBeUndefined();
});

test('memory of disposed tensors is room for the next results', () => {
  SPARE_MEMORY.takeRoom();
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
  expect(SPARE_MEMORY.takeRoom().map(({ byteLength }) => byteLength)).toEqual([4 * count]);
  expect(SPARE_MEMORY.takeRoom()).toEqual([]);
});
