import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OutOfMemoryError } from '../../core/errors.ts';
import { NaiveAllocator } from '../testing/naive-allocator.ts';
import { TestDevice } from '../testing/test-device.ts';
import { discard, release, retain, type StorageValue } from '../values/value.ts';
import type { Allocator } from './allocator.ts';
import { PooledAllocator } from './pooled-allocator.ts';

function allocate(allocator: Allocator, byteLength: number): StorageValue {
  const storage = allocator.allocate(byteLength);
  retain(storage);
  return storage;
}

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('PooledAllocator', () => {
  test('reuses a freed buffer for any size of its class', () => {
    const device = new TestDevice();
    const pool = new PooledAllocator(device);
    const first = allocate(pool, 1000);
    release(first);
    const second = allocate(pool, 900);
    expect(second.buffer).toBe(first.buffer);
    expect(second.byteLength).toBe(900);
    const third = allocate(pool, 1024);
    expect(third.buffer).not.toBe(first.buffer);
    release(third);
    expect(pool.counters()).toEqual({
      reservedBytes: 0,
      liveBytes: 1024,
      pooledBytes: 1024,
      peakBytes: 2048,
      allocations: 3,
      reuses: 1,
      classes: [{ byteLength: 1024, live: 1, pooled: 1 }],
    });
    expect(device.counters().bytesLive).toBe(2048);
  });

  test('takes the first three sizes of a class as they are, and the whole class for others', () => {
    const pool = new PooledAllocator(new TestDevice());
    const requests = [8200, 8200, 8700, 9000, 8200, 9300, 8200];
    const sizes = requests.map((size) => allocate(pool, size).buffer.byteLength);
    expect(sizes).toEqual([8448, 8448, 8704, 9216, 8448, 10_240, 10_240]);
  });

  test('sizes of one class that a program asks for in every run have buffers of their own', () => {
    const pool = new PooledAllocator(new TestDevice());
    for (let run = 0; run < 3; run++) {
      const storages = [1_664_000, 1_605_632].map((size) => allocate(pool, size));
      storages.forEach(release);
    }
    expect(pool.counters()).toMatchObject({ pooledBytes: 3_269_632, allocations: 6, reuses: 4 });
  });

  test('takes a free buffer of up to four times the size before it makes another', () => {
    const device = new TestDevice();
    const pool = new PooledAllocator(device);
    const [large, small] = [allocate(pool, 81_920), allocate(pool, 20_480)];
    release(large);
    release(small);
    const middle = allocate(pool, 21_000);
    expect(middle.buffer).toBe(large.buffer);
    expect(allocate(pool, 4600).buffer).not.toBe(small.buffer);
    release(middle);
    expect(allocate(pool, 81_920).buffer).toBe(large.buffer);
    expect(pool.counters()).toMatchObject({ liveBytes: 86_528, pooledBytes: 20_480 });
  });

  test('finds the smallest free buffer that is large enough, which stays free', () => {
    const pool = new PooledAllocator(new TestDevice());
    const [a, b, c] = [4096, 2048, 2048].map((size) => allocate(pool, size));
    if (a === undefined || b === undefined || c === undefined) throw new Error('nothing allocated');
    expect(pool.findFree(1, [])).toBeUndefined();
    for (const storage of [a, b, c]) release(storage);
    expect(pool.findFree(100, [])).toBe(b.buffer);
    expect(pool.findFree(100, [b.buffer])).toBe(c.buffer);
    expect(pool.findFree(100, [b.buffer, c.buffer])).toBe(a.buffer);
    expect(pool.findFree(2049, [])).toBe(a.buffer);
    expect(pool.findFree(4097, [])).toBeUndefined();
    expect(pool.isFree(a.buffer)).toBe(true);
    expect(pool.counters()).toMatchObject({ liveBytes: 0, reuses: 0 });
  });

  test('a free buffer that the driver refused is not found', () => {
    const pool = new PooledAllocator(new TestDevice());
    const [large, small] = [allocate(pool, 4096), allocate(pool, 2048)];
    release(large);
    release(small);
    // A device finds out after it has handed out the buffer.
    Object.assign(small.buffer, { isRefused: true });
    expect(pool.findFree(100, [])).toBe(large.buffer);
    Object.assign(large.buffer, { isRefused: true });
    expect(pool.findFree(100, [])).toBeUndefined();
  });

  test('a shape that grows step by step meets few classes', () => {
    const device = new TestDevice();
    const pool = new PooledAllocator(device);
    for (let rows = 1; rows <= 1000; rows++) release(allocate(pool, rows * 256));
    expect(pool.counters().reuses).toBeGreaterThan(950);
    expect(device.counters().buffersCreated).toBeLessThan(50);
  });

  test('trim destroys what is pooled and nothing else', () => {
    const device = new TestDevice();
    const pool = new PooledAllocator(device);
    const kept = allocate(pool, 100);
    release(allocate(pool, 4096));
    expect(pool.trim()).toBe(4096);
    expect(pool.counters()).toMatchObject({ liveBytes: 256, pooledBytes: 0 });
    expect(device.counters().bytesLive).toBe(256);
    release(kept);
  });

  test('evicts the least recently used class before it fails', () => {
    const device = new TestDevice();
    const pool = new PooledAllocator(device, { byteBudget: 10_240 });
    const [a, b] = [allocate(pool, 2048), allocate(pool, 4096)];
    release(a);
    release(b);
    release(allocate(pool, 2048));
    allocate(pool, 8192);
    expect(pool.counters()).toMatchObject({ liveBytes: 8192, pooledBytes: 2048 });
    expect(pool.counters().classes).toEqual([
      { byteLength: 2048, live: 0, pooled: 1 },
      { byteLength: 8192, live: 1, pooled: 0 },
    ]);
  });

  test('a request beyond the budget says all sizes', () => {
    const pool = new PooledAllocator(new TestDevice(), { byteBudget: 8192 });
    pool.reserve(1024);
    allocate(pool, 4096);
    release(allocate(pool, 256));
    const error = thrownBy(() => pool.allocate(5000));
    expect(error).toBeInstanceOf(OutOfMemoryError);
    expect(error).toMatchInlineSnapshot(
      `[OutOfMemoryError: allocation on test device: got a request of 5000 bytes with 4096 live, 256 pooled and 1024 in constants, expected at most 8192 bytes in all. Raise the byte budget, use a smaller batch, or dispose of other sessions.]`,
    );
    expect(error).toMatchObject({
      details: {
        requestedBytes: 5000,
        liveBytes: 4096,
        pooledBytes: 256,
        reservedBytes: 1024,
        budgetBytes: 8192,
      },
    });
    expect(pool.counters()).toMatchObject({ liveBytes: 4096, pooledBytes: 256 });
  });

  test('a request beyond the largest buffer is refused before the device is asked', () => {
    const device = new TestDevice({ maxBufferByteLength: 4096 });
    const pool = new PooledAllocator(device);
    expect(() => pool.allocate(4097)).toThrowErrorMatchingInlineSnapshot(
      `[OutOfMemoryError: allocation on test device: got a request of 4097 bytes, expected at most 4096, the device's largest buffer. Use a smaller batch or input.]`,
    );
    expect(allocate(pool, 3900).buffer.byteLength).toBe(4096);
    expect(device.counters().buffersCreated).toBe(1);
  });

  test('gives up the pool when the device itself is full', () => {
    const device = new TestDevice({ memoryByteLength: 6000 });
    const pool = new PooledAllocator(device);
    release(allocate(pool, 4096));
    expect(allocate(pool, 5000).buffer.byteLength).toBe(5120);
    expect(() => pool.allocate(4096)).toThrow('test device has no 4096 bytes left');
    expect(pool.counters()).toMatchObject({ liveBytes: 5120, pooledBytes: 0 });
  });

  test('dispose destroys storages in use, and later releases are ignored', () => {
    const device = new TestDevice();
    const pool = new PooledAllocator(device);
    const held = allocate(pool, 512);
    release(allocate(pool, 64));
    pool.dispose();
    expect(pool.counters()).toMatchObject({ liveBytes: 0, pooledBytes: 0, classes: [] });
    expect(device.counters()).toMatchObject({ buffersLive: 0, bytesLive: 0 });
    release(held);
    expect(pool.counters()).toMatchObject({ liveBytes: 0, pooledBytes: 0 });
  });
});

