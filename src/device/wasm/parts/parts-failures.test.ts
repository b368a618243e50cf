import { expect, test } from 'vitest';
import { DeviceLostError } from '../../../core/errors.ts';
import type { Device } from '../../device.ts';
import { allocateTensor, uploadTensor } from '../../testing/device-tensors.ts';
import { matrix, multiply, product } from '../testing/bits-on-device.ts';
import { inProcessPart, type InProcessOptions } from '../testing/in-process-part.ts';
import { WatchedParts } from '../testing/watched-parts.ts';
import { createWasmDevice } from '../wasm-device.ts';
import { type DistributorOptions, distributorOf } from './distributor.ts';
import type { StartPart } from './part-protocol.ts';

function openWith(startPart: StartPart, options: Partial<DistributorOptions> = {}): Device {
  const distributor = { threads: 2, startPart, sharesAll: true, ...options };
  return createWasmDevice({ createDistributor: distributorOf(distributor) });
}

const open = (part: InProcessOptions, options: Partial<DistributorOptions> = {}): Device =>
  openWith(inProcessPart(part), options);

const SIZE = 64;
const alone = multiply(createWasmDevice(), SIZE);

/** A product whose parts are not done yet, and how its result is read. */
async function launch(device: Device): Promise<() => Promise<unknown>> {
  const kernel = (await device.prepare([product(SIZE)])).get('product');
  const tensors = [matrix(SIZE, 1), matrix(SIZE, 2)].map((one) => uploadTensor(device, one));
  const output = allocateTensor(device, { dtype: 'float32', shape: [SIZE, SIZE] });
  kernel?.launch([...tensors, output]);
  return () => device.read([{ buffer: output.buffer, byteOffset: 0, byteLength: SIZE * SIZE * 4 }]);
}

test.each([
  ['at once', () => undefined],
  [
    'later',
    (events) => {
      setTimeout(() => events.onError(), 5);
      return { post: () => undefined, terminate: () => undefined };
    },
  ],
] satisfies [string, StartPart][])(
  'where threads cannot start, one does all: %s',
  async (_, startPart) => {
    const device = openWith(startPart);
    expect(await multiply(device, SIZE, 2)).toBe(await alone);
    expect(device.info.threads).toBe(1);
    device.destroy();
  },
);

test('where one of two threads cannot start, the other ends', async () => {
  let [started, ended] = [0, 0];
  const start = inProcessPart({ onEnd: () => ended++ });
  const device = openWith((events) => (++started === 2 ? undefined : start(events)), {
    threads: 3,
  });
  expect(await multiply(device, SIZE)).toBe(await alone);
  expect(device.info.threads).toBe(1);
  expect(ended).toBe(1);
});

test('a thread that ends leaves its part to this one', async () => {
  const threads = new WatchedParts();
  const startPart = threads.starter();
  let end = (): void => undefined;
  const device = openWith((events) => {
    const thread = startPart(events);
    end = () => thread?.terminate();
    return thread;
  });
  expect(await multiply(device, SIZE)).toBe(await alone);
  expect(device.info.threads).toBe(2);
  const read = await launch(device);
  end();
  const [bytes] = (await read()) as Uint8Array[];
  expect(Buffer.from(bytes ?? []).toString('base64')).toBe(await alone);
  await expect.poll(() => device.info.threads).toBe(1);
  expect(await multiply(device, SIZE)).toBe(await alone);
  device.destroy();
});

test('a thread that never answers is ended, and its part done here', async () => {
  let ended = 0;
  const device = open(
    { deliver: ({ kind }) => kind !== 'run', onEnd: () => ended++ },
    { patienceMs: 20 },
  );
  expect(await multiply(device, SIZE)).toBe(await alone);
  expect(device.info.threads).toBe(1);
  expect(ended).toBe(1);
  device.destroy();
});

test('threads that take no code leave all to this one', async () => {
  const deliver: InProcessOptions['deliver'] = ({ kind }) => {
    if (kind === 'load') throw new Error('no modules');
    return true;
  };
  const device = open({ deliver });
  expect(await multiply(device, SIZE)).toBe(await alone);
  expect(device.info.threads).toBe(1);
  device.destroy();
});

test.each([
  ['activations', { byteBudget: 1024 }, {}, false],
  ['constants', { byteBudget: 20_000 }, {}, true],
  ['constants that it may keep', {}, { keptByteBudget: 1024 }, true],
] as const)('a thread without memory for %s', async (_, part, options, isConstant) => {
  const device = open(part, options);
  const kernel = (await device.prepare([product(SIZE)])).get('product');
  const [a, b] = [matrix(SIZE, 1), matrix(SIZE, 2)].map((one) => uploadTensor(device, one));
  const y = allocateTensor(device, { dtype: 'float32', shape: [SIZE, SIZE] });
  if (!a || !b) throw new Error('no operands');
  for (let i = 0; i < 2; i++) {
    kernel?.launch([a, { ...b, isReadOnly: isConstant }, y]);
    const [bytes] = await device.read([
      { buffer: y.buffer, byteOffset: 0, byteLength: SIZE * SIZE * 4 },
    ]);
    expect(Buffer.from(bytes ?? []).toString('base64')).toBe(await alone);
  }
  expect(device.info.threads).toBe(2);
  device.destroy();
});

test('a device that is destroyed ends its threads, and who reads gets an error', async () => {
  const threads = new WatchedParts();
  const device = openWith(threads.starter(), { threads: 3 });
  const read = await launch(device);
  expect(threads.live).toBe(2);
  const result = read();
  device.destroy();
  device.destroy();
  await expect(result).rejects.toThrow(DeviceLostError);
  await expect(result).rejects.toThrow(/a call that was not over when the device was destroyed/);
  await expect.poll(() => threads.live).toBe(0);
});

test('a device that is destroyed while threads start ends them, too', async () => {
  const threads = new WatchedParts();
  const device = openWith(threads.starter(), { sharesAll: false });
  await device.prepare([product(256)]);
  expect(threads.live).toBe(1);
  device.destroy();
  await expect.poll(() => threads.live).toBe(0);
});
