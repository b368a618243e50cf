import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DeviceLostError, OutOfMemoryError, UnsupportedError } from '../core/errors.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import type { PrimitiveFunction } from '../core/contracts/primitive-function.ts';
import { HOST, WASM, WASM_THREADS, WEBGPU_ALONE } from './testing/node-devices.ts';
import type { Device, DeviceBuffer, DeviceTensor, Kernel } from './device.ts';
import { allocateTensor, downloadTensors, uploadTensor } from './testing/device-tensors.ts';
import { createHostDevice } from './host/host-device.ts';

const DEVICES = [HOST, WEBGPU_ALONE, WASM, WASM_THREADS];

const vector = <T extends number | string>(length: T) =>
  ({ dtype: 'float32', shape: [length] }) as const;

/** y = exp(a) + a on float32 vectors, with exp(a) as a second result. */
function twoResults(length: number | string = 'n'): PrimitiveFunction {
  return {
    name: 'two_results',
    params: [vector(length)],
    body: [
      { op: 'exp', inputs: [0], attributes: {} },
      { op: 'add', inputs: [1, 0], attributes: {} },
    ],
    results: [
      { value: 2, type: vector(length) },
      { value: 1, type: vector(length) },
    ],
  };
}

/** y = op(a, b) on float32 vectors of one length. */
function binary(op: string, length: number | string = 'n'): PrimitiveFunction {
  return {
    name: op,
    params: [vector(length), vector(length)],
    body: [{ op, inputs: [0, 1], attributes: {} }],
    results: [{ value: 2, type: vector(length) }],
  };
}

const floats = (...values: number[]) => HostTensor.from('float32', [values.length], values);

