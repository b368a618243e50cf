import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LaunchPlan } from '../../core/contracts/launch-plan.ts';
import { nodeGpu } from '../../testing/node-gpu.ts';
import type { DeviceBuffer, DeviceTensor, Kernel } from '../device.ts';
import {
  floatBuffer,
  floatTensor,
  incrementPlan,
  openTestDevice,
  readFloats,
  type TestDevice,
  vectorLaunch,
  vectorPrimitive,
} from './testing/test-device.ts';

/** y = (a + 1) * 2 through a scratch buffer. */
function scratchPlan(elementCount: number): LaunchPlan {
  const scratch = { kind: 'scratch', index: 0 } as const;
  return {
    scratchByteLengths: [elementCount * 4],
    launches: [
      vectorLaunch({
        label: 'increment',
        body: 'y[i] = a[i] + 1;',
        elementCount,
        bindings: [
          { buffer: { kind: 'argument', index: 0 }, access: 'read' },
          { buffer: scratch, access: 'read_write' },
        ],
      }),
      vectorLaunch({
        label: 'double',
        body: 'y[i] = a[i] * 2;',
        elementCount,
        bindings: [
          { buffer: scratch, access: 'read' },
          { buffer: { kind: 'argument', index: 1 }, access: 'read_write' },
        ],
      }),
    ],
  };
}

/** y[i] = a[i] + number of elements of b, which may have none. */
function countPlan(elementCount: number): LaunchPlan {
  const launch = vectorLaunch({ label: 'count', body: 'y[i] = a[i];', elementCount });
  return {
    launches: [
      {
        ...launch,
        code: `${launch.code.replace('y[i] = a[i];', 'y[i] = a[i] + b[0];')}
@group(0) @binding(3) var<storage, read> b: array<f32>;`,
        bindings: [
          { buffer: { kind: 'argument', index: 0 }, access: 'read' },
          { buffer: { kind: 'argument', index: 2 }, access: 'read_write' },
          { buffer: { kind: 'argument', index: 1 }, access: 'read' },
        ],
      },
    ],
    scratchByteLengths: [],
  };
}

const KERNELS = { increment: incrementPlan, scratch: scratchPlan, count: countPlan };

