import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenedAdapter, openAdapter } from '../../src/device/webgpu/adapter.ts';
import type { Device } from '../../src/device/device.ts';
import { createDevice } from '../../src/worker/index.ts';
import { KERNEL_OPS } from '../../src/ops/tables/kernel-ops.ts';
import { withNodeGpu } from '../../src/worker/devices/node-gpu.ts';
import { checkOperator, kernelCases, operatorChecks, timeKernelCase } from './kernels.ts';

let device: Device;
let opened: OpenedAdapter;

beforeAll(async () => {
  device = await createDevice('webgpu');
  opened = await withNodeGpu((gpu) => openAdapter({ gpu }));
});

afterAll(() => {
  device.destroy();
  opened.device.destroy();
});

test('every operator with kernels is checked, once', () => {
  const names = operatorChecks().map(({ operator }) => operator);
  expect(names.toSorted()).toEqual([...KERNEL_OPS.keys()].toSorted());
});

test('an operator of each class of kernels that has some agrees with the host', async () => {
  const checks = operatorChecks();
  const firsts = new Set(checks.map(({ check }) => check));
  for (const check of firsts) {
    const one = checks.find((each) => each.check === check);
    if (one !== undefined) await checkOperator(device, one, 1);
  }
  expect([...firsts].flatMap(({ differences }) => differences)).toEqual([]);
  expect([...firsts].filter(({ caseCount }) => caseCount > 0).length).toBeGreaterThan(10);
});

test('an operator that fails is a difference', async () => {
  const check = { family: 'linear', operatorCount: 1, caseCount: 0, differences: [] };
  await checkOperator(device, { check, operator: 'nothing' }, 1);
  expect(check).toMatchObject({ caseCount: 0, differences: [expect.stringMatching(/nothing/)] });
});

test('kernels have a time and a rate, and those without float16 a reason', async () => {
  const names = kernelCases(true, true).map(({ title }) => title);
  expect(names).toHaveLength(12);
  expect(names.at(-1)).toBe('add 4M, float16');
  const ceilings = { gflops: 10, gbps: 1 };
  const sums = kernelCases(false, true).find(({ title }) => title.startsWith('reduce_sum'));
  if (sums === undefined) throw new Error('internal: no such case');
  const time = await timeKernelCase(opened, sums, ceilings);
  expect(time).toMatchObject({ title: 'reduce_sum rows 1024x1024', unit: 'GB/s' });
  expect('ms' in time && time.ms > 0 && time.rate > 0).toBe(true);
  const failing = { ...sums, primitive: { ...sums.primitive, body: [] } };
  expect(await timeKernelCase(opened, failing, ceilings)).toHaveProperty('failure');
});
