import { expect, test } from 'vitest';
import { chooseRows, lanesOfRow, rowAccess } from './row-access.ts';
import { plannerCaps } from '../../testing/planner-caps.ts';

const CAPS = plannerCaps('software');

test.each([
  ['software', 4096, 1],
  ['integrated', 63, 1],
  ['integrated', 64, 32],
  ['integrated', 256, 64],
  ['discrete', 1023, 64],
  ['discrete', 1024, 256],
] as const)('%s adapters give a row of %d %d invocations', (adapterClass, size, lanes) => {
  expect(lanesOfRow(size, { ...CAPS, adapterClass })).toBe(lanes);
});

test.each([
  [{ count: 1, size: 120_000, inner: 1 }, 1],
  [{ count: 1, size: 120_001, inner: 1 }, 256],
  [{ count: 1, size: 480_000, inner: 1 }, 1],
  [{ count: 1, size: 480_016, inner: 1 }, 256],
  [{ count: 3, size: 480_000, inner: 2 }, 256],
] as const)('rows that are too long for one invocation are shared: %j', (rows, lanes) => {
  expect(chooseRows(rows, CAPS).lanes).toBe(lanes);
});

test('no more than the adapter has', () => {
  const caps = {
    ...CAPS,
    adapterClass: 'discrete',
    maxComputeInvocationsPerWorkgroup: 128,
  } as const;
  expect(lanesOfRow(5000, caps)).toBe(128);
});

test.each([
  ['software', { count: 5, size: 8, inner: 1 }, 4, 2, 4],
  ['software', { count: 128, size: 8, inner: 1 }, 16, 8, 4],
  ['software', { count: 5000, size: 7, inner: 1 }, 64, 79, 1],
  ['software', { count: 128, size: 8, inner: 3 }, 16, 8, 1],
  ['discrete', { count: 5, size: 8, inner: 1 }, 64, 1, 4],
] as const)('%s adapters read %j', (adapterClass, rows, groupSize, groups, width) => {
  const { workgroupSize, workgroups, reads } = rowAccess(rows, { ...CAPS, adapterClass });
  expect([workgroupSize[0], workgroups[0], reads[0]?.width]).toEqual([groupSize, groups, width]);
});
