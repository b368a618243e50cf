import { expect, test } from 'vitest';
import { printModule } from '../../../src/compiler/ir/text/print.ts';
import { openNodeGpu } from '../../../src/device/testing/node-devices.ts';
import { createHostDevice } from '../../../src/device/host/host-device.ts';
import { inTier } from '../../../src/testing/tier.ts';
import { graphModule } from './graph.ts';
import { variantsFor } from './run-graph.ts';
import { runSeeds } from './run-seeds.ts';

const SEEDS = { first: 1, count: inTier({ quick: 10, long: 200 }) };

test('random graphs compute the same compiled in any way, on the host and on WebGPU', async () => {
  const webgpu = await openNodeGpu();
  const devices = [createHostDevice(), webgpu];
  let count = 0;
  for await (const found of runSeeds({ ...SEEDS, devices, variants: variantsFor })) {
    const { seed, graph, differences } = found;
    const lines = differences.map(
      ({ variant, device, text }) => `${variant.title}, ${device}: ${text}`,
    );
    expect(lines, `seed ${seed}\n${printModule(graphModule(graph).module)}`).toEqual([]);
    count++;
  }
  expect(count).toBe(SEEDS.count);
  for (const device of devices) device.destroy();
}, 600_000);
