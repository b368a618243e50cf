import { expect, test } from 'vitest';
import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import { type AttentionSizes, chooseAttentionTile } from './attention-variant.ts';
import { plannerCaps } from '../../testing/planner-caps.ts';

const CAPS = plannerCaps('software', {
  subgroups: true,
  subgroupMinSize: 32,
  maxStorageBuffersPerShaderStage: 10,
  maxComputeWorkgroupStorageSize: 32_768,
  maxStorageBufferBindingSize: 2 ** 30,
});

function summary(
  adapterClass: PlannerCaps['adapterClass'],
  [batch, rows, keys, size]: readonly [number, number, number, number],
  caps: Partial<PlannerCaps> = {},
): string {
  const sizes: AttentionSizes = { batch, rows, keys, size, valueSize: size };
  const tile = chooseAttentionTile(sizes, { ...CAPS, adapterClass, ...caps });
  return tile === undefined ? 'products' : `${tile.lanes.join('x')}, ${tile.parts} parts`;
}

test.each([
  [[12, 512, 512, 64], '8x8, 1 parts', '8x8, 2 parts'],
  [[12, 4096, 4096, 64], '8x8, 1 parts', '8x8, 1 parts'],
  [[12, 512, 512, 128], '8x4, 1 parts', '8x4, 1 parts'],
  [[12, 1, 4096, 64], '32x1, 3 parts', '32x1, 22 parts'],
  [[2, 8, 100_000, 128], '32x2, 16 parts', '32x2, 64 parts'],
  [[1, 6, 127, 64], '32x2, 1 parts', '32x2, 1 parts'],
  [[12, 512, 512, 512], 'products', 'products'],
] as const)('%j', (sizes, integrated, discrete) => {
  expect(summary('software', sizes)).toBe('products');
  expect(summary('integrated', sizes)).toBe(integrated);
  expect(summary('discrete', sizes)).toBe(discrete);
});

test('tiles are smaller where workgroup memory is', () => {
  const caps = { maxComputeWorkgroupStorageSize: 16_384 };
  expect(summary('discrete', [12, 512, 512, 64], caps)).toBe('8x4, 1 parts');
  expect(summary('discrete', [12, 512, 512, 128], caps)).toBe('products');
});
