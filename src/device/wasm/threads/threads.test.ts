import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DeviceLostError, OutOfMemoryError } from '../../../core/errors.ts';
import type { Device } from '../../device.ts';
import { differentBytes } from '../../testing/different-bytes.ts';
import { multiply, product } from '../testing/bits-on-device.ts';
import { OPERATORS_ON_WASM } from '../testing/operators-on-wasm.ts';
import { WatchedThreads } from '../testing/watched-threads.ts';
import { createWasmDevice, type WasmDeviceOptions } from '../wasm-device.ts';
import { sharedThreads } from './shared-threads.ts';
import { CONTROL, ORDERS } from './thread-control.ts';
import type { StartThread } from './thread-pool.ts';

const threads = new WatchedThreads();

/** A device with some threads, which share all work. */
async function openShared(options: WasmDeviceOptions = {}, count = 2): Promise<Device> {
  const startThread = threads.starter();
  const createThreads = sharedThreads({ threads: count, startThread, sharesAll: true });
  return createWasmDevice({ createThreads, ...options });
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
      expect(await differentBytes(op, shared, alone)).toEqual([]);
    },
  );

  test('do a part of the work', async () => {
    const { runs } = threads;
    for (const op of OPERATORS_ON_WASM) {
      if (['matmul', 'conv2d'].includes(op.name)) await differentBytes(op, shared, alone);
    }
    expect(shared.info.threads).toBe(2);
    expect(threads.runs).toBeGreaterThan(runs + 30);
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
  const startThread = threads.starter();
  const device = createWasmDevice({ createThreads: sharedThreads({ threads: 3, startThread }) });
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
    const device = await openShared({}, 1 + (i % 3));
    await multiply(device, 16);
    expect(threads.live).toBe(i % 3);
    device.destroy();
    device.destroy();
    await expect.poll(() => threads.live).toBe(0);
  }
});

test('a device that is destroyed while threads start ends them, too', async () => {
  await expect.poll(() => threads.live).toBe(0);
  const startThread = threads.starter();
  const device = createWasmDevice({ createThreads: sharedThreads({ threads: 3, startThread }) });
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
  const createThreads = sharedThreads({ threads: 2, startThread, sharesAll: true });
  const device = createWasmDevice({ createThreads });
  expect(await multiply(device, 64)).toBe(await multiply(createWasmDevice(), 64));
  expect(device.info.threads).toBe(1);
  device.destroy();
});

test('where one of two threads cannot start, the other ends', async () => {
  const start = threads.starter();
  const startThread: StartThread = (given, onError) =>
    given.index === 1 ? undefined : start(given, onError);
  const createThreads = sharedThreads({ threads: 3, startThread, sharesAll: true });
  const device = createWasmDevice({ createThreads });
  expect(await multiply(device, 64)).toBe(await multiply(createWasmDevice(), 64));
  expect(device.info.threads).toBe(1);
  await expect.poll(() => threads.live).toBe(0);
});

test('a thread that ends in its part loses the device', async () => {
  let ended = 0;
  // It takes code, and no work.
  const startThread: StartThread = ({ control: shared }) => {
    const control = new Int32Array(shared);
    Atomics.add(control, CONTROL.ready, 1);
    const taking = setInterval(() => {
      if (control[CONTROL.kind] === ORDERS.load) Atomics.store(control, CONTROL.done, 1);
    }, 1);
    return () => {
      clearInterval(taking);
      ended++;
    };
  };
  const createThreads = sharedThreads({ threads: 2, startThread, patienceMs: 20 });
  const device = createWasmDevice({ createThreads });
  const work = async (): Promise<void> => {
    for (;;) await multiply(device, 200, 3);
  };
  await expect(work()).rejects.toThrow(DeviceLostError);
  await expect(device.lost).resolves.toMatchObject({
    message: 'A thread of the wasm device ended. Load the session again.',
  });
  expect([ended, device.info.threads]).toEqual([1, 1]);
  device.destroy();
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
