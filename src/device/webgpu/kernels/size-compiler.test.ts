import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import { nodeGpu } from '../../../testing/node-gpu.ts';
import type { Device, DeviceTensor } from '../../device.ts';
import { createWebGpuDevice } from '../index.ts';
import { floatBuffer, floatTensor, readFloats } from '../testing/test-device.ts';

let device: Device;
// Pipelines that an earlier test compiled would be there already.
beforeEach(async () => {
  device = await createWebGpuDevice({ operators: CORE_OPERATORS, gpu: await nodeGpu() });
});
afterEach(() => device.destroy());

/** `a` (n, m) times `b` (m, n), with a kernel for each kind of sizes. */
const product: PrimitiveFunction = {
  name: 'matmul',
  params: [
    { dtype: 'float32', shape: ['n', 'm'] },
    { dtype: 'float32', shape: ['m', 'n'] },
  ],
  body: [{ op: 'matmul', inputs: [0, 1], attributes: {} }],
  results: [{ value: 2, type: { dtype: 'float32', shape: ['n', 'n'] } }],
};

const boundSymbols = new Set(['m', 'n']);

function sizes(n: number, m: number): ReadonlyMap<string, number> {
  return new Map(Object.entries({ n, m }));
}

/** The product of matrices of ones. */
async function multiply(launch: (args: DeviceTensor[]) => void, ...[n, m]: [number, number]) {
  const ones = floatBuffer(device, new Array<number>(n * m).fill(1));
  const result = device.createBuffer(n * n * 4);
  launch([floatTensor(ones, [n, m]), floatTensor(ones, [m, n]), floatTensor(result, [n, n])]);
  const elements = await readFloats(device, result);
  for (const buffer of [ones, result]) buffer.destroy();
  expect(elements).toEqual(new Array<number>(n * n).fill(m));
}

test('what a call needs compiles before it, whatever its sizes', async () => {
  const kernels = await device.prepare([product], { boundSymbols, compile: 'on demand' });
  const kernel = kernels.get('matmul');
  for (const [n, m] of [
    [1, 1],
    [3, 5],
    [17, 63],
    [64, 64],
    [65, 4],
  ] as const) {
    const [first, second] = [
      kernels.compileForSizes?.(sizes(n, m)),
      kernels.compileForSizes?.(sizes(n, m)),
    ];
    expect(first).toBeInstanceOf(Promise);
    // Who comes second waits for the same pipelines.
    expect(second).toBe(first);
    await first;
    expect(kernels.compileForSizes?.(sizes(n, m))).toBeUndefined();
    const before = device.counters().pipelinesCreated;
    await multiply((args) => kernel?.launch(args), n, m);
    expect(device.counters().pipelinesCreated).toBe(before);
  }
  kernels.dispose();
});

test('loading leaves to the call what depends on sizes that it will tell', async () => {
  const before = device.counters().pipelinesCreated;
  const fused = {
    ...product,
    body: [...product.body, { op: 'tanh', inputs: [2], attributes: {} }],
  };
  const squashed = {
    ...fused,
    results: product.results.map((result) => ({ ...result, value: 3 })),
  };
  const told = await device.prepare([squashed], { boundSymbols, compile: 'on demand' });
  expect(device.counters().pipelinesCreated).toBe(before);
  told.dispose();
  const untold = await device.prepare([squashed], {
    boundSymbols: new Set(['m']),
    compile: 'on demand',
  });
  expect(device.counters().pipelinesCreated).toBeGreaterThan(before);
  expect(untold.compileForSizes?.(sizes(2, 2))).toBeUndefined();
  untold.dispose();
});

test('a program that is disposed of while its pipelines compile holds none of them', async () => {
  const kernels = await device.prepare([product], { boundSymbols, compile: 'on demand' });
  const pending = kernels.compileForSizes?.(sizes(40, 41));
  kernels.dispose();
  await pending;
  expect(kernels.get('matmul')).toBeUndefined();
});

test('between calls the pipelines of other sizes compile', async () => {
  const kernels = await device.prepare([product], { boundSymbols, compile: 'on demand' });
  await kernels.compileForSizes?.(sizes(1, 1));
  const before = device.counters().pipelinesCreated;
  await expect.poll(() => device.counters().pipelinesCreated).toBeGreaterThan(before);
  kernels.dispose();
});
