import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Device } from '../../src/device/device.ts';
import { compareOperator } from '../../src/device/testing/compare-operator.ts';
import { KERNEL_OPS } from '../../src/ops/tables/kernel-ops.ts';
import { withCases } from '../../src/ops/testing/tested-ops.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { createDevice as fromSources } from '../../src/worker/create-service.ts';
import { createDevice } from '../../src/worker/index.ts';

/** All cases run on the sources; of what is built from them every fifth is enough. */
const STEP = 5;

test('devices are those of the built package', () => {
  expect(createDevice).not.toBe(fromSources);
});

describe.each(['host', 'webgpu'] as const)('operators of the built package on %s', (kind) => {
  let device: Device;
  beforeAll(async () => {
    device = await createDevice(kind, kind === 'webgpu' ? await nodeGpu() : undefined);
  });
  afterAll(() => device.destroy());

  test.each([...KERNEL_OPS])('%s gives what its reference gives', async (_, op) => {
    const { differences } = await compareOperator(device, withCases(op), { step: STEP });
    expect(differences).toEqual([]);
  });
});
