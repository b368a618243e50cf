import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PrimitiveFunction } from '../../../core/primitive-function.ts';
import { OutOfMemoryError } from '../../../core/errors.ts';
import { HostTensor } from '../../../core/host-tensor.ts';
import { seededRandom } from '../../../core/random.ts';
import { casesOfAllDTypes } from '../../../ops/testing/dtype-variants.ts';
import type { TestedOp } from '../../../ops/testing/tested-ops.ts';
import type { Device } from '../../device.ts';
import { launchCases } from '../../testing/compare-operator.ts';
import { allocateTensor, downloadTensors, uploadTensor } from '../../testing/device-tensors.ts';
import { OPERATORS_ON_WASM } from '../testing/operators-on-wasm.ts';
import { WatchedThreads } from '../testing/watched-threads.ts';
import { createWasmDevice, type WasmDeviceOptions } from '../wasm-device.ts';
import type { StartThread } from './thread-pool.ts';

const threads = new WatchedThreads();

/** A device with two threads, which share all work. */
async function openShared(options: WasmDeviceOptions = {}): Promise<Device> {
  const startThread = await threads.starter();
  return createWasmDevice({ threads: 2, startThread, sharesAll: true, ...options });
}

/** The bytes of all results of an operator's cases, by title. */
async function bitsOf(device: Device, op: TestedOp): Promise<readonly string[][]> {
  const launched = await launchCases(device, op, casesOfAllDTypes(op));
  const results = await downloadTensors(
    device,
    launched.map(({ output }) => output),
  );
  for (const { tensors } of launched) for (const { buffer } of tensors) buffer.destroy();
  return results.map((result, i) => [launched[i]?.title ?? '', bits(result)]);
}

function bits({ data }: HostTensor): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
}

/** `c = a b` of square matrices. */
function product(size: number): PrimitiveFunction {
  const type = { dtype: 'float32', shape: [size, size] } as const;
  return {
    name: 'product',
    params: [type, type],
    body: [{ op: 'matmul', inputs: [0, 1], attributes: {} }],
    results: [{ value: 2, type }],
  };
}

function matrix(size: number, seed: number): HostTensor {
  const random = seededRandom(seed);
  const values = Array.from({ length: size * size }, () => random() - 0.5);
  return HostTensor.from('float32', [size, size], values);
}

/** The product of two matrices, computed so often. */
async function multiply(device: Device, size: number, times = 1): Promise<string> {
  const kernel = (await device.prepare([product(size)])).get('product');
  const tensors = [matrix(size, 1), matrix(size, 2)].map((one) => uploadTensor(device, one));
  const output = allocateTensor(device, { dtype: 'float32', shape: [size, size] });
  for (let i = 0; i < times; i++) {
    kernel?.launch([...tensors, output]);
    await new Promise((wake) => setTimeout(wake, 1));
  }
  const [result] = await downloadTensors(device, [output]);
  for (const { buffer } of [...tensors, output]) buffer.destroy();
  if (result === undefined) throw new Error('no result');
  return bits(result);
}

describe('two threads', () => {
  let shared: Device;
  let alone: Device;
  beforeAll(async () => {
    shared = await openShared();
    alone = createWasmDevice();
  });
  afterAll(() => {
    shared.destroy();
    alone.destroy();
  });

  test.each(OPERATORS_ON_WASM.map((op, i) => [`${i} ${op.name}`, op] as const))(
    '%s: the bits of one',
    async (_, op) => {
      expect(await bitsOf(shared, op)).toEqual(await bitsOf(alone, op));
    },
  );

  test('did a part of the work', () => {
    expect(shared.info.threads).toBe(2);
    expect(threads.runs).toBeGreaterThan(1000);
  });
});

test('threads find memory that grew since they began', async () => {
  const [shared, alone] = [await openShared(), createWasmDevice()];
  for (const size of [16, 200, 700]) {
    const before = threads.runs;
    expect(await multiply(shared, size)).toBe(await multiply(alone, size));
    expect(threads.runs).toBeGreaterThan(before);
  }
  shared.destroy();
});

test('threads start with the first work that is worth it, and share it once they can', async () => {
  const startThread = await threads.starter();
  const device = createWasmDevice({ threads: 3, startThread });
  const { started, runs } = threads;
  const small = await multiply(device, 16, 3);
  expect(threads.started).toBe(started);
  await expect.poll(() => multiply(device, 200, 3).then(() => threads.runs)).toBeGreaterThan(runs);
  expect(threads.started).toBe(started + 2);
  const alone = createWasmDevice();
  expect(small).toBe(await multiply(alone, 16));
  expect(await multiply(device, 200)).toBe(await multiply(alone, 200));
  device.destroy();
});

test('a device that is destroyed ends its threads', async () => {
  await expect.poll(() => threads.live).toBe(0);
  for (let i = 0; i < 4; i++) {
    const device = await openShared({ threads: 1 + (i % 3) });
    await multiply(device, 16);
    expect(threads.live).toBe(i % 3);
    device.destroy();
    device.destroy();
    await expect.poll(() => threads.live).toBe(0);
  }
});

test('a device that is destroyed while threads start ends them, too', async () => {
  const device = createWasmDevice({ threads: 3, startThread: await threads.starter() });
  await device.prepare([product(200)]);
  expect(threads.live).toBe(2);
  device.destroy();
  await expect.poll(() => threads.live).toBe(0);
});

test.each([
  ['at once', () => undefined],
  [
    'later',
    (_: unknown, onError: () => void) => {
      setTimeout(onError, 5);
      return () => undefined;
    },
  ],
] as const)('where threads cannot start, one does all: %s', async (_, startThread) => {
  const device = createWasmDevice({ threads: 2, startThread, sharesAll: true });
  expect(await multiply(device, 64)).toBe(await multiply(createWasmDevice(), 64));
  expect(device.info.threads).toBe(1);
  device.destroy();
});

test('where one of two threads cannot start, the other ends', async () => {
  const start = await threads.starter();
  const startThread: StartThread = (given, onError) =>
    given.index === 1 ? undefined : start(given, onError);
  const device = createWasmDevice({ threads: 3, startThread, sharesAll: true });
  expect(await multiply(device, 64)).toBe(await multiply(createWasmDevice(), 64));
  expect(device.info.threads).toBe(1);
  await expect.poll(() => threads.live).toBe(0);
});

test('beyond the byte budget there is a typed error, and what is loaded still works', async () => {
  const device = await openShared({ byteBudget: 2 ** 20 });
  const expected = await multiply(createWasmDevice(), 64);
  expect(await multiply(device, 64)).toBe(expected);
  expect(() => device.createBuffer(2 ** 20)).toThrow(OutOfMemoryError);
  await expect(multiply(device, 512)).rejects.toThrow(OutOfMemoryError);
  expect(await multiply(device, 64)).toBe(expected);
  device.destroy();
});
