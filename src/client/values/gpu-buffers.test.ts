import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compile, parseModule } from '../../compiler/index.ts';
import { nodeGpu } from '../../testing/node-gpu.ts';
import { bufferOf, openPageDevice, type PageDevice, numbersIn } from '../../testing/page-device.ts';
import type { DeviceTensor } from './device-tensor.ts';
import type { GpuTensor } from './gpu-buffers.ts';
import { type LoadOptions, Session, Tensor } from '../index.ts';

const PROGRAM = compile(
  parseModule(`
    def @main(%x: Tensor[(n,), float32]) { add(%x, 1f) }
    def @same(%x: Tensor[(n,), float32]) { %x }
    def @product(%x: Tensor[(n, 8), float32], %y: Tensor[(8, 8), float32]) { matmul(%x, %y) }`),
).toBytes();

const numbers = Array.from({ length: 70 }, (_, i) => i);
const plus = (step: number): number[] => numbers.map((value) => value + step);
const VECTOR = { dtype: 'float32', shape: [70] } as const;

let page: PageDevice;
let session: Session;

const open = ({ gpuDevice: gpu }: PageDevice): Promise<Session> =>
  Session.load(PROGRAM, { worker: false, device: 'webgpu', gpu });

beforeEach(async () => {
  page = await openPageDevice();
  session = await open(page);
});

afterEach(async () => {
  await session.dispose();
  page.gpuDevice.destroy();
});

async function kept(x: Tensor | DeviceTensor): Promise<DeviceTensor> {
  const { result } = await session.run({ x }, { keep: 'device' });
  if (result === undefined) throw new Error('no result');
  return result;
}

test('a run reads a buffer of the page where it lies, whatever it holds by then', async () => {
  const { gpuDevice, usages } = page;
  const buffer = bufferOf(gpuDevice, numbers, { byteOffset: 256 });
  const x = await session.fromGpuBuffer(buffer, { ...VECTOR, byteOffset: 256 });
  expect(x).toMatchObject(VECTOR);
  // The second call is recorded, the third repeats it.
  for (const step of [0, 10, 20, 30]) {
    gpuDevice.queue.writeBuffer(buffer, 256, Float32Array.from(plus(step)));
    const { result } = await session.run({ x });
    expect([...(result?.data ?? [])]).toEqual(plus(step + 1));
  }
  expect([...(await x.read()).data]).toEqual(plus(30));
  usages.length = 0;
  const { result } = await session.run({ x }, { keep: 'device' });
  // Nothing was read back, nothing made.
  expect(usages).toEqual([]);
  result?.dispose();
  x.dispose();
  await expect(session.run({ x })).rejects.toThrow('a DeviceTensor');
  // The page's own still.
  expect(await numbersIn(gpuDevice, buffer, [256, 280])).toEqual(plus(30));
});

test('weights in a buffer are no constants: what they become is not kept', async () => {
  const { gpuDevice } = page;
  const eye = (factor: number): number[] =>
    Array.from({ length: 64 }, (_, i) => (i % 9 === 0 ? factor : 0));
  const buffer = bufferOf(gpuDevice, eye(1));
  const y = await session.fromGpuBuffer(buffer, { dtype: 'float32', shape: [8, 8] });
  const x = new Tensor(
    'float32',
    Float32Array.from({ length: 64 }, (_, i) => i),
    [8, 8],
  );
  for (const factor of [1, 2, 3]) {
    gpuDevice.queue.writeBuffer(buffer, 0, Float32Array.from(eye(factor)));
    const { result } = await session.run({ x, y }, { function: 'product' });
    expect([...(result?.data ?? [])]).toEqual([...x.data].map((value) => Number(value) * factor));
  }
});

test('what a run keeps is in a buffer of the page’s device', async () => {
  const { gpuDevice } = page;
  const result = await kept(Tensor.from(numbers));
  const { buffer, byteOffset, byteLength } = await result.gpuBuffer();
  expect(byteLength).toBe(280);
  expect(await numbersIn(gpuDevice, buffer, [byteOffset, byteLength])).toEqual(plus(1));
  // It is an input in turn, of this session and of others on the device.
  const other = await open(page);
  const { result: next } = await other.run({ x: result });
  expect([...(next?.data ?? [])]).toEqual(plus(2));
  await other.dispose();
  result.dispose();
  await expect(result.gpuBuffer()).rejects.toThrow('got a handle that was disposed of');
});

