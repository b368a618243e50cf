import { expect, test } from 'vitest';
import type { MemoryUse, StorageLife } from '../../bytecode/memory/memory-use.ts';
import { placeStorages, type StorageBox } from './memory-panel.ts';

/** The boxes of an instruction, from the bottom up. */
function boxesAt(boxes: readonly StorageBox[], instruction: number): readonly StorageBox[] {
  return boxes
    .filter(({ first, last }) => first <= instruction && instruction <= last)
    .toSorted((a, b) => a.from - b.from);
}

function life(byteLength: number | undefined, ...spans: StorageLife['spans']): StorageLife {
  return { instruction: 0, input: undefined, isOnHost: false, byteLength, spans, writers: [] };
}

const use: MemoryUse = {
  storages: [
    life(4, [0, 9]),
    life(2, [1, 3], [8, 9]),
    life(3, [2, 8]),
    life(2, [4, 5]),
    life(3, [4, 6]),
    life(undefined, [0, 9]),
  ],
  instructionCount: 10,
  peak: { instruction: 4, byteLength: 12 },
  symbols: [],
  calls: [],
  returnedBytes: 0,
};

test('boxes lie as low as those that are there at the same time leave room', () => {
  const boxes = placeStorages(use);
  expect(boxes.map(({ storage, from, to }) => [storage, from, to])).toEqual([
    [0, 0, 4],
    [1, 4, 6],
    [2, 6, 9],
    [3, 4, 6],
    [4, 9, 12],
    [1, 4, 6],
  ]);
  expect(boxesAt(boxes, 4).map(({ storage }) => storage)).toEqual([0, 3, 2, 4]);
  expect(boxesAt(boxes, 9).map(({ storage }) => storage)).toEqual([0, 1]);
});

test('a storage that begins at the instruction where another one ends lies beside it', () => {
  const boxes = placeStorages({ ...use, storages: [life(2, [0, 3]), life(2, [3, 5])] });
  expect(boxes.map(({ from, to }) => [from, to])).toEqual([
    [0, 2],
    [2, 4],
  ]);
});
