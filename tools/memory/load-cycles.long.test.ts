import { expect, test } from 'vitest';
import { runBrowserCycles } from './browser-cycles.ts';
import { growthOf, MAX_GROWTH_BYTES } from './growth.ts';
import type { MemorySample } from './memory-sample.ts';
import { type Cycles, runCycles } from './run-cycles.ts';

/** The first cycles fill caches and compile functions. */
const WARM_UP_CYCLES = 20;

const CASES: readonly Cycles[] = [
  { device: 'host', count: 60, kind: 'loads' },
  { device: 'webgpu', count: 60, kind: 'loads' },
  { device: 'webgpu', count: 60, kind: 'loads beside another' },
];

test.each(['host', 'wasm', 'webgpu'] as const)(
  '10,000 runs with changing sizes add nothing on %s',
  async (device) => {
    const samples = await runCycles({ device, count: 10_000, kind: 'sizes' });
    const warm = samples.slice(samples.length / 4);
    const bytes = growthOf(warm, ({ scriptBytes }) => scriptBytes);
    // 900 runs are less than a tenth of them.
    expect(bytes).toBeLessThan(MAX_GROWTH_BYTES / 10);
    expect(new Set(warm.map(({ deviceBytes }) => deviceBytes)).size).toBe(1);
  },
  600_000,
);

test.each(CASES)(
  '900 loads of 6 MB more would add less than 10 MB: $device, $kind',
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
