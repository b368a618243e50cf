import { expect, test } from 'vitest';
import type { GpuOperation, Injection } from '../../src/testing/faulty-gpu.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { injectEverywhere, type LifeKind } from './device-faults.ts';

/** A life, the fault, whether another session lives beside it, and one of how many places is taken. */
type TestedFault = readonly [
  life: LifeKind,
  operation: GpuOperation,
  mode: Injection['mode'],
  place: 'alone' | 'beside',
  stride: number,
];

/** A test for each of these. */
export function testFaults(faults: readonly TestedFault[], timeoutMs?: number): void {
  test.each(faults)(
    'a life of %s, %s, %s, %s, one of %i: a typed error, nothing left, and the next call right',
    async (life, operation, mode, place, stride) => {
      const fault = { life, operation, mode, stride, isBeside: place === 'beside' };
      const report = await injectEverywhere(await nodeGpu(), fault);
      expect(report.problems).toEqual([]);
      expect(report.faults).toBeGreaterThan(stride > 1 ? 1 : 0);
      // No fault passes unseen.
      expect(report.failed).toBe(report.faults);
    },
    timeoutMs,
  );
}
