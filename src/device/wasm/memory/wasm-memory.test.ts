import { describe, expect, test } from 'vitest';
import { OutOfMemoryError } from '../../../core/errors.ts';
import { asWasmBuffer, WasmMemory } from './wasm-memory.ts';

const PAGE = 65_536;
const open = (byteBudget = 2 ** 24) => new WasmMemory({ byteBudget });

describe('buffers of the linear memory', () => {
  test('lie apart, at multiples of 64, never at address 0', () => {
    const memory = open();
    const buffers = [1, 64, 65, 0, 4].map((byteLength) => memory.create(byteLength));
    const begins = buffers.map(({ begin }) => begin);
    expect(begins).toEqual([64, 128, 192, 320, 384]);
    expect(memory).toMatchObject({ created: 5, live: 5, bytesLive: 134 });
  });

  test('are zeroed when memory is used again, and join their gaps', () => {
    const memory = open();
    const [a, b, c] = [memory.create(100), memory.create(100), memory.create(100)];
    const { begin } = a;
    new Uint8Array(memory.bytes, begin, 384).fill(7);
    c.destroy();
    a.destroy();
    b.destroy();
    b.destroy();
    expect(memory.live).toBe(0);
    const all = memory.create(384);
    expect(all.begin).toBe(begin);
    expect(new Set(new Uint8Array(memory.bytes, begin, 384))).toEqual(new Set([0]));
    expect(() => a.begin).toThrow('a buffer is used after it was destroyed');
  });

  test('take the smallest gap that fits', () => {
    const memory = open();
    const [large, , small] = [1024, 64, 128, 64].map((byteLength) => memory.create(byteLength));
    const place = small?.begin;
    large?.destroy();
    small?.destroy();
    expect(memory.create(128).begin).toBe(place);
  });

  test('grow the memory by what is missing at its end', () => {
    const memory = open();
    const first = memory.create(PAGE / 2);
    new Uint8Array(memory.bytes, first.begin, 4).set([1, 2, 3, 4]);
    const second = memory.create(PAGE);
    expect(memory.bytes.byteLength).toBe(2 * PAGE);
    expect(second.begin).toBe(first.begin + PAGE / 2);
    expect([...new Uint8Array(memory.bytes, first.begin, 4)]).toEqual([1, 2, 3, 4]);
  });

  test('beyond the budget are refused, and those that are there stay', () => {
    const memory = open(1000);
    const kept = memory.create(600);
    new Uint8Array(memory.bytes, kept.begin, 1).set([9]);
    expect(() => memory.create(500)).toThrowErrorMatchingInlineSnapshot(
      `[OutOfMemoryError: wasm buffer: got a request for 500 bytes with 600 in use, expected at most 400, what is left of 1000. Use smaller inputs or a smaller batch.]`,
    );
    expect(() => memory.create(Number.NaN)).toThrow(OutOfMemoryError);
    expect(new Uint8Array(memory.bytes, kept.begin, 1)[0]).toBe(9);
    expect(memory.create(400).byteLength).toBe(400);
  });

  test('beyond 32-bit addresses are refused', () => {
    const memory = open(2 ** 40);
    expect(() => memory.create(2 ** 32)).toThrow('at most 4294836224, the largest buffer');
  });
});

test('scratch grows and keeps its place by slot', () => {
  const memory = open();
  const first = memory.scratch(3, 100);
  expect(memory.scratch(3, 50)).toEqual(first);
  const grown = memory.scratch(3, 5000);
  expect(memory.scratch(3, 5000)).toEqual(grown);
  memory.dropScratch();
  expect(memory.live).toBe(0);
});

test('buffers of other devices are refused', () => {
  expect(() => asWasmBuffer({ byteLength: 4, destroy: () => undefined })).toThrow(
    'a buffer of another device was given to the wasm device',
  );
});