type Step =
  | { readonly kind: 'allocate'; readonly byteLength: number }
  | { readonly kind: 'free'; readonly which: number }
  | { readonly kind: 'trim' };

const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant('allocate' as const), byteLength: fc.nat(20_000) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('free' as const), which: fc.nat(1000) }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'trim' as const }) },
  ),
  { maxLength: 120 },
);

/** Runs steps; each storage is filled with its number, and checked before it is freed. */
function play(allocator: Allocator, device: TestDevice, script: readonly Step[]): number[] {
  const live: { storage: StorageValue; mark: number }[] = [];
  const seen: number[] = [];
  const check = ({ storage, mark }: (typeof live)[number]): void => {
    const byteLength = Math.ceil(storage.byteLength / 4) * 4;
    const bytes = device.readSync({ buffer: storage.buffer, byteOffset: 0, byteLength });
    seen.push(bytes?.every((byte) => byte === mark % 251) === true ? mark : -1);
    release(storage);
  };
  for (const [mark, step] of script.entries()) {
    if (step.kind === 'trim') allocator.trim();
    else if (step.kind === 'free') live.splice(step.which % (live.length + 1), 1).forEach(check);
    else {
      const storage = allocate(allocator, step.byteLength);
      const byteLength = Math.ceil(step.byteLength / 4) * 4;
      device.write(storage.buffer, 0, new Uint8Array(byteLength).fill(mark % 251));
      live.push({ storage, mark });
    }
  }
  live.forEach(check);
  return seen;
}

