import { expect, test } from 'vitest';
import type { GpuOperation, Injection } from '../../src/testing/faulty-gpu.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { injectEverywhere } from './device-faults.ts';

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

test.each(CASES)(
  '%s, %s, %s: wherever it fails, a typed error, nothing left, and the next call right',
  async (operation, mode, place) => {
    const isBeside = place === 'beside';
    const fault = { operation, mode, isBranching: false, isBeside };
    const { faults, failed, problems } = await injectEverywhere(await nodeGpu(), fault);
    expect(problems).toEqual([]);
    expect(faults).toBeGreaterThan(0);
    // No fault passes unseen.
    expect(failed).toBe(faults);
  },
  300_000,
);
