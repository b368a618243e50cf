import { expect, test } from 'vitest';
import { openNodeGpu } from '../../../src/device/testing/node-devices.ts';
import { inTier } from '../../../src/testing/tier.ts';
import { CONSUMERS, PRODUCERS, runPairs } from './fused-pair.ts';

test.each(inTier({ quick: ['software'], long: ['software', 'integrated', 'discrete'] } as const))(
  'every fused producer before every kernel on %s adapters',
  async (adapterClass) => {
    const webgpu = await openNodeGpu(adapterClass);
    const consumers = Object.keys(CONSUMERS);
    const pairs = Object.keys(PRODUCERS).flatMap((producer, i) =>
      consumers.flatMap((consumer, j) =>
        inTier({ quick: [(i + j) % 2 === 0], long: [true, false] }).map((isSymbolic) => ({
          producers: [producer],
          consumer,
          seed: i * consumers.length + j,
          isSymbolic,
        })),
      ),
    );
    const { wrong, missing } = await runPairs(pairs, [webgpu]);
    webgpu.destroy();
    expect(wrong).toEqual([]);
    // Some need a number where these have the symbol.
    expect(missing.filter(({ isSymbolic }) => !isSymbolic)).toEqual([]);
    expect(missing.length).toBeLessThan(20);
  },
  900_000,
);
