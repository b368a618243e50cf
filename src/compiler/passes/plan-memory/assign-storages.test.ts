import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../core/random.ts';
import { assignStorages } from './assign-storages.ts';
import { liveBytes, type PlannedStorage, type TensorInterval } from './planned-storage.ts';

function tensor(first: number, last: number, size: number | undefined): TensorInterval {
  const storageClass = size === undefined ? 'session 4 * n' : 'session';
  return { first, last, size, storageClass, isShared: true, reads: [] };
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

describe('storages that are divided', () => {
  const chain = (...tensors: readonly (readonly [TensorInterval, ...number[]])[]) =>
    assignStorages(
      tensors.map(([one, ...reads]) => ({ ...one, reads })),
      zeros(6),
    );
  const large = tensor(0, 1, 4096);

  test('small tensors lie side by side where a large one was', () => {
    const [small, last] = [tensor(1, 3, 256), tensor(4, 5, 256)];
    const parts = [tensor(2, 4, 512), tensor(3, 4, 512)] as const;
    const storages = chain([large], [small, 0], [parts[0], 1], [parts[1], 1], [last, 2, 3]);
    expect(storages).toMatchObject([
      { size: 4096, tensors: [0, 2, 3], byteOffsets: [0, 0, 512] },
      { size: 256, tensors: [1, 4] },
    ]);
  });

  test('what a kernel reads is in another storage, even where there is room', () => {
    const parts = [tensor(2, 3, 512), tensor(3, 4, 512)] as const;
    expect(chain([large], [parts[0]], [parts[1]])).toMatchObject([
      { size: 4096, tensors: [0, 1, 2], byteOffsets: [0, 0, 512] },
    ]);
    expect(chain([large], [parts[0]], [parts[1], 1])).toMatchObject([
      { size: 4096, tensors: [0, 1] },
      { size: 512, tensors: [2] },
    ]);
  });

  test('a large storage is given back while nothing is in it, unless its buffer would be taken', () => {
    const size = 64 * 1024;
    const first = tensor(0, 1, size);
    const storages = chain([first], [tensor(1, 5, size), 0], [tensor(4, 5, size)]);
    const [a, b] = storages;
    expect(storages).toMatchObject([
      { size, first: 0, last: 1, tensors: [0] },
      { size, first: 4, last: 5, tensors: [2] },
      { size, first: 1, last: 5, tensors: [1] },
    ]);
    expect(a?.whole).toBeDefined();
    expect(a?.whole).toBe(b?.whole);
    // A smaller one would get the buffer meanwhile.
    const kept = chain([first], [tensor(2, 5, size / 2)], [tensor(4, 5, size)]);
    expect(kept.filter(({ tensors }) => tensors.includes(0))).toMatchObject([
      { size, first: 0, last: 5, tensors: [0, 2] },
    ]);
  });

  test('nothing is reserved for later that blocks inside this one want meanwhile', () => {
    const tensors = [tensor(0, 0, 1024), tensor(2, 3, 512), tensor(3, 3, 512)];
    expect(assignStorages(tensors, zeros(4))).toHaveLength(1);
    expect(assignStorages(tensors, [0, 1024, 0, 0]).length).toBeGreaterThan(1);
  });
});

test('random blocks: values are apart in time, in bytes or in storages, and little more is held than lives', () => {
  const random = seededRandom(7);
  const below = (n: number): number => Math.floor(random() * n);
  for (let round = 0; round < 200; round++) {
    const steps = 2 + below(40);
    const tensors: TensorInterval[] = [];
    for (let first = 0; first < steps - 1; first++) {
      const last = Math.min(first + below(1 + below(12)), steps - 1);
      const alive = [...tensors.keys()].filter((i) => (tensors[i]?.last ?? -1) >= first);
      const reads = alive.filter(() => below(3) === 0);
      const size = 256 * (1 + below(20));
      tensors.push({ ...tensor(first, last, size), isShared: below(5) > 0, reads });
    }
    const others = Array.from({ length: steps }, () => (below(6) === 0 ? 256 * below(30) : 0));
    const storages = assignStorages(tensors, others);
    expect(storages.flatMap((storage) => storage.tensors).sort((a, b) => a - b)).toEqual([
      ...tensors.keys(),
    ]);
    expect(storages.flatMap((storage) => faultsOf(storage, tensors))).toEqual([]);
    const held = Math.max(...liveBytes(storages, others));
    expect(held).toBeLessThanOrEqual(1.125 * Math.max(...liveBytes(tensors, others)));
  }
});

/** The fault of a storage, in words. */
function faultsOf(storage: PlannedStorage, tensors: readonly TensorInterval[]): string[] {
  const faults: string[] = [];
  const inside = storage.tensors.map((index, at) => {
    const { first = 0, last = 0, size = 0, isShared, reads = [] } = tensors[index] ?? {};
    const begin = storage.byteOffsets[at] ?? -1;
    return { index, first, last, isShared, reads, begin, end: begin + size };
  });
  for (const one of inside) {
    const name = `tensor ${one.index}`;
    if (one.begin < 0 || one.begin % 256 > 0) faults.push(`${name} begins at ${one.begin}`);
    if (one.end > (storage.size ?? 0)) faults.push(`${name} ends behind its storage`);
    if (one.first < storage.first || one.last > storage.last) faults.push(`${name} lives longer`);
    if (one.isShared !== true && inside.length > 1) faults.push(`${name} is not alone`);
    for (const other of inside) {
      if (other === one) continue;
      const isApart = other.last < one.first || one.last < other.first;
      const isBeside = other.end <= one.begin || one.end <= other.begin;
      if (!isApart && !isBeside) faults.push(`${name} overlaps ${other.index}`);
      if (one.reads.includes(other.index)) faults.push(`${name} is beside what its kernel reads`);
    }
  }
  return faults;
}

test('ten thousand tensors take little time and two storages', () => {
  const chain = Array.from({ length: 10_000 }, (_, i) => ({
    ...tensor(i, i + 1, 256),
    reads: i === 0 ? [] : [i - 1],
  }));
  expect(assignStorages(chain, zeros(10_001))).toHaveLength(2);
});
