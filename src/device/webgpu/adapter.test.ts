import { describe, expect, test } from 'vitest';
import { DeviceError } from '../../core/errors.ts';
import { macrotask } from '../../core/async/macrotask.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { nodeGpu } from '../../testing/node-gpu.ts';
import { openAdapter } from './adapter.ts';

describe('openAdapter', () => {
  test('requests what the adapter really has', async () => {
    const gpu = await nodeGpu();
    const adapter = await gpu.requestAdapter();
    const { device, caps, info } = await openAdapter({ gpu });
    expect(device.limits.maxBufferSize).toBe(adapter?.limits.maxBufferSize);
    expect(info.maxBufferByteLength).toBe(adapter?.limits.maxBufferSize);
    expect(caps.maxStorageBuffersPerShaderStage).toBe(
      adapter?.limits.maxStorageBuffersPerShaderStage,
    );
    expect(caps.shaderF16).toBe(adapter?.features.has('shader-f16'));
    expect(caps.subgroups).toBe(adapter?.features.has('subgroups'));
    expect(caps.subgroupMinSize > 0).toBe(caps.subgroups);
    device.destroy();
  });

  test('takes another class on request', async () => {
    const opened = await openAdapter({ gpu: await nodeGpu(), adapterClass: 'discrete' });
    expect(opened.caps.adapterClass).toBe('discrete');
    expect(opened.info.adapterClass).toBe('discrete');
    opened.device.destroy();
  });

  test('says what is missing', async () => {
    await expect(openAdapter({ gpu: undefined })).rejects.toThrowErrorMatchingInlineSnapshot(
      `[DeviceError: WebGPU: got no \`gpu\` object, expected \`navigator.gpu\`. Use a browser with WebGPU over https or localhost, or the host device.]`,
    );
    const bare = { requestAdapter: () => Promise.resolve(null) };
    const withoutAdapter = openAdapter({ gpu: bare as unknown as GPU });
    await expect(withoutAdapter).rejects.toThrowErrorMatchingInlineSnapshot(
      `[DeviceError: WebGPU: got no adapter, expected a GPU or a software adapter. Install a driver for Vulkan (on Debian mesa-vulkan-drivers), or name one in VK_DRIVER_FILES. The host device works everywhere.]`,
    );
    await expect(withoutAdapter).rejects.toBeInstanceOf(DeviceError);
    const broken = {
      info: { vendor: 'acme', architecture: '', device: '', description: '' },
      features: new Set<string>(),
      limits: {},
      requestDevice: () => Promise.reject(new TypeError('too many limits')),
    };
    const failing = { requestAdapter: () => Promise.resolve(broken as unknown as GPUAdapter) };
    await expect(
      openAdapter({ gpu: failing as unknown as GPU }),
    ).rejects.toThrowErrorMatchingInlineSnapshot(
      `[DeviceError: WebGPU adapter acme: got no device (too many limits), expected one with the limits that the adapter offers. Reload the page; after a crash of the GPU process the browser may need a restart.]`,
    );
  });
});

describe('an adapter that does not answer', () => {
  const NO_DEVICE =
    "WebGPU: got no working device in 20 ms: the GPU's driver is stuck, expected an adapter and a device. Restart this process, or use the host device.";

  /** WebGPU whose adapter comes when the test says so, with devices that tell what is done to them. */
  function slowGpu() {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const events: string[] = [];
    const requestDevice = async () => {
      events.push('made');
      const limits = { maxBufferSize: 4 };
      return { features: new Set<string>(), limits, destroy: () => events.push('destroyed') };
    };
    const adapter = {
      info: { vendor: '', architecture: '', device: '', description: '' },
      features: new Set<string>(),
      limits: {},
      requestDevice,
    };
    const requestAdapter = async () => {
      events.push('asked');
      await answered;
      return adapter;
    };
    return { gpu: { requestAdapter } as unknown as GPU, answer, events };
  }

  /** The error of who waits for 20 milliseconds. */
  async function impatient(gpu: GPU): Promise<unknown> {
    const clock = new FakeClock();
    const opening = openAdapter({ gpu, clock, deviceTimeout: 20 });
    return clock.advanceUntil(opening, 20).catch((error: unknown) => error);
  }

  test('is given up in time, and its device destroyed when it comes after all', async () => {
    const { gpu, answer, events } = slowGpu();
    const error = await impatient(gpu);
    expect(error).toBeInstanceOf(DeviceError);
    expect(String(error)).toContain(NO_DEVICE);
    expect(events).toEqual(['asked']);
    answer();
    await macrotask();
    expect(events).toEqual(['asked', 'made', 'destroyed']);
  });

  test('is asked once: who comes next waits for the same device', async () => {
    const { gpu, answer, events } = slowGpu();
    for (let i = 0; i < 2; i++) expect(String(await impatient(gpu))).toContain(NO_DEVICE);
    const next = openAdapter({ gpu, clock: new FakeClock() });
    answer();
    expect((await next).info.maxBufferByteLength).toBe(4);
    await macrotask();
    expect(events).toEqual(['asked', 'made']);
  });
});