test('a program that gives its input back gives the page’s buffer', async () => {
  const buffer = bufferOf(page.gpuDevice, numbers);
  const x = await session.fromGpuBuffer(buffer, VECTOR);
  const { result } = await session.run({ x }, { keep: ['result'], function: 'same' });
  x.dispose();
  expect(await result.gpuBuffer()).toEqual({ buffer, byteOffset: 0, byteLength: 280 });
  expect([...(await result.read()).data]).toEqual(numbers);
});

test('a run that a buffer is donated to writes there', async () => {
  const buffer = bufferOf(page.gpuDevice, numbers);
  for (const step of [1, 2, 3, 4]) {
    const x = await session.fromGpuBuffer(buffer, VECTOR);
    const { result } = await session.run({ x }, { keep: ['result'], donate: ['x'] });
    expect((await result.gpuBuffer()).buffer).toBe(buffer);
    result.dispose();
    expect(await numbersIn(page.gpuDevice, buffer, [0, 280])).toEqual(plus(step));
  }
});

test('the device stays the page’s, with nothing of Weft on it', async () => {
  const { gpuDevice, live } = page;
  const buffer = bufferOf(gpuDevice, numbers);
  const x = await session.fromGpuBuffer(buffer, VECTOR);
  for (let i = 0; i < 3; i++) await session.run({ x });
  await kept(x);
  expect(live.size).toBeGreaterThan(2);
  await session.dispose();
  expect([...live]).toEqual([buffer]);
  session = await open(page);
  expect([...(await (await kept(Tensor.from(numbers))).read()).data]).toEqual(plus(1));
  expect(await numbersIn(gpuDevice, buffer, [0, 280])).toEqual(numbers);
});

test('a device that does not tell its adapter runs all the same', async () => {
  const { gpuDevice } = await openPageDevice();
  Object.defineProperty(gpuDevice, 'adapterInfo', { value: undefined });
  const hidden = await open({ ...page, gpuDevice });
  expect(hidden.device).toMatchObject({
    kind: 'webgpu',
    name: expect.stringContaining('WebGPU adapter'),
  });
  const { result } = await hidden.run({ x: Tensor.from(numbers) });
  expect([...(result?.data ?? [])]).toEqual(plus(1));
  await hidden.dispose();
  gpuDevice.destroy();
});

test('errors of the page stay the page’s', async () => {
  const { gpuDevice } = page;
  const messages: string[] = [];
  gpuDevice.addEventListener('uncapturederror', (event) => {
    event.preventDefault();
    messages.push(event.error.message);
  });
  await kept(Tensor.from(numbers));
  gpuDevice.createBuffer({ label: 'of the page', size: 4, usage: 0x01 | 0x80 });
  gpuDevice.pushErrorScope('validation');
  gpuDevice.createBuffer({ label: 'scoped', size: 4, usage: 0x01 | 0x80 });
  expect((await gpuDevice.popErrorScope())?.message).toContain('scoped');
  const { result } = await session.run({ x: Tensor.from(numbers) });
  expect([...(result?.data ?? [])]).toEqual(plus(1));
  expect(messages).toEqual([expect.stringContaining('of the page')]);
  await expect(gpuDevice.popErrorScope()).rejects.toThrow();
});

test('a buffer that the page destroyed too early is an error of the run', async () => {
  const buffer = bufferOf(page.gpuDevice, numbers);
  const x = await session.fromGpuBuffer(buffer, VECTOR);
  buffer.destroy();
  await expect(session.run({ x })).rejects.toMatchObject({ name: 'DeviceError' });
  expect([...(await (await kept(Tensor.from(numbers))).read()).data]).toEqual(plus(1));
});

