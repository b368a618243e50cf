import { expect, test } from 'vitest';
import { openNodeGpu } from '../../../src/device/testing/node-devices.ts';
import { inTier } from '../../../src/testing/tier.ts';
import { randomProgram } from './random-program.ts';
import { runProgram } from './run-program.ts';

const SEEDS = { first: 34, count: inTier({ quick: 9, long: 30 }) };

test('random programs give the same unoptimised and optimised, on the host and on WebGPU', async () => {
  const webgpu = await openNodeGpu();
  let same = 0;
  for (let seed = SEEDS.first; seed < SEEDS.first + SEEDS.count; seed++) {
    const program = randomProgram(seed);
    const outcome = await runProgram(program, [webgpu]);
    expect(['same', 'refused'], `seed ${seed}\n${program.text}`).toContain(outcome);
    if (outcome === 'same') same++;
  }
  expect(same).toBeGreaterThan(SEEDS.count / 4);
  webgpu.destroy();
}, 300_000);
