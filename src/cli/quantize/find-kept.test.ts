import { expect, test } from 'vitest';
import { findKept } from './measure-quantized.ts';

/** Layers whose harms add up, and how often they were measured. */
async function search(harms: Readonly<Record<string, number>>, wanted: number) {
  const layers = Object.keys(harms);
  let measured = 0;
  const kept = await findKept({
    layers,
    wanted,
    cosineWithout: (without) => {
      measured++;
      const harm = layers.reduce(
        (sum, name) => sum + (without.includes(name) ? 0 : (harms[name] ?? 0)),
        0,
      );
      return Promise.resolve(1 - harm);
    },
  });
  return { kept, measured };
}

test('the worst stay, and no more than have to', async () => {
  const harms = { a: 0.001, b: 0.2, c: 0.002, d: 0.1, e: 0.05, f: 0.003 };
  expect((await search(harms, 0.99)).kept).toEqual(['b', 'd', 'e']);
  expect((await search(harms, 0.94)).kept).toEqual(['b', 'd']);
  expect((await search(harms, 0.8)).kept).toEqual(['b']);
});

test('all stay where nothing else is near enough', async () => {
  expect((await search({ a: 0.1, b: 0.2, c: 0.3 }, 1)).kept).toEqual(['c', 'b', 'a']);
});

test('one that gives no numbers is the worst', async () => {
  const harms = { a: 0.1, b: Number.NaN, c: 0.01 };
  expect((await search(harms, 0.95)).kept).toEqual(['b', 'a']);
});

test('each layer is measured alone, and then a few numbers of them', async () => {
  const harms = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`l${i}`, 0.01]));
  const { kept, measured } = await search(harms, 0.495);
  expect(kept).toHaveLength(14);
  expect(measured).toBeLessThan(64 + 12);
});
