import { expect, test } from 'vitest';
import type { DeviceRates } from '../../core/contracts/device-rates.ts';
import { launchedKernel, timelineEvent, timelineRun } from '../testing/timeline-run.ts';
import { formatRate, runAdvice } from './run-advice.ts';

const RATES: DeviceRates = {
  roundTripMs: 0.4,
  launchMs: 0.02,
  operationsPerMs: 1e9,
  bytesPerMs: 1e8,
};
const GPU = { rates: RATES, device: 'webgpu' } as const;

const reasons = (...args: Parameters<typeof runAdvice>) =>
  runAdvice(...args).map(({ kind, reason }) => `${kind}: ${reason}`);

test('a kernel that computes as fast as the device can is compute-bound', () => {
  const run = timelineRun(10, launchedKernel('matmul', [1, 8], { operations: 7.2e9, bytes: 1e7 }));
  expect(reasons(run, GPU)).toEqual([
    'compute-bound: matmul takes 8.0 ms of 10.0 ms (80%) in 1 call: 900 GFLOP/s of the 1.0 TFLOP/s that this device was measured at.',
  ]);
});

test('one that moves bytes as fast is bandwidth-bound', () => {
  const run = timelineRun(10, launchedKernel('add', [1, 8], { operations: 1e6, bytes: 6e8 }));
  expect(reasons(run, GPU)).toEqual([
    'bandwidth-bound: add takes 8.0 ms of 10.0 ms (80%) in 1 call: 75 GB/s of the 100 GB/s that this device was measured at.',
  ]);
});

test('one that does neither is slow, and says how much is possible', () => {
  const run = timelineRun(10, launchedKernel('conv', [1, 8], { operations: 8e8, bytes: 8e6 }));
  expect(reasons(run, GPU)).toEqual([
    'slow kernel: conv takes 8.0 ms of 10.0 ms (80%) in 1 call: 100 GFLOP/s of the 1.0 TFLOP/s and 1.0 GB/s of the 100 GB/s that this device was measured at, 10% of what is possible.',
  ]);
});

test('many launches of next to nothing are launch-bound', () => {
  const instructions = Array.from({ length: 100 }, (_, i) =>
    timelineEvent('instruction', 'relu', [i * 0.1, 0.08], { isKernelCall: true }),
  );
  const run = timelineRun(10, [...instructions, timelineEvent('kernel', 'relu', [9.98, 0.02])]);
  expect(reasons(run, GPU)).toEqual([
    'launch-bound: Instructions and launches of 100 kernels take 8.0 ms of 10.0 ms (80%), 0.080 ms for each; kernels run for 0.020 ms.',
  ]);
  expect(runAdvice(run, GPU)[0]?.remedy).toContain('wasm');
  expect(runAdvice(run, { ...GPU, device: 'wasm' })[0]?.remedy).not.toContain('wasm');
});

test('waiting counts while no kernel runs', () => {
  const readback = timelineEvent('readback', 'gpu', [2, 8], { bytes: 4000 });
  const kernel = launchedKernel('matmul', [3, 2]);
  expect(reasons(timelineRun(10, [readback, ...kernel]), GPU)).toEqual([
    'waiting for readback: 1 readback of 3.9 KB in all wait for 6.0 ms of 10.0 ms (60%) while no kernel runs. A round trip takes 0.400 ms on this device.',
    'slow kernel: matmul takes 2.0 ms of 10.0 ms (20%) in 1 call.',
  ]);
});

test('compiling and uploading are told of, the longest first, and nothing of what takes little', () => {
  const run = timelineRun(10, [
    timelineEvent('compile', 'a', [0, 5]),
    timelineEvent('compile', 'b', [1, 5]),
    timelineEvent('upload', 'gpu', [6, 2], { bytes: 2 ** 20 }),
    timelineEvent('readback', 'gpu', [9, 1], { bytes: 4 }),
  ]);
  expect(reasons(run, GPU)).toEqual([
    'compiling: Compiling 2 pipelines takes 6.0 ms of 10.0 ms (60%).',
    'uploads: Uploading 1.0 MB takes 2.0 ms of 10.0 ms (20%).',
  ]);
});

test('an adapter without timestamps is told of first', () => {
  const run = timelineRun(10, [], { untimedKernels: 3 });
  expect(reasons(run, GPU)).toEqual([
    'no times: The adapter has no timestamps, so the times of 3 kernels are not known.',
  ]);
});

test('rates have the prefix that they need', () => {
  expect([12, 1e3, 2.5e6, 1.2e9].map((perMs) => formatRate(perMs, 'B'))).toEqual([
    '12 KB/s',
    '1.0 MB/s',
    '2.5 GB/s',
    '1.2 TB/s',
  ]);
});
