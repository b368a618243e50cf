import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../testing/random.ts';
import { assignStorages, liveBytes, type TensorInterval } from './assign-storages.ts';

function tensor(first: number, last: number, size: number | undefined): TensorInterval {
  const storageClass = size === undefined ? 'session 4 * n' : 'session';
  return { first, last, size, storageClass, isShared: true };
}

const zeros = (steps: number): number[] => new Array<number>(steps).fill(0);

describe('storages', () => {
  test('a chain needs two', () => {
    const chain = Array.from({ length: 9 }, (_, i) => tensor(i, i + 1, 256));
    const storages = assignStorages(chain, zeros(10));
    expect(storages.map(({ tensors }) => tensors)).toEqual([
      [0, 2, 4, 6, 8],
      [1, 3, 5, 7],
    ]);
  });

  test('a kernel does not write where it reads', () => {
    const storages = assignStorages([tensor(0, 1, 256), tensor(1, 2, 256)], zeros(3));
    expect(storages).toHaveLength(2);
  });

  test('the smallest that is large enough is taken, else one grows', () => {
    const tensors = [
      tensor(0, 3, 1024),
      tensor(1, 3, 512),
      tensor(4, 5, 512),
      tensor(6, 7, 768),
      tensor(7, 8, 512),
    ];
    const storages = assignStorages(tensors, zeros(9));
    expect(storages.map(({ tensors }) => tensors)).toEqual([
      [0, 3],
      [1, 2, 4],
    ]);
  });

  test('a storage that would hold too much while it is free is let go', () => {
    const tensors = [tensor(0, 1, 1024), tensor(2, 5, 1024), tensor(6, 6, 1024)];
    const reused = assignStorages(tensors.toSpliced(1, 1), zeros(7));
    expect(reused).toHaveLength(1);
    // Two of 1024 are alive at no time.
    const storages = assignStorages(
      [tensor(0, 1, 1024), tensor(3, 4, 1100), tensor(6, 6, 1024)],
      [0, 0, 1024, 0, 0, 0, 0],
    );
    expect(storages.map(({ tensors }) => tensors)).toEqual([[0], [1, 2]]);
  });

  test('sizes that are one formula', () => {
    const tensors = [0, 1, 2].map((i) => tensor(i, i + 1, undefined));
    expect(assignStorages(tensors, zeros(4)).map((storage) => storage.tensors)).toEqual([
      [0, 2],
      [1],
    ]);
  });

  test('what may not be shared has a storage of its own', () => {
    const tensors = [tensor(0, 0, 256), { ...tensor(2, 2, 256), isShared: false }];
    expect(assignStorages(tensors, zeros(3))).toHaveLength(2);
  });
});

test('random blocks: no two values are in one storage at once, and little more is held than lives', () => {
  const random = seededRandom(7);
  const below = (n: number): number => Math.floor(random() * n);
  for (let round = 0; round < 200; round++) {
    const steps = 2 + below(40);
    const tensors = Array.from({ length: steps - 1 }, (_, first): TensorInterval => {
      const last = Math.min(first + below(1 + below(12)), steps - 1);
      return { ...tensor(first, last, 256 * (1 + below(20))), isShared: below(5) > 0 };
    });
    const others = Array.from({ length: steps }, () => (below(6) === 0 ? 256 * below(30) : 0));
    const storages = assignStorages(tensors, others);
    expect(storages.flatMap((storage) => storage.tensors).sort((a, b) => a - b)).toEqual([
      ...tensors.keys(),
    ]);
    for (const storage of storages) {
      let free = -1;
      for (const index of storage.tensors) {
        const { first = 0, last = 0, size = 0, isShared } = tensors[index] ?? {};
        expect(first).toBeGreaterThan(free);
        expect(storage.size).toBeGreaterThanOrEqual(size);
        expect(isShared || storage.tensors.length === 1).toBe(true);
        free = last;
      }
    }
    const held = Math.max(...liveBytes(storages, others));
    expect(held).toBeLessThanOrEqual(1.125 * Math.max(...liveBytes(tensors, others)));
  }
});
