import { expect, test } from 'vitest';
import { CORE_OPERATORS } from '../ops/tables/core-operators.ts';
import { nodeGpu } from '../testing/node-gpu.ts';
import type { Device } from './device.ts';
import { measureRates } from './measure-rates.ts';
import { createWasmDevice } from './wasm/wasm-device.ts';
import { createWebGpuDevice } from './webgpu/webgpu-device.ts';

const DEVICES: Readonly<Record<string, () => Promise<Device>>> = {
  wasm: async () => createWasmDevice(),
  webgpu: async () => createWebGpuDevice({ gpu: await nodeGpu(), operators: CORE_OPERATORS }),
};

test.each(Object.keys(DEVICES))('%s is measured in turns and left as it was', async (kind) => {
  const device = await DEVICES[kind]?.();
  if (device === undefined) throw new Error('no device');
  const before = device.counters().buffersLive;
  let turns = 0;
  const rates = await measureRates(device, (work) => {
    turns++;
    return work();
  });
  expect(turns).toBe(4);
  for (const rate of Object.values(rates)) {
    expect(rate).toBeGreaterThan(0);
    expect(rate).toBeLessThan(1e12);
  }
  // Whatever the machine: 0.1 to 10,000 GFLOPS, 0.1 to 10,000 GB/s.
  expect(rates.operationsPerMs).toBeGreaterThan(1e5);
  expect(rates.bytesPerMs).toBeGreaterThan(1e5);
  const after = device.counters();
  expect(after.buffersLive).toBeLessThanOrEqual(before + 8);
  device.destroy();
});
