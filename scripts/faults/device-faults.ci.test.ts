import { expect, test } from 'vitest';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import type { GpuOperation, Injection } from '../../src/testing/faulty-gpu.ts';
import { injectEverywhere, type LifeKind } from './device-faults.ts';

const CASES: readonly (readonly [LifeKind, GpuOperation, Injection['mode'], number])[] = [
  ['text', 'createBuffer', 'refuse', 12],
  ['training', 'createBuffer', 'refuse', 10],
  ['training', 'submit', 'lose', 7],
  ['training', 'mapAsync', 'lose', 6],
];

// In all places: device-faults.long.test.ts
test.each(CASES)(
  'a life of %s, %s, %s, one of %i: a typed error, nothing left, and the next call right',
  async (life, operation, mode, stride) => {
    const fault = { life, operation, mode, stride, isBeside: mode === 'refuse' };
    const { faults, failed, problems } = await injectEverywhere(await nodeGpu(), fault);
    expect(problems).toEqual([]);
    expect(faults).toBeGreaterThan(1);
    expect(failed).toBe(faults);
  },
);
