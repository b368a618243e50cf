import { expect, test } from 'vitest';
import { printModule } from '../../src/compiler/ir/print.ts';
import { createHostDevice } from '../../src/device/host/host-device.ts';
import { createWebGpuDevice } from '../../src/device/webgpu/webgpu-device.ts';
import { OPS } from '../../src/ops/registry.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { graphModule } from './graph.ts';
import { randomGraph } from './random-graph.ts';
import { differencesOf, variantsFor } from './run-graph.ts';

const COUNT = 200;
const FIRST_SEED = 1;

test(`${COUNT} random graphs compute the same compiled in any way, on the host and on WebGPU`, async () => {
  const webgpu = await createWebGpuDevice({ gpu: await nodeGpu(), operators: OPS });
  const devices = [createHostDevice(), webgpu];
  for (let seed = FIRST_SEED; seed < FIRST_SEED + COUNT; seed++) {
    const graph = randomGraph({ seed });
    const found = await differencesOf(graph, { devices, variants: variantsFor(seed) });
    const lines = found.map(({ variant, device, text }) => `${variant.title}, ${device}: ${text}`);
    expect(lines, `seed ${seed}\n${printModule(graphModule(graph).module)}`).toEqual([]);
  }
  for (const device of devices) device.destroy();
}, 600_000);
