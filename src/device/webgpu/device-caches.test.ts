import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodeGpu } from '../../testing/node-gpu.ts';
import { openAdapter } from './adapter.ts';
import { BindGroupCache, type BindGroupQuery } from './kernels/bind-group-cache.ts';
import { BufferTable } from './memory/buffers.ts';
import { DeviceFaults } from './faults/device-faults.ts';
import { ParamArena } from './memory/param-arena.ts';
import { CompilationLog } from '../device-events.ts';
import {
  type CachedPipeline,
  MAX_IDLE_PIPELINES,
  PipelineCache,
} from './kernels/pipeline-cache.ts';
import { incrementPlan } from './testing/test-device.ts';

describe('caches of a device', () => {
  let device: GPUDevice;
  let faults: DeviceFaults;
  let buffers: BufferTable;
  beforeAll(async () => {
    ({ device } = await openAdapter({ gpu: await nodeGpu() }));
    faults = new DeviceFaults(device);
    buffers = new BufferTable(device, faults, 'test adapter');
  });
  afterAll(() => device.destroy());

  async function incrementPipeline(cache: PipelineCache) {
    const [launch] = incrementPlan(4).launches;
    if (launch === undefined) throw new Error('no launch');
    return cache.compile(launch);
  }

  test('equal code is compiled once, also when asked for at the same time', async () => {
    const cache = new PipelineCache(device, faults, new CompilationLog('test'));
    const [first, second] = await Promise.all([incrementPipeline(cache), incrementPipeline(cache)]);
    expect(second).toBe(first);
    expect(await incrementPipeline(cache)).toBe(first);
    expect(cache.created).toBe(1);
  });

  test('loading and disposing of 1,000 programs keeps few pipelines', async () => {
    const [launch] = incrementPlan(4).launches;
    if (launch === undefined) throw new Error('no launch');
    const cache = new PipelineCache(withoutCompiler(device), faults, new CompilationLog('test'));
    const load = async (program: string): Promise<CachedPipeline[]> => {
      const sources = [0, 1, 2].map((i) => ({
        ...launch,
        code: `// ${program} ${i}\n${launch.code}`,
      }));
      const pipelines = await Promise.all(sources.map((source) => cache.compile(source)));
      for (const pipeline of pipelines) cache.retain(pipeline);
      return pipelines;
    };
    const kept = await load('kept');
    for (let i = 0; i < 1000; i++) {
      const pipelines = await load(`program ${i}`);
      expect(cache.live).toBeLessThanOrEqual(kept.length + pipelines.length + MAX_IDLE_PIPELINES);
      for (const pipeline of pipelines) cache.release(pipeline);
    }
    expect(cache.live).toBe(kept.length + MAX_IDLE_PIPELINES);
    expect(cache.created).toBe(3003);
    // Programs that are loaded or were loaded last are found again, older ones are not.
    expect(await load('kept')).toEqual(kept);
    await load('program 999');
    expect(cache.created).toBe(3003);
    await load('program 0');
    expect(cache.created).toBe(3006);
  });

  test('all pipelines of a large program stay, also those compiled before others', async () => {
    const [launch] = incrementPlan(4).launches;
    if (launch === undefined) throw new Error('no launch');
    const cache = new PipelineCache(withoutCompiler(device), faults, new CompilationLog('test'));
    const count = 2 * MAX_IDLE_PIPELINES;
    const sources = Array.from({ length: count }, (_, i) => ({
      ...launch,
      code: `// ${i}\n${launch.code}`,
    }));
    const pipelines = await Promise.all(sources.map((source) => cache.compile(source)));
    for (const pipeline of pipelines) cache.retain(pipeline);
    expect(cache.live).toBe(count);
    for (const pipeline of pipelines) cache.release(pipeline);
    expect(cache.live).toBe(MAX_IDLE_PIPELINES);
  });

  test('bind groups are found again, go with their buffers, and are bounded in number', async () => {
    const { layout } = await incrementPipeline(
      new PipelineCache(device, faults, new CompilationLog('test')),
    );
    const arena = new ParamArena({ queue: device.queue, buffers, faults, flush: () => undefined });
    const { page, byteLength } = arena.acquire(Uint32Array.of(4));
    const cache = new BindGroupCache(device, 4);
    const input = buffers.create(16, 'input');
    const outputs = Array.from({ length: 6 }, () => buffers.create(512, 'output'));
    const query = (index: number, byteOffset = 0): BindGroupQuery => ({
      label: 'increment',
      layout,
      page,
      paramByteLength: byteLength,
      buffers: [input, outputs[index] ?? input],
      byteOffsets: [0, byteOffset],
      byteLengths: [16, 16],
      writes: [false, true],
    });

    const group = cache.get(query(0));
    expect(cache.get(query(0))).toBe(group);
    expect(cache.get(query(0, 256))).not.toBe(group);
    expect(cache.size).toBe(2);

    outputs[0]?.destroy();
    expect(cache.size).toBe(0);
    expect(input.users.size).toBe(0);

    const kept = cache.get(query(1));
    for (const index of [2, 3, 4]) cache.get(query(index));
    expect(cache.get(query(1))).toBe(kept);
    cache.get(query(5));
    expect(cache.size).toBe(3);
    expect(cache.get(query(1))).toBe(kept);
    expect(cache.created).toBe(7);

    input.destroy();
    expect(cache.size).toBe(0);
    await faults.settle(faults.serial);
  });

  test('parameters of equal content share a slot, which is reused when nobody needs it', () => {
    let flushes = 0;
    const arena = new ParamArena({ queue: device.queue, buffers, faults, flush: () => flushes++ });
    const first = arena.acquire(Uint32Array.of(1, 2));
    expect(arena.acquire(Uint32Array.of(1, 2))).toBe(first);
    const second = arena.acquire(Uint32Array.of(3));
    expect(second.byteOffset).toBe(256);
    const long = arena.acquire(new Uint32Array(65));
    expect([long.byteOffset, long.byteLength]).toEqual([512, 512]);

    arena.release(first);
    expect(arena.acquire(Uint32Array.of(4)).byteOffset).toBe(1024);
    arena.release(first);
    expect(flushes).toBe(0);
    expect(arena.acquire(Uint32Array.of(5)).byteOffset).toBe(first.byteOffset);
    expect(flushes).toBe(1);
    expect(() => arena.release(first)).toThrow('released twice');
    expect(() => arena.acquire(new Uint32Array(20_000))).toThrow(
      '80128 bytes of launch parameters',
    );

    for (let i = 0; i < 300; i++) arena.acquire(Uint32Array.of(6, i));
    const next = arena.acquire(Uint32Array.of(7));
    expect(next.page).not.toBe(second.page);
    arena.destroy();
  });
});

/** A device that compiles nothing: what is counted is what the cache holds. */
function withoutCompiler(device: GPUDevice): GPUDevice {
  const stubs: Readonly<Record<string | symbol, unknown>> = {
    createComputePipelineAsync: () => Promise.resolve({}),
    createShaderModule: () => ({}),
    pushErrorScope: () => undefined,
    popErrorScope: () => Promise.resolve(null),
  };
  return new Proxy(device, {
    get(target, name) {
      if (name in stubs) return stubs[name];
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => Reflect.apply(value, target, args);
    },
  });
}