describe('WebGpuDevice', () => {
  let opened: TestDevice;
  beforeAll(async () => {
    opened = await openTestDevice(await nodeGpu(), KERNELS);
  });
  afterAll(() => opened.device.destroy());

  async function kernelOf(name: keyof typeof KERNELS, length?: number): Promise<Kernel> {
    const inputCount = name === 'count' ? 2 : 1;
    const options = length === undefined ? { inputCount } : { inputCount, length };
    const kernels = await opened.device.prepare([vectorPrimitive(name, options)]);
    const kernel = kernels.get(name);
    if (kernel === undefined) throw new Error(`no kernel ${name}`);
    return kernel;
  }

  test('tells what it runs on', () => {
    const { info, kind } = opened.device;
    expect(kind).toBe('webgpu');
    expect(info.name).not.toBe('');
    expect(info.maxBufferByteLength).toBeGreaterThanOrEqual(256 * 1024 * 1024);
  });

  test('buffers start with zeros, and any sizes can be written and read', async () => {
    const { device } = opened;
    for (const byteLength of [4, 12, 256, 40_000]) {
      const buffer = device.createBuffer(byteLength);
      const bytes = Uint8Array.from({ length: byteLength }, (_, i) => i * 7);
      expect(await device.read([{ buffer, byteOffset: 0, byteLength }])).toEqual([
        new Uint8Array(byteLength),
      ]);
      device.write(buffer, 0, bytes);
      expect(await device.read([{ buffer, byteOffset: 0, byteLength }])).toEqual([bytes]);
      buffer.destroy();
    }
    const empty = device.createBuffer(0);
    expect(await device.read([{ buffer: empty, byteOffset: 0, byteLength: 0 }])).toEqual([
      new Uint8Array(0),
    ]);
    empty.destroy();
  });

  test('writes larger than one portion arrive whole', async () => {
    const { device } = opened;
    const byteLength = 16 * 1024 * 1024 + 12;
    const words = new Uint32Array(byteLength / 4).map((_, i) => i);
    const buffer = device.createBuffer(byteLength);
    device.write(buffer, 0, new Uint8Array(words.buffer));
    const tail = { buffer, byteOffset: byteLength - 24, byteLength: 24 };
    const [bytes] = await device.read([tail]);
    expect([...new Uint32Array(bytes?.buffer ?? new ArrayBuffer())]).toEqual([
      ...words.subarray(-6),
    ]);
    buffer.destroy();
  });

  test('several ranges come back in one submission and one readback', async () => {
    const { device } = opened;
    const first = floatBuffer(device, [1, 2, 3]);
    const second = floatBuffer(device, [4, 5, 6, 7]);
    const before = device.counters();
    const results = await device.read([
      { buffer: second, byteOffset: 4, byteLength: 12 },
      { buffer: first, byteOffset: 0, byteLength: 0 },
      { buffer: first, byteOffset: 0, byteLength: 4 },
    ]);
    expect(results.map((bytes) => [...new Float32Array(bytes.buffer)])).toEqual([
      [5, 6, 7],
      [],
      [1],
    ]);
    const after = device.counters();
    expect(after.readbacks - before.readbacks).toBe(1);
    expect(after.submits - before.submits).toBe(1);
    first.destroy();
    second.destroy();
  });

  test('concurrent reads keep their bytes apart', async () => {
    const { device } = opened;
    const buffers = [1, 2, 3, 4].map((value) => floatBuffer(device, [value, -value]));
    const values = await Promise.all(buffers.map((buffer) => readFloats(device, buffer)));
    expect(values).toEqual([
      [1, -1],
      [2, -2],
      [3, -3],
      [4, -4],
    ]);
    for (const buffer of buffers) buffer.destroy();
  });

  test('a repeated run creates nothing and submits once', async () => {
    const { device } = opened;
    const kernel = await kernelOf('scratch', 100);
    const input = floatBuffer(
      device,
      Array.from({ length: 100 }, (_, i) => i),
    );
    const output = device.createBuffer(400);
    const args = [floatTensor(input, [100]), floatTensor(output, [100])];
    kernel.launch(args);
    await device.synchronize();
    const before = device.counters();
    kernel.launch(args);
    const values = await readFloats(device, output);
    expect(values).toEqual(Array.from({ length: 100 }, (_, i) => (i + 1) * 2));
    const after = device.counters();
    expect({ ...after, launches: 0, submits: 0, readbacks: 0 }).toEqual({
      ...before,
      launches: 0,
      submits: 0,
      readbacks: 0,
    });
    expect(after.launches - before.launches).toBe(2);
    expect(after.submits - before.submits).toBe(1);
    input.destroy();
    output.destroy();
  });

  test('many launches go out in a few submissions', async () => {
    const { device } = opened;
    const kernel = await kernelOf('increment', 4);
    const buffers = [floatBuffer(device, [0, 1, 2, 3]), device.createBuffer(16)] as const;
    await device.synchronize();
    const before = device.counters();
    for (let i = 0; i < 200; i++) {
      const [from, to] = i % 2 === 0 ? buffers : [buffers[1], buffers[0]];
      kernel.launch([floatTensor(from, [4]), floatTensor(to, [4])]);
    }
    expect(await readFloats(device, buffers[0])).toEqual([200, 201, 202, 203]);
    const after = device.counters();
    expect(after.submits - before.submits).toBeLessThanOrEqual(6);
    expect(after.bindGroupsCreated - before.bindGroupsCreated).toBe(2);
    for (const buffer of buffers) buffer.destroy();
  });

  test('symbolic shapes: another length compiles nothing', async () => {
    const { device } = opened;
    const kernel = await kernelOf('increment');
    const before = device.counters().pipelinesCreated;
    for (const length of [1, 5, 64, 65, 5]) {
      const input = floatBuffer(
        device,
        Array.from({ length }, (_, i) => i),
      );
      const output = device.createBuffer(length * 4);
      kernel.launch([floatTensor(input, [length]), floatTensor(output, [length])]);
      expect(await readFloats(device, output)).toEqual(Array.from({ length }, (_, i) => i + 1));
      input.destroy();
      output.destroy();
    }
    expect(device.counters().pipelinesCreated).toBe(before);
  });

  test('more lengths than plans are kept for reuse parameter memory in order', async () => {
    const { device } = opened;
    const kernel = await kernelOf('increment');
    const input = floatBuffer(device, new Array<number>(300).fill(1));
    const outputs = Array.from({ length: 200 }, (_, i) => device.createBuffer((i + 1) * 4));
    for (const [i, output] of outputs.entries()) {
      kernel.launch([floatTensor(input, [i + 1]), floatTensor(output, [i + 1])]);
    }
    const results = await device.read(
      outputs.map((buffer) => ({ buffer, byteOffset: 0, byteLength: buffer.byteLength })),
    );
    for (const [i, bytes] of results.entries()) {
      expect([...new Float32Array(bytes.buffer)]).toEqual(new Array<number>(i + 1).fill(2));
    }
    for (const buffer of [input, ...outputs]) buffer.destroy();
  });

  test('tensors without elements launch nothing or bind an empty range', async () => {
    const { device } = opened;
    const increment = await kernelOf('increment');
    const nothing = device.createBuffer(0);
    const before = device.counters().launches;
    increment.launch([floatTensor(nothing, [0]), floatTensor(nothing, [0])]);
    expect(device.counters().launches).toBe(before);

    const count = await kernelOf('count');
    const input = floatBuffer(device, [1, 2]);
    const output = device.createBuffer(8);
    count.launch([floatTensor(input, [2]), floatTensor(nothing, [0]), floatTensor(output, [2])]);
    expect(await readFloats(device, output)).toEqual([1, 2]);
    for (const buffer of [nothing, input, output]) buffer.destroy();
  });

  test('a write stays behind the launches before it', async () => {
    const { device } = opened;
    const kernel = await kernelOf('increment', 2);
    const input = floatBuffer(device, [1, 2]);
    const output = device.createBuffer(8);
    const second = device.createBuffer(8);
    kernel.launch([floatTensor(input, [2]), floatTensor(output, [2])]);
    device.write(input, 0, new Uint8Array(Float32Array.of(10, 20).buffer));
    kernel.launch([floatTensor(input, [2]), floatTensor(second, [2])]);
    expect(await readFloats(device, output)).toEqual([2, 3]);
    expect(await readFloats(device, second)).toEqual([11, 21]);
    for (const buffer of [input, output, second]) buffer.destroy();
  });

  test('copies keep their order with launches, also within one buffer', async () => {
    const { device } = opened;
    const kernel = await kernelOf('increment', 2);
    const input = floatBuffer(device, [1, 2]);
    const output = device.createBuffer(8);
    const copy = device.createBuffer(16);
    await device.synchronize();
    kernel.launch([floatTensor(input, [2]), floatTensor(output, [2])]);
    const range = { buffer: output, byteOffset: 0, byteLength: 8 };
    device.copy(range, { buffer: copy, byteOffset: 0, byteLength: 8 });
    device.copy(
      { buffer: copy, byteOffset: 0, byteLength: 8 },
      { buffer: copy, byteOffset: 4, byteLength: 8 },
    );
    input.destroy();
    output.destroy();
    expect(await readFloats(device, copy)).toEqual([2, 2, 3, 0]);
    copy.destroy();
  });

  test('a buffer may be destroyed while launches that use it are pending', async () => {
    const { device } = opened;
    const kernel = await kernelOf('increment', 2);
    const input = floatBuffer(device, [1, 2]);
    const output = device.createBuffer(8);
    const before = device.counters();
    kernel.launch([floatTensor(input, [2]), floatTensor(output, [2])]);
    input.destroy();
    input.destroy();
    expect(device.counters().buffersLive).toBe(before.buffersLive - 1);
    expect(device.counters().bytesLive).toBe(before.bytesLive - 8);
    expect(await readFloats(device, output)).toEqual([2, 3]);
    expect(() => device.write(input, 0, new Uint8Array(4))).toThrow('used after it was destroyed');
    output.destroy();
  });

  test('offsets view a part of a buffer', async () => {
    const { device } = opened;
    const kernel = await kernelOf('increment', 2);
    const input = device.createBuffer(512);
    device.write(input, 256, new Uint8Array(Float32Array.of(5, 6).buffer));
    const output = device.createBuffer(8);
    kernel.launch([floatTensor(input, [2], 256), floatTensor(output, [2])]);
    expect(await readFloats(device, output)).toEqual([6, 7]);
    input.destroy();
    output.destroy();
  });

  test('a profile names every launch, in order, with its time', async () => {
    const { device } = opened;
    const kernel = await kernelOf('scratch', 100);
    const input = floatBuffer(device, new Array<number>(100).fill(1));
    const output = device.createBuffer(400);
    const stop = await device.startProfile();
    for (let i = 0; i < 300; i++)
      kernel.launch([floatTensor(input, [100]), floatTensor(output, [100])]);
    const timings = await stop();
    expect(timings).toHaveLength(600);
    expect(timings.slice(0, 2)).toMatchObject([
      { primitive: 'scratch', label: 'increment', workgroups: [2, 1, 1] },
      { primitive: 'scratch', label: 'double', workgroups: [2, 1, 1] },
    ]);
    for (const { durationMs } of timings) expect(durationMs).toBeGreaterThanOrEqual(0);
    kernel.launch([floatTensor(input, [100]), floatTensor(output, [100])]);
    expect((await readFloats(device, output))[99]).toBe(4);
    input.destroy();
    output.destroy();
  });

  test('a profile that is asked for begins has them on the clock of this thread', async () => {
    const { device } = opened;
    const kernel = await kernelOf('increment', 2);
    const input = floatBuffer(device, [1, 2]);
    const output = device.createBuffer(8);
    const args = [floatTensor(input, [2]), floatTensor(output, [2])];
    const observer = (): void => undefined;
    device.events.observers.add(observer);
    const stop = await device.startProfile();
    device.events.observers.delete(observer);
    const before = performance.now();
    kernel.launch(args);
    await readFloats(device, output);
    const between = performance.now();
    kernel.launch(args);
    await readFloats(device, output);
    const after = performance.now();
    const begins = (await stop()).map(({ beginMs = Number.NaN }) => beginMs);
    expect(begins).toHaveLength(2);
    expect(begins[0]).toBeGreaterThanOrEqual(before);
    expect(begins[1]).toBeGreaterThanOrEqual(between);
    expect(begins[1]).toBeLessThanOrEqual(after);
    const plain = await device.startProfile();
    kernel.launch(args);
    expect((await plain())[0]).not.toHaveProperty('beginMs');
    input.destroy();
    output.destroy();
  });

  test('profiles that overlap each get the launches of their own time', async () => {
    const { device } = opened;
    const kernel = await kernelOf('increment', 2);
    const input = floatBuffer(device, [1, 2]);
    const output = device.createBuffer(8);
    const args = [floatTensor(input, [2]), floatTensor(output, [2])];
    const stopFirst = await device.startProfile();
    kernel.launch(args);
    const stopSecond = await device.startProfile();
    kernel.launch(args);
    expect(await stopFirst()).toHaveLength(2);
    kernel.launch(args);
    const second = await stopSecond();
    expect(second).toHaveLength(2);
    expect(await stopSecond()).toBe(second);
    kernel.launch(args);
    expect(await (await device.startProfile())()).toHaveLength(0);
    input.destroy();
    output.destroy();
  });

  test('ranges outside a buffer are bugs that are named', () => {
    const { device } = opened;
    const buffer = device.createBuffer(8);
    expect(() => device.write(buffer, 4, new Uint8Array(8))).toThrow(
      'internal: write bytes 4 + 8 of a buffer of 8 bytes',
    );
    expect(() => device.write(buffer, 2, new Uint8Array(4))).toThrow('not whole words');
    buffer.destroy();
  });

  test('scratch is in idle memory where there is enough, else it is made by the first launch', async () => {
    const { device } = await openTestDevice(await nodeGpu(), KERNELS);
    const idle = device.createBuffer(512);
    const asked: number[] = [];
    const find = (byteLength: number) => {
      asked.push(byteLength);
      return byteLength <= 512 ? idle : undefined;
    };
    const run = async (length: number) => {
      const kernels = await device.prepare([vectorPrimitive('scratch', { length })], {
        idle: { find },
      });
      const scratchBytes = () => device.counters().scratchBytes;
      const before = scratchBytes();
      const [a, y] = [device.createBuffer(length * 4), device.createBuffer(length * 4)];
      device.write(a, 0, new Uint8Array(Float32Array.from({ length }, (_, i) => i).buffer));
      const tensor = (buffer: DeviceBuffer): DeviceTensor => ({
        buffer,
        byteOffset: 0,
        dtype: 'float32',
        shape: [length],
      });
      kernels.get('scratch')?.launch([tensor(a), tensor(y)]);
      const [bytes = new Uint8Array()] = await device.read([
        { buffer: y, byteOffset: (length - 1) * 4, byteLength: 4 },
      ]);
      expect(new Float32Array(bytes.slice().buffer)).toEqual(Float32Array.of(length * 2));
      return { kernels, before, after: scratchBytes() };
    };
    const small = await run(100);
    expect(small).toMatchObject({ before: 0, after: 0 });
    const large = await run(300);
    expect(large).toMatchObject({ before: 0, after: 1200 });
    expect(await run(120)).toMatchObject({ before: 1200, after: 1200 });
    expect(asked).toEqual([400, 1200]);
    device.destroy();
  });

  test('disposing the last kernels frees the scratch memory', async () => {
    const { device } = await openTestDevice(await nodeGpu(), KERNELS);
    const kernels = await device.prepare([vectorPrimitive('scratch', { length: 50 })]);
    expect(device.counters().bytesLive).toBe(200);
    kernels.dispose();
    kernels.dispose();
    expect(device.counters().bytesLive).toBe(0);
    expect(kernels.get('scratch')).toBeUndefined();
    device.destroy();
  });
});
