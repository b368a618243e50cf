import { expect, test } from 'vitest';
import { runBrowserCycles } from './browser-cycles.ts';
import { growthOf, MAX_GROWTH_BYTES } from './growth.ts';
import type { MemorySample } from './memory-sample.ts';
import { type Cycles, runCycles } from './run-cycles.ts';

/** The first cycles fill caches and compile functions. */
const WARM_UP_CYCLES = 20;

const CASES: readonly Cycles[] = [
  { device: 'host', count: 60 },
  { device: 'webgpu', count: 60 },
  { device: 'webgpu', count: 60, isDeviceKept: true },
];

test.each(CASES)(
  '900 loads of 6 MB more would add less than 10 MB: $device, device kept: $isDeviceKept',
  async (cycles) => {
    check(await runCycles(cycles));
  },
  300_000,
);

test("the same in Chromium's worker", async () => {
  check(await runBrowserCycles('webgpu', 60));
}, 300_000);

function check(samples: readonly MemorySample[]): void {
  const warm = samples.filter(({ cycle }) => cycle > WARM_UP_CYCLES);
  expect(warm.length).toBeGreaterThan(10);
  expect(growthOf(warm, ({ scriptBytes }) => scriptBytes)).toBeLessThan(MAX_GROWTH_BYTES);
  expect(new Set(samples.map(({ deviceBytes }) => deviceBytes)).size).toBe(1);
}