describe('what does not fit', () => {
  const STORAGE = 0x80;
  const COPY_SRC = 0x04;

  async function refusal(
    buffer: unknown,
    tensor: Partial<GpuTensor> = {},
    of: Session = session,
  ): Promise<string> {
    const making = of.fromGpuBuffer(buffer as GPUBuffer, { ...VECTOR, ...tensor });
    const [outcome] = await Promise.allSettled([making]);
    return outcome.status === 'rejected' ? String(outcome.reason) : 'taken';
  }

  test('is refused with what would', async () => {
    const { gpuDevice } = page;
    const small = gpuDevice.createBuffer({ size: 284, usage: STORAGE | COPY_SRC });
    const plain = gpuDevice.createBuffer({ size: 512, usage: STORAGE });
    const mapped = gpuDevice.createBuffer({
      size: 512,
      usage: STORAGE | COPY_SRC,
      mappedAtCreation: true,
    });
    const other = await openPageDevice();
    const foreign = bufferOf(other.gpuDevice, numbers);
    expect(await refusal(small)).toBe(
      'UsageError: fromGpuBuffer: got 280 bytes at 0 of a buffer of 284, expected a buffer of at least 288 bytes: kernels access whole 16 bytes. Make the buffer larger, or the shape smaller.',
    );
    expect(await refusal(small, { shape: [4], byteOffset: 128 })).toContain(
      'got byteOffset 128, expected a multiple of 256.',
    );
    expect(await refusal(plain)).toContain(
      'got a buffer with the usage 128, expected GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC.',
    );
    expect(await refusal(mapped)).toContain(
      'got a buffer that is mapped, expected one that is not mapped. Call unmap() first.',
    );
    const message = await refusal(foreign);
    expect(message).toContain('UsageError: fromGpuBuffer: got a buffer of another device (');
    expect(message).toContain('expected one of the device that the session was loaded with.');
    expect(await refusal({})).toBe(
      'UsageError: fromGpuBuffer: got an object, expected a GPUBuffer.',
    );
    expect(await refusal(plain, { dtype: 'float' as 'float32' })).toContain('got dtype "float"');
    expect(await refusal(plain, { shape: [-1] })).toContain(
      'expected a list of integers from 0 up',
    );
    expect(await refusal(plain, { dtype: undefined as never })).toContain(
      'expected a dtype and a shape',
    );
    other.gpuDevice.destroy();
  });

  test('a session on another device has no buffers of the page', async () => {
    const host = await Session.load(PROGRAM, { worker: false, device: 'host' });
    const message =
      "got a tensor on host, expected one on a device of the page. Load the session with { worker: false, device: 'webgpu', gpu: device }, or read the tensor.";
    expect(await refusal(bufferOf(page.gpuDevice, numbers), {}, host)).toContain(message);
    const { result } = await host.run({ x: Tensor.from(numbers) }, { keep: ['result'] });
    await expect(result.gpuBuffer()).rejects.toThrow(message);
    const options = { worker: false, device: 'webgpu', gpu: await nodeGpu() } as const;
    const own = await Session.load(PROGRAM, options);
    expect(await refusal(bufferOf(page.gpuDevice, numbers), {}, own)).toContain(
      'expected one on a device of the page',
    );
    await own.dispose();
    await host.dispose();
  });

  test('a device is for its own thread and for WebGPU', async () => {
    const { gpuDevice: gpu } = page;
    const expected =
      "expected worker: false and device: 'webgpu', in the thread of that device. In your own worker pass a device of that worker to serve.";
    const worker = (): Worker => {
      throw new Error('started');
    };
    await expect(Session.load(PROGRAM, { gpu, device: 'webgpu', worker })).rejects.toThrow(
      `Session.load: got a GPUDevice as gpu with a worker, ${expected}`,
    );
    await expect(Session.load(PROGRAM, { gpu, worker: false })).rejects.toThrow(
      `Session.load: got a GPUDevice as gpu with device "auto", ${expected}`,
    );
    const openService = (): never => {
      throw new Error('opened');
    };
    const remote = { openService } as unknown as LoadOptions['remote'] & object;
    await expect(Session.load(PROGRAM, { gpu, device: 'webgpu', remote })).rejects.toThrow(
      `Session.load: got a GPUDevice as gpu with remote, ${expected}`,
    );
  });

  test('a device that is lost loads nothing more', async () => {
    page.gpuDevice.destroy();
    await expect(session.run({ x: Tensor.from(numbers) })).rejects.toMatchObject({
      name: 'DeviceLostError',
    });
    await expect(open(page)).rejects.toThrow('the GPUDevice of the page: got one that is lost');
  });
});
