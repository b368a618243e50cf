import { expect, test } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import { openNodeGpu } from '../../../src/device/testing/node-devices.ts';
import { CORE_OPERATORS } from '../../../src/ops/tables/core-operators.ts';
import { CONSUMERS, type FusedPairOptions, PRODUCERS, runPairs } from './fused-pair.ts';

const COUNT = 60;

test('every operator that moves elements is among the producers', () => {
  const movers = [...CORE_OPERATORS].filter(
    ({ kind, inputs }) => kind === 'injective' && inputs.length > 0,
  );
  expect(Object.keys(PRODUCERS)).toEqual(expect.arrayContaining(movers.map(({ name }) => name)));
});

test(`${COUNT} kernels behind two fused producers compile in time and give what references give`, async () => {
  const random = seededRandom(36);
  const pick = (table: object): string => {
    const names = Object.keys(table);
    return names[Math.floor(random() * names.length)] ?? '';
  };
  const pairs = Array.from(
    { length: COUNT },
    (_, seed): FusedPairOptions => ({
      producers: [pick(PRODUCERS), pick(PRODUCERS)],
      consumer: pick(CONSUMERS),
      seed,
      isSymbolic: seed % 2 === 0,
    }),
  );
  const webgpu = await openNodeGpu();
  const { wrong, missing } = await runPairs(pairs, [webgpu]);
  webgpu.destroy();
  expect(wrong).toEqual([]);
  expect(missing.length).toBeLessThan(COUNT / 8);
});
