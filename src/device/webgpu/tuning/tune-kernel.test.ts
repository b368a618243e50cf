import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PrimitiveFunction } from '../../../core/primitive-function.ts';
import { OPS } from '../../../ops/registry.ts';
import { nodeGpu } from '../../../testing/node-gpu.ts';
import type { Device } from '../../device.ts';
import { createWebGpuDevice } from '../index.ts';
import { floatBuffer, floatTensor, readFloats } from '../test-device.ts';

let device: Device;
beforeAll(async () => {
  device = await createWebGpuDevice({ operators: OPS, gpu: await nodeGpu() });
});
afterAll(() => device.destroy());

function product(name: string, rows: number | string): PrimitiveFunction {
  return {
    name,
    params: [
      { dtype: 'float32', shape: [rows, 64] },
      { dtype: 'float32', shape: [64, 64] },
    ],
    body: [{ op: 'matmul', inputs: [0, 1], attributes: {} }],
    results: [{ value: 2, type: { dtype: 'float32', shape: [rows, 64] } }],
  };
}

test('kernels are tuned for the sizes of their calls, and compute the same as before', async () => {
  const negation: PrimitiveFunction = {
    name: 'negation',
    params: [{ dtype: 'float32', shape: [4] }],
    body: [{ op: 'neg', inputs: [0], attributes: {} }],
    results: [{ value: 1, type: { dtype: 'float32', shape: [4] } }],
  };
  const primitives = [product('fixed', 17), product('symbolic', 'n'), negation];
  const kernels = await device.prepare(primitives);
  const multiply = async (name: string, rows: number): Promise<void> => {
    const a = floatBuffer(device, new Array<number>(rows * 64).fill(1));
    const b = floatBuffer(device, new Array<number>(64 * 64).fill(0.5));
    const c = device.createBuffer(rows * 64 * 4);
    kernels
      .get(name)
      ?.launch([floatTensor(a, [rows, 64]), floatTensor(b, [64, 64]), floatTensor(c, [rows, 64])]);
    expect(await readFloats(device, c)).toEqual(new Array<number>(rows * 64).fill(32));
    for (const buffer of [a, b, c]) buffer.destroy();
  };
  await multiply('symbolic', 3);
  await multiply('symbolic', 33);
  const { buffersLive, bytesLive } = device.counters();
  const steps = [];
  for (let index = 0; index < primitives.length; index++) steps.push(await kernels.tune?.(index));
  // Neither the arguments that variants were tried on stay, nor their scratch.
  expect(device.counters()).toMatchObject({ buffersLive, bytesLive });
  expect(steps.map((step) => step?.count)).toEqual([3, 3, 3]);
  expect(steps.map((step) => step?.kernels.map(({ kernel }) => kernel))).toEqual([
    ['fixed([17, 64], [64, 64])'],
    ['symbolic([33, 64], [64, 64])', 'symbolic([3, 64], [64, 64])'],
    [],
  ]);
  for (const { tried, firstMs, chosenMs } of steps.flatMap((step) => step?.kernels ?? [])) {
    expect(tried.length).toBeGreaterThan(1);
    expect(tried.map(({ refusal }) => refusal).filter(Boolean)).toEqual([]);
    expect(chosenMs).toBeLessThanOrEqual(firstMs);
  }
  const { pipelinesCreated } = device.counters();
  await multiply('fixed', 17);
  await multiply('symbolic', 3);
  await multiply('symbolic', 33);
  expect(device.counters().pipelinesCreated).toBe(pipelinesCreated);
  kernels.dispose();
});

test('an abort ends tuning', async () => {
  const kernels = await device.prepare([product('fixed', 17)]);
  const abort = new AbortController();
  abort.abort();
  await expect(kernels.tune?.(0, { signal: abort.signal })).rejects.toThrow('aborted');
  kernels.dispose();
});