describe.each(DEVICES.map(({ title, open }) => [title, open] as const))('%s', (_, open) => {
  let device: Device;
  let atStart: { readonly buffersLive: number; readonly bytesLive: number };
  const owned: DeviceBuffer[] = [];

  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  beforeEach(() => {
    const { buffersLive, bytesLive } = device.counters();
    atStart = { buffersLive, bytesLive };
  });
  // The objects of a test must be gone once its buffers are, except memory the device keeps for itself.
  afterEach(async () => {
    for (const buffer of owned.splice(0)) buffer.destroy();
    await device.synchronize();
    expect(device.counters().buffersLive - atStart.buffersLive).toBeLessThanOrEqual(2);
  });

  const create = (byteLength: number): DeviceBuffer => {
    const buffer = device.createBuffer(byteLength);
    owned.push(buffer);
    return buffer;
  };
  const upload = (tensor: HostTensor): DeviceTensor => {
    const uploaded = uploadTensor(device, tensor);
    owned.push(uploaded.buffer);
    return uploaded;
  };
  const allocate = (length: number): DeviceTensor => {
    const tensor = allocateTensor(device, vector(length));
    owned.push(tensor.buffer);
    return tensor;
  };
  const kernelOf = async (primitive: PrimitiveFunction): Promise<Kernel> => {
    const kernel = (await device.prepare([primitive])).get(primitive.name);
    if (kernel === undefined) throw new Error(`no kernel ${primitive.name}`);
    return kernel;
  };
  const valuesOf = async (...tensors: DeviceTensor[]): Promise<number[][]> =>
    (await downloadTensors(device, tensors)).map(({ data }) => Array.from(data, Number));

  test('describes itself', () => {
    expect(device.info.name).not.toBe('');
    expect(device.info.maxBufferByteLength).toBeGreaterThanOrEqual(2 ** 27);
    expect(device.kind === 'host').toBe(device.info.adapterClass === 'host');
  });

  test('a buffer starts with zeros', async () => {
    const buffer = create(1000);
    const [bytes] = await device.read([{ buffer, byteOffset: 0, byteLength: 1000 }]);
    expect(bytes).toEqual(new Uint8Array(1000));
  });

  test('what is written is read, in any part', async () => {
    const buffer = create(64);
    device.write(buffer, 8, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
    device.write(buffer, 12, Uint8Array.of(9, 10, 11, 12));
    const [bytes] = await device.read([{ buffer, byteOffset: 4, byteLength: 16 }]);
    expect([...(bytes ?? [])]).toEqual([0, 0, 0, 0, 1, 2, 3, 4, 9, 10, 11, 12, 0, 0, 0, 0]);
  });

  test('a caller may change bytes after a write and after a read', async () => {
    const buffer = create(4);
    const bytes = Uint8Array.of(1, 2, 3, 4);
    device.write(buffer, 0, bytes);
    bytes.fill(9);
    const [first] = await device.read([{ buffer, byteOffset: 0, byteLength: 4 }]);
    expect([...(first ?? [])]).toEqual([1, 2, 3, 4]);
    first?.fill(7);
    const [second] = await device.read([{ buffer, byteOffset: 0, byteLength: 4 }]);
    expect([...(second ?? [])]).toEqual([1, 2, 3, 4]);
  });

  test('copies keep their order with writes', async () => {
    const [a, b] = [upload(floats(1, 2, 3)), allocate(3)];
    const range = (tensor: DeviceTensor, byteOffset: number, byteLength: number) => ({
      buffer: tensor.buffer,
      byteOffset,
      byteLength,
    });
    device.copy(range(a, 0, 12), range(b, 0, 12));
    device.write(a.buffer, 0, new Uint8Array(Float32Array.of(9).buffer));
    device.copy(range(a, 0, 4), range(b, 4, 4));
    expect(await valuesOf(a, b)).toEqual([
      [9, 2, 3],
      [1, 9, 3],
    ]);
  });

  test('a copy within a buffer may overlap', async () => {
    const a = upload(floats(1, 2, 3, 4, 5));
    const { buffer } = a;
    device.copy(
      { buffer, byteOffset: 0, byteLength: 16 },
      { buffer, byteOffset: 4, byteLength: 16 },
    );
    expect(await valuesOf(a)).toEqual([[1, 1, 2, 3, 4]]);
  });

  test('several ranges are one round trip', async () => {
    const [a, b] = [upload(floats(1, 2)), upload(floats(3, 4, 5))];
    const before = device.counters().readbacks;
    expect(await valuesOf(b, a)).toEqual([
      [3, 4, 5],
      [1, 2],
    ]);
    expect(device.counters().readbacks - before).toBe(1);
  });

  test('reads overlap with later work without seeing it', async () => {
    const add = await kernelOf(binary('add'));
    const [a, b] = [upload(floats(1, 2)), allocate(2)];
    add.launch([a, a, b]);
    const first = valuesOf(b);
    add.launch([b, b, a]);
    add.launch([a, a, b]);
    const second = valuesOf(b);
    expect(await Promise.all([first, second])).toEqual([[[2, 4]], [[8, 16]]]);
  });

  test('a write waits for launches before it, and launches for the write', async () => {
    const add = await kernelOf(binary('add'));
    const [a, b, c] = [upload(floats(1, 2)), allocate(2), allocate(2)];
    add.launch([a, a, b]);
    device.write(a.buffer, 0, new Uint8Array(Float32Array.of(10, 20).buffer));
    add.launch([a, a, c]);
    expect(await valuesOf(b, c)).toEqual([
      [2, 4],
      [20, 40],
    ]);
  });

  test('a buffer may be destroyed while work that uses it is pending', async () => {
    const add = await kernelOf(binary('add'));
    const [a, b] = [uploadTensor(device, floats(1, 2)), allocate(2)];
    add.launch([a, a, b]);
    a.buffer.destroy();
    a.buffer.destroy();
    expect(await valuesOf(b)).toEqual([[2, 4]]);
  });

  test('a primitive may have several results and read one of them', async () => {
    const kernel = await kernelOf(twoResults());
    const [a, sum, power] = [upload(floats(0, 1)), allocate(2), allocate(2)];
    kernel.launch([a, sum, power]);
    const [sums, powers] = await valuesOf(sum, power);
    expect(sums?.map((value) => value.toFixed(4))).toEqual(['1.0000', '3.7183']);
    expect(powers?.map((value) => value.toFixed(4))).toEqual(['1.0000', '2.7183']);
  });

  test('one kernel takes any size of a symbolic dimension, none included', async () => {
    const kernel = await kernelOf(binary('mul'));
    for (const length of [1, 7, 0, 300, 2]) {
      const a = upload(floats(...Array.from({ length }, (_, i) => i + 1)));
      const b = allocate(length);
      kernel.launch([a, a, b]);
      expect(await valuesOf(b)).toEqual([Array.from({ length }, (_, i) => (i + 1) ** 2)]);
    }
  });

  test('tensors may lie anywhere in a buffer', async () => {
    const kernel = await kernelOf(binary('sub', 3));
    const buffer = create(1024);
    device.write(buffer, 512, new Uint8Array(Float32Array.of(5, 6, 7).buffer));
    const part = { buffer, byteOffset: 512, ...vector(3) };
    const b = upload(floats(1, 1, 1));
    const target = create(512);
    const output = { buffer: target, byteOffset: 256, ...vector(3) };
    kernel.launch([part, b, output]);
    expect(await valuesOf(output, { ...output, byteOffset: 0 })).toEqual([
      [4, 5, 6],
      [0, 0, 0],
    ]);
  });

  test('bool is one word per element', async () => {
    const kernel = await kernelOf({
      name: 'negated_less',
      params: [vector(3), vector(3)],
      body: [
        { op: 'less', inputs: [0, 1], attributes: {} },
        { op: 'logical_not', inputs: [2], attributes: {} },
      ],
      results: [{ value: 3, type: { dtype: 'bool', shape: [3] } }],
    });
    const [a, b] = [upload(floats(1, 2, 3)), upload(floats(3, 2, 1))];
    const buffer = create(12);
    kernel.launch([a, b, { buffer, byteOffset: 0, dtype: 'bool', shape: [3] }]);
    const [bytes] = await device.read([{ buffer, byteOffset: 0, byteLength: 12 }]);
    expect([...new Uint32Array(bytes?.slice().buffer ?? new ArrayBuffer())]).toEqual([0, 1, 1]);
  });

  test('counters tell buffers, bytes and launches', async () => {
    const before = device.counters();
    const a = device.createBuffer(400);
    const b = device.createBuffer(100);
    const between = device.counters();
    expect(between.buffersCreated - before.buffersCreated).toBe(2);
    expect(between.buffersLive - before.buffersLive).toBe(2);
    expect(between.bytesLive - before.bytesLive).toBe(500);
    a.destroy();
    a.destroy();
    expect(device.counters().bytesLive - before.bytesLive).toBe(100);
    b.destroy();
    expect(device.counters().buffersLive - before.buffersLive).toBe(0);
    const kernel = await kernelOf(binary('add', 4));
    const [x, y] = [upload(floats(1, 2, 3, 4)), allocate(4)];
    kernel.launch([x, x, y]);
    kernel.launch([x, x, y]);
    expect(device.counters().launches - before.launches).toBe(2);
  });

  test('launching what was prepared for fixed shapes compiles nothing', async () => {
    const kernel = await kernelOf(binary('minimum', 5));
    const before = device.counters().pipelinesCreated;
    const [a, b] = [upload(floats(1, 2, 3, 4, 5)), allocate(5)];
    kernel.launch([a, a, b]);
    expect(await valuesOf(b)).toEqual([[1, 2, 3, 4, 5]]);
    expect(device.counters().pipelinesCreated).toBe(before);
  });

  test('a profile names the launches since it was started', async () => {
    const kernels = await device.prepare([binary('add', 2), binary('mul', 2)]);
    const [a, b] = [upload(floats(1, 2)), allocate(2)];
    const [add, mul] = [kernels.get('add'), kernels.get('mul')];
    add?.launch([a, a, b]);
    const stop = await device.startProfile();
    mul?.launch([a, a, b]);
    add?.launch([a, a, b]);
    const timings = await stop();
    expect(timings.map(({ primitive }) => primitive)).toEqual(['mul', 'add']);
    for (const { label, workgroups } of timings) {
      expect(label).not.toBe('');
      expect(workgroups).toHaveLength(3);
    }
    add?.launch([a, a, b]);
    expect(timings).toHaveLength(2);
    expect(await valuesOf(b)).toEqual([[2, 4]]);
  });

  test('ranges outside a buffer are refused', async () => {
    const buffer = create(12);
    const range = (byteOffset: number, byteLength: number) => ({ buffer, byteOffset, byteLength });
    expect(() => device.write(buffer, 8, new Uint8Array(8))).toThrow(
      'internal: write bytes 8 + 8 of a buffer of 12 bytes',
    );
    expect(() => device.write(buffer, 2, new Uint8Array(4))).toThrow(
      'internal: write bytes 2 + 4: not whole words',
    );
    expect(() => device.copy(range(0, 16), range(0, 16))).toThrow(
      'internal: copy from bytes 0 + 16 of a buffer of 12 bytes',
    );
    expect(() => device.copy(range(0, 8), range(8, 8))).toThrow(
      'internal: copy to bytes 8 + 8 of a buffer of 12 bytes',
    );
    await expect(device.read([range(-4, 4)])).rejects.toThrow(
      'internal: read bytes -4 + 4: not whole words',
    );
    await expect(device.read([range(4, 12)])).rejects.toThrow(
      'internal: read bytes 4 + 12 of a buffer of 12 bytes',
    );
  });

  test('a destroyed buffer and one of another device are refused', async () => {
    const gone = device.createBuffer(4);
    gone.destroy();
    expect(() => device.write(gone, 0, new Uint8Array(4))).toThrow(
      /internal: .*after it was destroyed/,
    );
    await expect(device.read([{ buffer: gone, byteOffset: 0, byteLength: 4 }])).rejects.toThrow(
      /internal: .*after it was destroyed/,
    );
    const foreign: DeviceBuffer = { byteLength: 4, destroy: () => undefined };
    expect(() => device.write(foreign, 0, new Uint8Array(4))).toThrow(
      /internal: a buffer of another device was given to the (host|wasm|WebGPU) device/,
    );
  });

  test('more than the largest buffer is out of memory', () => {
    const byteLength = device.info.maxBufferByteLength + 16;
    expect(() => device.createBuffer(byteLength)).toThrow(OutOfMemoryError);
    expect(() => device.createBuffer(byteLength)).toThrow(`a request for ${byteLength} bytes`);
  });

  test('prepare refuses all that the device cannot run, in one error', async () => {
    const unknown = (name: string): PrimitiveFunction => ({
      ...binary('add', 2),
      name,
      body: [{ op: `no_such_${name}`, inputs: [0, 1], attributes: {} }],
    });
    const before = device.counters().pipelinesCreated;
    const prepared = device.prepare([unknown('first'), binary('add', 2), unknown('second')]);
    await expect(prepared).rejects.toThrow(UnsupportedError);
    await expect(prepared).rejects.toThrow(/no_such_first[^]*no_such_second/);
    expect(device.counters().pipelinesCreated).toBe(before);
  });

  test('prepare tells its progress and can be aborted', async () => {
    const progress: (readonly [number, number])[] = [];
    const primitives = [binary('add', 9), binary('div', 9)];
    await device.prepare(primitives, { onProgress: (done, total) => progress.push([done, total]) });
    const [last] = progress.slice(-1);
    expect(last?.[0]).toBe(last?.[1]);
    expect(last?.[1]).toBeGreaterThan(0);
    expect(progress.map(([done]) => done)).toEqual(
      progress.map(([done]) => done).sort((a, b) => a - b),
    );
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(device.prepare(primitives, { signal })).rejects.toThrow('enough');
  });

  test('prepared kernels are found by name until they are disposed of', async () => {
    const kernels = await device.prepare([binary('add', 2)]);
    expect(kernels.get('add')?.name).toBe('add');
    expect(kernels.get('sub')).toBeUndefined();
    kernels.dispose();
    kernels.dispose();
    expect(kernels.get('add')).toBeUndefined();
  });

  test('processors read without waiting', () => {
    const { buffer } = upload(floats(1));
    const bytes = device.readSync({ buffer, byteOffset: 0, byteLength: 4 });
    const expected =
      device.kind !== 'webgpu' ? new Uint8Array(Float32Array.of(1).buffer) : undefined;
    expect(bytes).toEqual(expected);
  });

  test('after destroy every call fails, and the device does not count as lost', async () => {
    const other = await open();
    const buffer = other.createBuffer(4);
    const read = other.read([{ buffer, byteOffset: 0, byteLength: 4 }]).catch(() => undefined);
    other.destroy();
    other.destroy();
    await read;
    const later = other.read([{ buffer, byteOffset: 0, byteLength: 4 }]);
    await expect(later).rejects.toThrow(DeviceLostError);
    await expect(later).rejects.toThrow(/destroyed by its owner/);
    await expect(other.synchronize()).rejects.toThrow(DeviceLostError);
    await expect(other.prepare([])).rejects.toThrow(DeviceLostError);
    expect(() => other.createBuffer(4)).toThrow(DeviceLostError);
    const lost = await Promise.race([other.lost.then(() => 'lost'), Promise.resolve('kept')]);
    expect(lost).toBe('kept');
  });
});

test('host buffers are not taken for those of other devices', async () => {
  const [host, other] = [createHostDevice(), createHostDevice()];
  const buffer = other.createBuffer(4);
  // Host memory is one: any host device may use it.
  host.write(buffer, 0, new Uint8Array(4));
  for (const { title, open } of DEVICES.slice(1, 3)) {
    const device = await open();
    expect(() => device.write(buffer, 0, new Uint8Array(4)), title).toThrow(
      /internal: a buffer of another device was given to the (wasm|WebGPU) device/,
    );
    device.destroy();
  }
});
