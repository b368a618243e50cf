import { expect, test } from 'vitest';
import { launchedKernel, timelineRun } from '../testing/timeline-run.ts';
import { kernelLoads } from './kernel-loads.ts';

const RATES = { roundTripMs: 0.4, launchMs: 0.02, operationsPerMs: 1e9, bytesPerMs: 1e8 };

test('calls of a kernel are added up, the longest kernel first, with its share of the device', () => {
  const run = timelineRun(20, [
    ...launchedKernel('add', [0, 1], { operations: 1e6, bytes: 6e7 }),
    ...launchedKernel('matmul', [2, 4], { operations: 3e9, bytes: 1e7 }),
    ...launchedKernel('add', [7, 1], { operations: 1e6, bytes: 8e7 }),
    ...launchedKernel('relu', [9, 0.5], { operations: 100, bytes: 100 }),
    ...launchedKernel('wgsl', [10, 0.25]),
  ]);
  expect(kernelLoads(run, RATES)).toEqual([
    {
      kernel: 'matmul',
      calls: 1,
      totalMs: 4,
      operations: 3e9,
      bytes: 1e7,
      share: 0.75,
      bound: 'computing',
    },
    {
      kernel: 'add',
      calls: 2,
      totalMs: 2,
      operations: 2e6,
      bytes: 1.4e8,
      share: 0.7,
      bound: 'memory',
    },
    expect.objectContaining({ kernel: 'relu', bound: 'launches' }),
    expect.objectContaining({
      kernel: 'wgsl',
      operations: undefined,
      share: undefined,
      bound: undefined,
    }),
  ]);
});

test('without times or rates there is no share', () => {
  const events = launchedKernel('matmul', [2, 4], { operations: 3e9, bytes: 1e7 });
  const calls = events.filter(({ kind }) => kind === 'instruction');
  const untimed = timelineRun(20, calls, { untimedKernels: 1 });
  expect(kernelLoads(untimed, RATES)).toEqual([
    expect.objectContaining({ kernel: 'matmul', calls: 1, totalMs: undefined, share: undefined }),
  ]);
  expect(kernelLoads(timelineRun(20, events), undefined)).toEqual([
    expect.objectContaining({ totalMs: 4, operations: 3e9, share: undefined, bound: undefined }),
  ]);
});
