import { expect, test } from 'vitest';
import { oneGpuDevice } from '../../../src/device/testing/conformance-devices.ts';
import { nodeGpu } from '../../../src/testing/node-gpu.ts';
import { randomProgram } from './random-program.ts';
import { runProgram } from './run-program.ts';

const SEEDS = { first: 34, count: 30 };

test('random programs give the same unoptimised and optimised, on the host and on WebGPU', async () => {
  const webgpu = await oneGpuDevice(nodeGpu)();
  let same = 0;
  for (let seed = SEEDS.first; seed < SEEDS.first + SEEDS.count; seed++) {
    const program = randomProgram(seed);
    const outcome = await runProgram(program, [webgpu]);
    expect(['same', 'refused'], `seed ${seed}\n${program.text}`).toContain(outcome);
    if (outcome === 'same') same++;
  }
  expect(same).toBeGreaterThan(9);
  webgpu.destroy();
}, 300_000);