describe('the pooled allocator against the naive one', () => {
  test('no storage is handed out twice, and everything comes back', () => {
    fc.assert(
      fc.property(steps, (script: readonly Step[]) => {
        const [pooledDevice, naiveDevice] = [new TestDevice(), new TestDevice()];
        const pooled = new PooledAllocator(pooledDevice);
        const naive = new NaiveAllocator(naiveDevice);
        const seen = play(pooled, pooledDevice, script);
        expect(seen).toEqual(play(naive, naiveDevice, script));
        expect(seen).not.toContain(-1);
        expect(pooled.counters().liveBytes).toBe(0);
        expect(naive.counters().liveBytes).toBe(0);
        expect(pooled.counters().allocations).toBe(naive.counters().allocations);
        expect(pooledDevice.counters().bytesLive).toBe(pooled.counters().pooledBytes);
        pooled.trim();
        expect(pooledDevice.counters().bytesLive).toBe(0);
      }),
      { seed: 20260721, numRuns: 150 },
    );
  });

  test('under a budget it never holds more than it, and fails only for good reason', () => {
    fc.assert(
      fc.property(
        steps,
        fc.integer({ min: 4096, max: 60_000 }),
        (script: readonly Step[], byteBudget) => {
          const device = new TestDevice();
          const pooled = new PooledAllocator(device, { byteBudget });
          for (const step of script) {
            if (step.kind === 'trim') pooled.trim();
            if (step.kind !== 'allocate') continue;
            try {
              discard(pooled.allocate(step.byteLength));
            } catch (error) {
              expect(error).toBeInstanceOf(OutOfMemoryError);
              expect(step.byteLength * 1.25 + 256).toBeGreaterThan(byteBudget);
            }
            expect(device.counters().bytesLive).toBeLessThanOrEqual(byteBudget);
            expect(pooled.counters().peakBytes).toBeLessThanOrEqual(byteBudget);
          }
        },
      ),
      { seed: 20260722, numRuns: 100 },
    );
  });
});

test('NaiveAllocator keeps to its budget', () => {
  const device = new TestDevice();
  const naive = new NaiveAllocator(device, { byteBudget: 1024 });
  const storage = allocate(naive, 1000);
  expect(() => naive.allocate(100)).toThrow('a request of 100 bytes with 1000 live');
  release(storage);
  expect(naive.counters()).toMatchObject({ liveBytes: 0, peakBytes: 1000, allocations: 1 });
  expect(device.counters().buffersLive).toBe(0);
});
