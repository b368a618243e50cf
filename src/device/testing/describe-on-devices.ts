import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestedOp } from '../../ops/testing/tested-ops.ts';
import { KERNEL_DEVICES } from './node-devices.ts';
import type { Device } from '../device.ts';
import { compareOperator } from './compare-operator.ts';

const DEVICES = KERNEL_DEVICES;

/** Compares every device with the references of some operators, over all their cases. */
export function describeOnDevices(ops: readonly TestedOp[]): void {
  describe.each(DEVICES.map(({ title, open }) => [title, open] as const))(
    'operators on %s',
    (_, open) => {
      let device: Device;
      beforeAll(async () => {
        device = await open();
      });
      afterAll(() => device.destroy());

      test.each(ops.map((op) => [op.name, op] as const))(
        '%s gives what its reference gives',
        async (_, op) => {
          expect((await compareOperator(device, op)).differences).toEqual([]);
        },
      );
    },
  );
}
