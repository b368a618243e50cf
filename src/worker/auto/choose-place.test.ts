import { expect, test } from 'vitest';
import { choosePlace } from './choose-place.ts';
import type { ProgramWork } from './program-work.ts';
import { usualRates } from '../../core/contracts/device-rates.ts';
import { estimateOnGpu, estimateOnProcessor } from './decide-device.ts';

const work = (operations: number, count = 1): ProgramWork => ({
  launches: [{ count, operations, bytes: 1000 }],
  onHost: [],
});

const rates = { roundTripMs: 1, launchMs: 0.125, operationsPerMs: 1e6, bytesPerMs: 1e3 };

test('an estimate counts the round trip, and for each launch the larger of computing and memory', () => {
  expect(estimateOnGpu(work(0), rates, rates)).toBe(1 + 0.125 + 1);
  expect(estimateOnGpu(work(4e6, 2), rates, rates)).toBe(1 + 2 * (0.125 + 4));
  expect(estimateOnProcessor(work(4e6, 2), rates)).toBe(1 + 2 * (0.125 + 4));
});

test('what the host computes for WebGPU takes a round trip each time', () => {
  const mixed = { ...work(0), onHost: work(0, 3).launches };
  expect(estimateOnGpu(mixed, rates, { ...rates, launchMs: 0 })).toBe(4 + 1.125 + 3);
  expect(estimateOnProcessor(mixed, rates)).toBe(1 + 4 * 1.125);
});

test('small programs are for the processor, large ones for graphics hardware', () => {
  for (const adapterClass of ['discrete', 'integrated'] as const) {
    const wasm = usualRates('wasm');
    const gpu = usualRates(adapterClass);
    const timesOf = (program: ProgramWork) => ({
      webgpu: estimateOnGpu(program, gpu, wasm),
      wasm: estimateOnProcessor(program, wasm),
    });
    expect(choosePlace('GPU', timesOf(work(1e5, 10)), undefined)).toMatchObject({
      kind: 'wasm',
      isNear: false,
    });
    expect(choosePlace('GPU', timesOf(work(1e8, 50)), undefined)).toMatchObject({
      kind: 'webgpu',
      isNear: false,
    });
  }
});

test('estimates within a factor of two are near; what was measured decides', () => {
  const near = { webgpu: 1, wasm: 1.9 };
  expect(choosePlace('GPU', near, undefined)).toEqual({
    kind: 'webgpu',
    isNear: true,
    reason: 'By an estimate, a run takes 1 ms on GPU and 1.9 ms in WebAssembly.',
  });
  expect(choosePlace('GPU', near, { webgpu: 1.234, wasm: 0.0666 })).toEqual({
    kind: 'wasm',
    isNear: false,
    reason: 'As measured, a run takes 1.2 ms on GPU and 0.067 ms in WebAssembly.',
  });
  expect(choosePlace('GPU', { webgpu: 2, wasm: 1 }, undefined).isNear).toBe(false);
});
