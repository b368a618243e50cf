import { expect, test } from 'vitest';
import { FakeClock } from '../../testing/fake-clock.ts';
import type { BufferTable } from './memory/buffers.ts';
import type { CompiledLaunch } from './kernels/compiled-plan.ts';
import { LaunchProfiler } from './launch-profiler.ts';

const MILLISECOND = 1_000_000n;

/** Timestamps in which launches begin then, in milliseconds on the clock of the GPU; undefined for one that was not written. */
function timestamps(...begins: readonly (number | undefined)[]): Uint8Array {
  const ticks = begins.flatMap((begin) => [BigInt(begin ?? 0) * MILLISECOND, 0n]);
  return new Uint8Array(BigUint64Array.from(ticks).buffer);
}

function openProfiler() {
  const clock = new FakeClock();
  const profiler = new LaunchProfiler({} as GPUDevice, {} as BufferTable, {
    hasTimestamps: false,
    clock,
  });
  const submit = async (launchCount: number): Promise<number> => {
    for (let i = 0; i < launchCount; i++) profiler.beginPass({ label: 'add' } as CompiledLaunch);
    await clock.advance(5);
    profiler.submitted();
    return clock.now();
  };
  return { profiler, submit };
}

test('launches stand as early as none begins before it was submitted', async () => {
  const { profiler, submit } = openProfiler();
  const first = await submit(2);
  const second = await submit(3);
  // The second submit waited longest for nothing: its first launch began at once.
  const apart = second - first;
  const block = timestamps(1003, 1004, 1000 + apart, 1007 + apart, undefined);
  const begins = profiler.beginsMs(block, 0);
  expect(begins[2]).toBeCloseTo(second);
  expect(begins[0]).toBeCloseTo(first + 3);
  expect((begins[3] ?? 0) - (begins[2] ?? 0)).toBeCloseTo(7);
  expect(begins[4]).toBeUndefined();
});

test('launches of an earlier profile do not count, and without timestamps nothing is known', async () => {
  const { profiler, submit } = openProfiler();
  const at = await submit(2);
  expect(profiler.beginsMs(timestamps(1, 500), 1)[1]).toBeCloseTo(at);
  expect(profiler.beginsMs(timestamps(undefined, undefined), 0)).toEqual([undefined, undefined]);
  expect(profiler.beginsMs(undefined, 0)).toEqual([undefined, undefined]);
});
