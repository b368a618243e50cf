import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import {
  DeviceError,
  DeviceLostError,
  OutOfMemoryError,
  UnsupportedError,
} from '../../core/errors.ts';
import type { LaunchPlan } from '../../core/contracts/launch-plan.ts';
import { macrotask } from '../../core/async/macrotask.ts';
import { nodeGpu } from '../../testing/node-gpu.ts';
import type { Kernel } from '../device.ts';
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

/** Binds less than its shader declares, which WebGPU finds out when the pass is encoded. */
function tooSmallPlan(elementCount: number): LaunchPlan {
  const launch = vectorLaunch({ label: 'too_small', body: 'y[i] = a[i];', elementCount });
  const code = launch.code.replace('y: array<f32>', 'y: array<f32, 4096>');
  return { launches: [{ ...launch, code }], scratchByteLengths: [] };
}

function brokenPlan(elementCount: number): LaunchPlan {
  const launch = vectorLaunch({ label: 'broken', body: 'y[i] = missing(a[i]);', elementCount });
  return { launches: [launch], scratchByteLengths: [] };
}

/** Compiles for the lengths that preparing tries, and for no other. */
function laterBrokenPlan(elementCount: number): LaunchPlan {
  return elementCount === 77 ? brokenPlan(elementCount) : incrementPlan(elementCount);
}

const KERNELS = {
  increment: incrementPlan,
  too_small: tooSmallPlan,
  broken: brokenPlan,
  later_broken: laterBrokenPlan,
};

async function open(): Promise<TestDevice> {
  return openTestDevice(await nodeGpu(), KERNELS);
}

async function kernelOf({ device }: TestDevice, name: keyof typeof KERNELS): Promise<Kernel> {
  const kernel = (await device.prepare([vectorPrimitive(name)])).get(name);
  if (kernel === undefined) throw new Error(`no kernel ${name}`);
  return kernel;
}

async function errorOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('the promise did not reject');
}

describe('preparing', () => {
  test('names every kernel that cannot run before it compiles any', async () => {
    const { device } = await open();
    const error = await errorOf(
      device.prepare([
        vectorPrimitive('increment', { length: 3 }),
        vectorPrimitive('fft', { length: 8 }),
        vectorPrimitive('sort', { inputCount: 2 }),
      ]),
    );
    expect(error).toBeInstanceOf(UnsupportedError);
    expect(error.message.replace(device.info.name, 'ADAPTER')).toMatchInlineSnapshot(`
      "WebGPU (ADAPTER) cannot run 2 of 3 kernels:
        fft(float32[8]): no test kernel fft
        sort(float32[n], float32[n]): no test kernel sort
      Compile the program so that they run on the host device."
    `);
    expect(device.counters().pipelinesCreated).toBe(0);
    device.destroy();
  });

  test('quotes the line of a shader that does not compile', async () => {
    const { device } = await open();
    const error = await errorOf(device.prepare([vectorPrimitive('broken', { length: 3 })]));
    expect(error).toBeInstanceOf(DeviceError);
    expect(error.message).toMatchInlineSnapshot(`
      "shader broken does not compile: line 8:10: unresolved call target 'missing'
        y[i] = missing(a[i]);"
    `);
    await device.synchronize();
    device.destroy();
  });

  test('reports progress, and compiles equal code once', async () => {
    const { device } = await open();
    const steps: string[] = [];
    const primitives = ['increment', 'too_small'].flatMap((name) => [
      vectorPrimitive(name, { length: 3 }),
      vectorPrimitive(name, { length: 5 }),
    ]);
    await device.prepare(primitives, {
      onProgress: (done, total) => steps.push(`${done}/${total}`),
    });
    await device.prepare(primitives);
    expect(steps).toEqual(['0/2', '1/2', '2/2']);
    expect(device.counters().pipelinesCreated).toBe(2);
    device.destroy();
  });

  test('stops when it is aborted', async () => {
    const { device } = await open();
    const controller = new AbortController();
    const pending = device.prepare([vectorPrimitive('increment')], { signal: controller.signal });
    controller.abort();
    expect((await errorOf(pending)).name).toBe('AbortError');
    const late = device.prepare([vectorPrimitive('increment')], { signal: controller.signal });
    expect((await errorOf(late)).name).toBe('AbortError');
    await device.prepare([vectorPrimitive('increment')]);
    device.destroy();
  });
});

