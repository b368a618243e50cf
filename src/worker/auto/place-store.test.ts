import { expect, test } from 'vitest';
import { mergeFindings, toFindings } from './place-store.ts';

const rates = { roundTripMs: 1, launchMs: 0.01, operationsPerMs: 1e8, bytesPerMs: 1e7 };
const measured = (program: string, webgpu = 1) => ({ program, times: { webgpu, wasm: 2 } });

test('findings of others stay, those about the same are replaced', () => {
  const known = { gpu: rates, programs: [measured('a'), measured('b')] };
  const found = { wasm: rates, programs: [measured('a', 7)] };
  expect(mergeFindings(known, found)).toEqual({
    gpu: rates,
    wasm: rates,
    programs: [measured('b'), measured('a', 7)],
  });
});

test('the programs that were measured first go when there are too many', () => {
  const programs = Array.from({ length: 1500 }, (_, i) => measured(String(i)));
  const { programs: kept } = mergeFindings({ programs }, {});
  expect([kept.length, kept[0]?.program]).toEqual([1024, '476']);
});

test('of what a store holds, only what measurements could have put there is taken', () => {
  const nothing = { gpu: undefined, wasm: undefined, programs: [] };
  for (const stored of [undefined, null, 'x', [], { gpu: 1, wasm: {}, programs: {} }]) {
    expect(toFindings(stored)).toEqual(nothing);
  }
  const bad = [
    null,
    'program',
    { program: 7, times: { webgpu: 1, wasm: 1 } },
    { program: 'a', times: { webgpu: 0, wasm: 1 } },
    { program: 'a', times: { webgpu: 1, wasm: Number.NaN } },
    { program: 'a' },
  ];
  const slow = { ...rates, bytesPerMs: -1 };
  expect(toFindings({ gpu: slow, wasm: rates, programs: [...bad, measured('a')] })).toEqual({
    gpu: undefined,
    wasm: rates,
    programs: [measured('a')],
  });
});
