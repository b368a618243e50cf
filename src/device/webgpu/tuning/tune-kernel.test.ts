import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import { nodeGpu } from '../../../testing/node-gpu.ts';
import type { Device } from '../../device.ts';
import { createWebGpuDevice } from '../index.ts';
import { floatBuffer, floatTensor, readFloats } from '../testing/test-device.ts';

let device: Device;
beforeAll(async () => {
  device = await createWebGpuDevice({ operators: CORE_OPERATORS, gpu: await nodeGpu() });
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

test('sums of thousands of products agree, and what variants take is given back', async () => {
  const types = [
    [1, 256, 12, 12],
    [16, 256, 3, 3],
    [1, 16, 12, 12],
  ].map((shape) => ({ dtype: 'float32', shape }) as const);
  const [x, w, y] = types;
  if (x === undefined || w === undefined || y === undefined) throw new Error('three types');
  const attributes = { strides: [1, 1], pads: [1, 1, 1, 1], dilations: [1, 1], groups: 1 };
  const convolution: PrimitiveFunction = {
    name: 'convolution',
    params: [x, w],
    body: [{ op: 'conv2d', inputs: [0, 1], attributes }],
    results: [{ value: 2, type: y }],
  };
  const kernels = await device.prepare([convolution]);
  const before = device.counters();
  const tried = (await kernels.tune?.(0))?.kernels[0]?.tried ?? [];
  expect(tried.length).toBeGreaterThan(4);
  const refusals = tried.flatMap(({ refusal }) => refusal ?? []);
  expect(refusals.filter((text) => !text.includes('bytes of scratch'))).toEqual([]);
  const { bytesLive, scratchBytes } = before;
  expect(device.counters()).toMatchObject({ bytesLive, scratchBytes });
  kernels.dispose();
});

describe('in the background', () => {
  const isBackground = true;

  test('a kernel is recorded as begun before anything is tried, and left alone once it is done', async () => {
    const kernels = await device.prepare([product('unlike', 19)]);
    const known = device.tuning?.choices().length ?? 0;
    const seen: unknown[] = [];
    const remember = async () => {
      seen.push(device.tuning?.choices().slice(known));
    };
    const tune = () => kernels.tune?.(0, { isBackground, remember });
    const first = await tune();
    expect(first?.kernels).toHaveLength(1);
    const plan = expect.any(String) as string;
    expect(seen).toEqual([[{ plan, choices: {}, attempts: 1 }]]);
    expect(device.tuning?.choices().slice(known)).toMatchObject([
      { plan, choices: first?.kernels[0]?.choices },
    ]);
    expect(device.tuning?.choices().at(-1)).not.toHaveProperty('attempts');
    expect((await tune())?.kernels).toEqual([]);
    expect(seen).toHaveLength(1);
    expect((await kernels.tune?.(0))?.kernels).toHaveLength(1);
    kernels.dispose();
  });

  test('what ended early three times is not begun again, unless it was told to end', async () => {
    const kernels = await device.prepare([product('other', 23)]);
    const abort = new AbortController();
    const remember = async () => abort.abort();
    const aborted = kernels.tune?.(0, { isBackground, remember, signal: abort.signal });
    await expect(aborted).rejects.toThrow('aborted');
    const entry = device.tuning?.choices().at(-1);
    if (entry === undefined) throw new Error('nothing is recorded');
    expect(entry).toMatchObject({ choices: {}, attempts: 0 });
    for (const [attempts, count] of [
      [3, 0],
      [2, 1],
    ] as const) {
      await device.tuning?.use([{ ...entry, attempts }]);
      expect((await kernels.tune?.(0, { isBackground }))?.kernels).toHaveLength(count);
    }
    kernels.dispose();
  });
});

test('what is no option is refused', async () => {
  const kernels = await device.prepare([product('fixed', 17)]);
  const tune = (options: object) => kernels.tune?.(0, options);
  await expect(tune({ background: true })).rejects.toThrow(
    'tune: got an unknown option "background", expected only signal, turns, isBackground,',
  );
  await expect(tune({ turns: {} })).rejects.toThrow('expected turns: idle() and take()');
  kernels.dispose();
});

test('an abort ends tuning', async () => {
  const kernels = await device.prepare([product('fixed', 17)]);
  const abort = new AbortController();
  abort.abort();
  await expect(kernels.tune?.(0, { signal: abort.signal })).rejects.toThrow('aborted');
  kernels.dispose();
});