describe('a refused launch', () => {
  test('rejects every read of its work, and later reads of what it should have written', async () => {
    const opened = await open();
    const { device } = opened;
    const kernel = await kernelOf(opened, 'too_small');
    const input = floatBuffer(device, [1, 2]);
    const output = device.createBuffer(8);
    const other = floatBuffer(device, [3, 4]);
    kernel.launch([floatTensor(input, [2]), floatTensor(output, [2])]);
    const reads = [readFloats(device, output), readFloats(device, other), device.synchronize()];
    for (const error of await Promise.all(reads.map(errorOf))) {
      expect(error).toBeInstanceOf(DeviceError);
      expect(error.message).toContain('launch: the GPU refused:');
      expect(error.message).toContain('too_small');
    }
    expect((await errorOf(readFloats(device, output))).message).toContain('too_small');
    expect(await readFloats(device, other)).toEqual([3, 4]);
    device.write(output, 0, new Uint8Array(Float32Array.of(5, 6).buffer));
    expect(await readFloats(device, output)).toEqual([5, 6]);
    await device.synchronize();
    device.destroy();
  });

  test('also when its code is compiled during the run', async () => {
    const opened = await open();
    const { device } = opened;
    const kernel = await kernelOf(opened, 'later_broken');
    const input = floatBuffer(device, new Array<number>(77).fill(1));
    const output = device.createBuffer(77 * 4);
    kernel.launch([floatTensor(input, [77]), floatTensor(output, [77])]);
    const error = await errorOf(readFloats(device, output));
    expect(error).toBeInstanceOf(DeviceError);
    expect(error.message).toContain('shader broken');
    kernel.launch([floatTensor(input, [76]), floatTensor(output, [76])]);
    expect((await readFloats(device, output))[0]).toBe(2);
    device.destroy();
  });

  test('an output that is also an input is named at once', async () => {
    const opened = await open();
    const kernel = await kernelOf(opened, 'increment');
    const buffer = floatBuffer(opened.device, [1, 2]);
    const tensor = floatTensor(buffer, [2]);
    expect(() => kernel.launch([tensor, tensor])).toThrowErrorMatchingInlineSnapshot(
      `[DeviceError: increment: got one buffer that binding 1 reads and binding 2 writes, expected different storages for inputs and outputs of a kernel. Give the output a storage of its own.]`,
    );
    expect(await readFloats(opened.device, buffer)).toEqual([1, 2]);
    opened.device.destroy();
  });

  test('errors that no scope caught reach the next reader', async () => {
    const { device, gpuDevice } = await open();
    const buffer = floatBuffer(device, [1]);
    // The scopes of a write are open until its task is over.
    await Promise.resolve();
    const uncaptured = once(gpuDevice, 'uncapturederror');
    gpuDevice.createBuffer({ size: 4, usage: 0 });
    await uncaptured;
    const error = await errorOf(readFloats(device, buffer));
    expect(error).toBeInstanceOf(DeviceError);
    expect(error.message).toContain('WebGPU: the GPU refused:');
    device.destroy();
  });
});

describe('memory', () => {
  test('a buffer beyond the limit of the adapter is refused with the sizes', async () => {
    const { device } = await open();
    const limit = device.info.maxBufferByteLength;
    let thrown: unknown;
    try {
      device.createBuffer(limit + 16);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(OutOfMemoryError);
    expect(thrown).toHaveProperty('details', {
      requestedBytes: limit + 16,
      limitBytes: limit,
      liveBytes: 0,
    });
    expect(thrown).toHaveProperty(
      'message',
      `buffer: got a request for ${limit + 16} bytes, expected at most ${limit}, the largest buffer ` +
        `of ${device.info.name}. Use smaller inputs or a smaller batch.`,
    );
    device.destroy();
  });
});

describe('a lost device', () => {
  test('rejects pending calls and refuses later ones', async () => {
    const opened = await open();
    const { device, gpuDevice } = opened;
    const kernel = await kernelOf(opened, 'increment');
    const input = floatBuffer(device, [1]);
    const output = device.createBuffer(4);
    const args = [floatTensor(input, [1]), floatTensor(output, [1])];
    kernel.launch(args);
    const stop = await device.startProfile();
    const pending = [readFloats(device, output), device.synchronize()];
    gpuDevice.destroy();
    for (const call of pending) expect(await errorOf(call)).toBeInstanceOf(DeviceLostError);
    const lost = await device.lost;
    expect(lost).toBeInstanceOf(DeviceLostError);
    expect(lost.message).toMatch(
      /^WebGPU device: got a lost device \(.+\), at work on the kernels increment, expected a live one\./,
    );
    for (const call of [
      readFloats(device, output),
      device.synchronize(),
      stop(),
      device.prepare([]),
    ]) {
      expect(await errorOf(call)).toBe(lost);
    }
    expect(() => kernel.launch(args)).toThrow(lost);
    expect(() => device.createBuffer(4)).toThrow(lost);
    expect(() => device.write(input, 0, new Uint8Array(4))).toThrow(lost);
    expect(() => device.flush()).toThrow(lost);
    input.destroy();
    device.destroy();
  });

  test('destroying it ourselves does the same, twice without harm', async () => {
    const opened = await open();
    const { device, gpuDevice } = opened;
    const buffer = floatBuffer(device, [1]);
    const pending = readFloats(device, buffer);
    device.destroy();
    device.destroy();
    const error = await errorOf(pending);
    expect(error).toBeInstanceOf(DeviceLostError);
    expect(error.message).toContain('destroyed by its owner');
    expect(() => device.createBuffer(4)).toThrow('destroyed by its owner');
    const told: unknown[] = [];
    void device.lost.then((loss) => told.push(loss));
    await gpuDevice.lost;
    await macrotask();
    expect(told).toEqual([]);
  });
});
