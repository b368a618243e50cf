import { expect, test } from 'vitest';
import type { GpuOperation, Injection } from '../../src/testing/faulty-gpu.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { injectEverywhere, type LifeKind } from './device-faults.ts';

const CASES: readonly (readonly [GpuOperation, Injection['mode'], 'alone' | 'beside'])[] = [
  ['requestAdapter', 'refuse', 'alone'],
  ['requestDevice', 'refuse', 'alone'],
  ['createBuffer', 'refuse', 'alone'],
  ['createBuffer', 'refuse', 'beside'],
  ['createBuffer', 'lose', 'beside'],
  ['writeBuffer', 'refuse', 'alone'],
  ['writeBuffer', 'refuse', 'beside'],
  ['createShaderModule', 'refuse', 'alone'],
  ['createBindGroupLayout', 'refuse', 'alone'],
  ['createPipelineLayout', 'refuse', 'alone'],
  ['createComputePipelineAsync', 'refuse', 'alone'],
  ['createBindGroup', 'refuse', 'beside'],
  ['submit', 'refuse', 'beside'],
  ['submit', 'lose', 'beside'],
  ['mapAsync', 'refuse', 'beside'],
  ['getMappedRange', 'refuse', 'beside'],
  ['onSubmittedWorkDone', 'refuse', 'beside'],
];

/** Lives that take longer, in one of so many places. */
const LONG_CASES: readonly (readonly [LifeKind, GpuOperation, Injection['mode'], number])[] = [
  ['text', 'createBuffer', 'refuse', 1],
  ['text', 'createBuffer', 'lose', 11],
  ['text', 'writeBuffer', 'refuse', 17],
  ['text', 'createComputePipelineAsync', 'refuse', 13],
  ['text', 'createBindGroup', 'refuse', 29],
  ['text', 'submit', 'refuse', 7],
  ['text', 'submit', 'lose', 31],
  ['text', 'mapAsync', 'refuse', 1],
  ['text', 'mapAsync', 'lose', 2],
  ['text', 'getMappedRange', 'refuse', 1],
  ['text', 'onSubmittedWorkDone', 'refuse', 17],
  ['training', 'createBuffer', 'refuse', 1],
  ['training', 'createBuffer', 'lose', 3],
  ['training', 'writeBuffer', 'refuse', 1],
  ['training', 'createBindGroup', 'refuse', 1],
  ['training', 'submit', 'refuse', 1],
  ['training', 'submit', 'lose', 1],
  ['training', 'mapAsync', 'refuse', 1],
  ['training', 'mapAsync', 'lose', 1],
  ['training', 'getMappedRange', 'refuse', 1],
];

test.each(LONG_CASES)(
  'a life of %s, %s, %s, one of %i: a typed error, nothing left, and the next call right',
  async (life, operation, mode, stride) => {
    const fault = { life, operation, mode, stride, isBeside: true };
    const { faults, failed, problems } = await injectEverywhere(await nodeGpu(), fault);
    expect(problems).toEqual([]);
    expect(faults).toBeGreaterThan(0);
    expect(failed).toBe(faults);
  },
  1_200_000,
);

test.each(CASES)(
  '%s, %s, %s: wherever it fails, a typed error, nothing left, and the next call right',
  async (operation, mode, place) => {
    const isBeside = place === 'beside';
    const fault = { operation, mode, life: 'session', isBeside } as const;
    const { faults, failed, problems } = await injectEverywhere(await nodeGpu(), fault);
    expect(problems).toEqual([]);
    expect(faults).toBeGreaterThan(0);
    // No fault passes unseen.
    expect(failed).toBe(faults);
  },
  300_000,
);
