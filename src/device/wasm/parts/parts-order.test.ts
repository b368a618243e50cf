import { afterEach, describe, expect, test } from 'vitest';
import type { Device, DeviceTensor, Kernel } from '../../device.ts';
import { uploadTensor } from '../../testing/device-tensors.ts';
import { matrix, multiply, product } from '../testing/bits-on-device.ts';
import { inProcessPart } from '../testing/in-process-part.ts';
import { createWasmDevice } from '../wasm-device.ts';
import { type DistributorOptions, distributorOf } from './distributor.ts';
import type { ToPart } from './part-protocol.ts';

const SIZE = 64;
const BYTES = SIZE * SIZE * 4;

let device: Device;
/** All messages that threads were sent. */
let told: ToPart[] = [];
afterEach(() => {
  device.destroy();
  told = [];
});

const toldOf = (kind: ToPart['kind']): number => told.filter((one) => one.kind === kind).length;

function open(options: Partial<DistributorOptions> = {}): Device {
  const startPart = inProcessPart({ deliver: (message) => told.push(message) > 0 });
  device = createWasmDevice({
    createDistributor: distributorOf({ threads: 2, startPart, sharesAll: true, ...options }),
  });
  return device;
}

/** Squares of matrices, of which launches are not over at once. */
async function openProduct(): Promise<Kernel> {
  const kernels = await open().prepare([product(SIZE)]);
  const kernel = kernels.get('product');
  if (kernel === undefined) throw new Error('no kernel');
  return kernel;
}

const upload = (seed: number): DeviceTensor => uploadTensor(device, matrix(SIZE, seed));
const rangeOf = ({ buffer }: DeviceTensor) => ({ buffer, byteOffset: 0, byteLength: BYTES });
const read = async (tensor: DeviceTensor): Promise<Uint8Array> => {
  const [bytes] = await device.read([rangeOf(tensor)]);
  return bytes ?? new Uint8Array(0);
};
const bytesOf = (seed: number): Uint8Array => new Uint8Array(matrix(SIZE, seed).data.buffer);

/** The product of two matrices on one thread. */
async function expected(seeds: readonly [number, number]): Promise<Uint8Array> {
  const alone = createWasmDevice();
  const kernel = (await alone.prepare([product(SIZE)])).get('product');
  const [a, b] = seeds.map((seed) => uploadTensor(alone, matrix(SIZE, seed)));
  const y = uploadTensor(alone, matrix(SIZE, 0));
  if (!a || !b) throw new Error('no operands');
  kernel?.launch([a, b, y]);
  const [bytes] = await alone.read([rangeOf(y)]);
  alone.destroy();
  return bytes ?? new Uint8Array(0);
}

describe('what comes behind a launch that is not over', () => {
  test('launches, writes and copies are done in order', async () => {
    const kernel = await openProduct();
    const [a, b, x, y, z] = [upload(1), upload(2), upload(3), upload(4), upload(5)];
    kernel.launch([a, b, x]);
    // Done at once, each of these would change the operands of a launch that has not begun.
    device.write(a.buffer, 0, bytesOf(6));
    kernel.launch([a, b, y]);
    device.copy(rangeOf(x), rangeOf(a));
    device.copy(rangeOf(y), rangeOf(b));
    device.write(y.buffer, 0, bytesOf(7));
    kernel.launch([x, y, z]);
    expect(device.readSync(rangeOf(x))).toBeUndefined();
    const [x1, y1, a1, b1] = await Promise.all([x, y, a, b].map(read));
    expect(x1).toEqual(await expected([1, 2]));
    expect(a1).toEqual(x1);
    expect(b1).toEqual(await expected([6, 2]));
    expect(y1).toEqual(bytesOf(7));
    expect(toldOf('run')).toBe(3);
    await device.synchronize();
    expect(device.readSync(rangeOf(x))).toEqual(x1);
    expect(device.readSync(rangeOf(z))).toEqual(await read(z));
  });

  test('the memory of a buffer that was destroyed is that of another one only afterwards', async () => {
    const kernel = await openProduct();
    const [a, b, y, z] = [upload(1), upload(2), upload(3), upload(4)];
    kernel.launch([a, b, y]);
    kernel.launch([y, b, z]);
    kernel.launch([b, b, y]);
    const { length } = [a, b].map(({ buffer }) => buffer.destroy());
    const others = Array.from({ length }, () => device.createBuffer(BYTES));
    const [first, second] = others;
    if (!first || !second) throw new Error('no buffers');
    device.write(first, 0, bytesOf(9));
    const [others1, other2] = await device.read(
      [first, second].map((buffer) => ({ buffer, byteOffset: 0, byteLength: BYTES })),
    );
    expect(await read(y)).toEqual(await expected([2, 2]));
    expect(others1).toEqual(bytesOf(9));
    expect(other2).toEqual(new Uint8Array(BYTES));
  });

  test('a recording repeats it', async () => {
    const kernel = await openProduct();
    const [a, b, y, z] = [upload(1), upload(2), upload(3), upload(4)];
    // Temporary memory gets its place.
    kernel.launch([a, b, y]);
    const recording = device.recording?.begin();
    kernel.launch([a, b, y]);
    device.copy(rangeOf(y), rangeOf(a));
    kernel.launch([a, b, z]);
    const recorded = recording?.finish();
    const [y1, z1] = [await read(y), await read(z)];
    expect(y1).toEqual(await expected([1, 2]));
    device.write(a.buffer, 0, bytesOf(1));
    device.write(z.buffer, 0, bytesOf(8));
    expect(recorded?.isUsable()).toBe(true);
    recorded?.replay();
    device.write(a.buffer, 0, bytesOf(1));
    recorded?.replay();
    expect(await read(z)).toEqual(z1);
    expect(toldOf('run')).toBe(7);
  });

  test('a profile has the times of one thread', async () => {
    const kernel = await openProduct();
    const [a, b, y] = [upload(1), upload(2), upload(3)];
    kernel.launch([a, b, y]);
    const stop = await device.startProfile();
    expect(toldOf('run')).toBe(1);
    kernel.launch([a, b, y]);
    expect(await stop()).toMatchObject([{ primitive: 'product', label: 'matmul' }]);
    expect(toldOf('run')).toBe(1);
    kernel.launch([a, b, y]);
    expect(await read(y)).toEqual(await expected([1, 2]));
    expect(toldOf('run')).toBe(2);
  });
});

test('a constant is sent once, the part that a thread needs, and dropped with its buffer', async () => {
  const kernel = await openProduct();
  const [a, y] = [upload(1), upload(3)];
  const b = { ...upload(2), isReadOnly: true };
  for (let i = 0; i < 3; i++) kernel.launch([a, b, y]);
  expect(await read(y)).toEqual(await expected([1, 2]));
  const kept = told.flatMap((one) => (one.kind === 'keep' ? [one.id] : []));
  expect(kept).toHaveLength(1);
  kernel.launch([a, b, y]);
  b.buffer.destroy();
  expect(await read(y)).toEqual(await expected([1, 2]));
  expect(told.filter((one) => one.kind === 'drop')).toEqual([{ kind: 'drop', id: kept[0] }]);
  expect(toldOf('keep')).toBe(1);
});

test('a constant that was destroyed before its launch began is not kept', async () => {
  const kernel = await openProduct();
  const [a, c, y] = [upload(1), upload(3), upload(4)];
  const b = { ...upload(2), isReadOnly: true };
  kernel.launch([a, c, y]);
  kernel.launch([a, b, y]);
  b.buffer.destroy();
  expect(await read(y)).toEqual(await expected([1, 2]));
  expect(toldOf('keep')).toBe(0);
});

test('threads start with the first work that may be worth it', async () => {
  const alone = createWasmDevice();
  open({ sharesAll: false });
  expect(await multiply(device, 32, 2)).toBe(await multiply(alone, 32));
  expect(told).toEqual([]);
  expect(await multiply(device, 256, 20)).toBe(await multiply(alone, 256));
  expect(toldOf('ping')).toBeGreaterThan(0);
  alone.destroy();
});
