import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ExecBuilder } from '../../bytecode/index.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { createWebGpuDevice } from '../../device/webgpu/index.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { PooledAllocator } from '../../runtime/allocator/pooled-allocator.ts';
import { TensorValue } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { nodeGpu } from '../../testing/node-gpu.ts';
import { SharedDevice } from '../devices/device-pool.ts';
import type { LoadRequest } from '../protocol/load-request.ts';
import { DeviceScheduler, type DeviceShare } from './device-scheduler.ts';
import { SessionSharing } from './session-sharing.ts';
import { SharedMemory } from './shared-memory.ts';
import { ShareTurns } from './shared-session.ts';

/** A launch of a millisecond that nothing is known of: how many make a batch at first. */
const BATCH = 16;
const WEIGHT = HostTensor.from('float32', [3], [1, 2, 3]);

/** `main(x, steps)` adds a constant to x so many times. */
function adder() {
  const b = new ExecBuilder();
  const type = { dtype: 'float32', shape: [3] } as const;
  const body = [{ op: 'add', inputs: [0, 1], attributes: {} }];
  b.primitive({ name: 'add', params: [type, type], body, results: [{ value: 2, type }] });
  const f = b.function('main', ['x', 'steps']);
  const [sum, left, top, done] = [f.fresh(), f.fresh(), f.label(), f.label()];
  f.call('vm.builtin.move', [f.param('x')], { into: sum });
  f.call('vm.builtin.move', [f.param('steps')], { into: left });
  f.place(top);
  f.if(left, done);
  const storage = f.call('vm.builtin.alloc_storage', [12, 0]);
  const shape = b.shape([3]);
  const out = f.call('vm.builtin.alloc_tensor', [storage, 0, shape, b.dtype('float32')]);
  f.call('add', [sum, b.tensor(WEIGHT), out], { into: f.void });
  f.call('vm.builtin.move', [out], { into: sum });
  f.call('vm.builtin.int_sub', [left, 1], { into: left });
  f.goto(top);
  f.place(done);
  f.ret(sum);
  return b.build();
}

const x = HostTensor.from('float32', [3], [10, 20, 30]);
const expected = (steps: number) => [10 + steps, 20 + 2 * steps, 30 + 3 * steps];

describe('machines that take turns', () => {
  let device: Device;
  beforeAll(async () => {
    device = await createWebGpuDevice({ gpu: await nodeGpu(), operators: CORE_OPERATORS });
  });
  afterAll(() => device.destroy());

  /** Machines on one device, with a clock on which a launch takes a millisecond. */
  async function machines(count: number) {
    const launches = (): number => device.counters().launches;
    const scheduler = new DeviceScheduler({ device, now: launches });
    const memory = new SharedMemory(device, { byteBudget: 1 << 20, onShortage: () => undefined });
    const made: { readonly vm: VirtualMachine; readonly share: DeviceShare }[] = [];
    for (let i = 0; i < count; i++) {
      const vm = await VirtualMachine.create(adder(), {
        devices: [device, createHostDevice()],
        createAllocator: (own) => (own === device ? memory.allocator() : new PooledAllocator(own)),
      });
      const share = scheduler.join(1);
      vm.internals().runner.turns = new ShareTurns(share);
      made.push({ vm, share });
    }
    const dispose = (): void => {
      for (const { vm } of made) vm.dispose();
      memory.pool.dispose();
    };
    return { made, launches, memory, dispose };
  }

  async function run(vm: VirtualMachine, steps: number, signal?: AbortSignal): Promise<number[]> {
    const result = await vm.invoke('main', [x, steps], { signal });
    if (!(result instanceof TensorValue)) throw new Error('no tensor');
    const [read] = await vm.read([result]);
    vm.release(result);
    return Array.from(read?.data ?? [], Number);
  }

  test('a short run beside a long one waits for as many batches as it has, and one', async () => {
    const { made, dispose } = await machines(2);
    const [long, short] = made;
    if (long === undefined || short === undefined) throw new Error('no machines');
    const running = run(long.vm, 1200);
    while (long.share.batches < 5) await new Promise((resolve) => setTimeout(resolve, 0));
    const before = long.share.batches;
    expect(await run(short.vm, 3 * BATCH)).toEqual(expected(3 * BATCH));
    const waited = long.share.batches - before;
    expect(waited).toBeGreaterThan(0);
    expect(waited).toBeLessThanOrEqual(short.share.batches + 1);
    expect(await running).toEqual(expected(1200));
    expect(long.share.batches).toBeGreaterThanOrEqual(1200 / 2 / BATCH);
    dispose();
  });

  test('a run that is aborted launches nothing more', async () => {
    const { made, launches, dispose } = await machines(2);
    const [long, short] = made;
    if (long === undefined || short === undefined) throw new Error('no machines');
    const stop = new AbortController();
    const running = run(long.vm, 100_000, stop.signal);
    while (long.share.batches < 5) await new Promise((resolve) => setTimeout(resolve, 0));
    const begin = launches();
    stop.abort();
    await expect(running).rejects.toHaveProperty('name', 'AbortError');
    expect(await run(short.vm, 5)).toEqual(expected(5));
    expect(launches() - begin).toBe(5);
    expect(long.vm.memory().liveBytes).toBe(0);
    dispose();
  });

  test('replays go batch by batch too, with others in between', async () => {
    const { made, dispose } = await machines(3);
    for (let round = 0; round < 8; round++) {
      const steps = 100;
      const results = await Promise.all(made.map(({ vm }) => run(vm, steps)));
      expect(results).toEqual(made.map(() => expected(steps)));
    }
    for (const { vm, share } of made) {
      const before = share.batches;
      for (let i = 0; i < 4; i++) expect(await run(vm, 100)).toEqual(expected(100));
      const { replayed } = vm.replays();
      expect(replayed).toBeGreaterThan(0);
      expect(share.batches - before).toBeGreaterThanOrEqual((4 * 100) / 2 / BATCH);
    }
    const replays = made.map(({ vm }) => vm.replays().replayed);
    const together = made.flatMap(({ vm }) => [run(vm, 100), run(vm, 100)]);
    expect(await Promise.all(together)).toEqual(together.map(() => expected(100)));
    expect(made.some(({ vm }, i) => vm.replays().replayed > (replays[i] ?? 0))).toBe(true);
    dispose();
  });

  test('a replay that is aborted between two batches leaves no buffer behind', async () => {
    const { made, dispose } = await machines(1);
    const [only] = made;
    if (only === undefined) throw new Error('no machine');
    for (let i = 0; i < 4; i++) await run(only.vm, 400);
    const { replayed } = only.vm.replays();
    expect(replayed).toBeGreaterThan(0);
    const stop = new AbortController();
    const before = only.share.batches;
    const running = run(only.vm, 400, stop.signal);
    while (only.share.batches < before + 3) await new Promise((resolve) => setTimeout(resolve, 0));
    stop.abort();
    await expect(running).rejects.toHaveProperty('name', 'AbortError');
    expect(only.vm.replays().replayed).toBe(replayed);
    expect(only.vm.memory().liveBytes).toBe(0);
    expect(await run(only.vm, 400)).toEqual(expected(400));
    dispose();
  });

  test('machines share buffers that are free', async () => {
    const { made, memory, dispose } = await machines(4);
    for (const { vm } of made) await run(vm, 10);
    const { pooledBytes } = memory.pool.counters();
    expect(pooledBytes).toBeLessThanOrEqual(4 * 256);
    dispose();
  });

  test('recordings go when weights do, and come again', async () => {
    const request: LoadRequest = {
      source: { kind: 'bytes', bytes: adder().toBytes() },
      device: 'webgpu',
      dims: {},
    };
    const executable = adder();
    const devices = { main: new SharedDevice(device), host: new SharedDevice(createHostDevice()) };
    const sharing = new SessionSharing({
      openDevices: async () => devices,
      createMachine: (program, { main, host }, options) =>
        VirtualMachine.create(program, { ...options, devices: [main.device, host.device] }),
    });
    const { data, ...program } = executable;
    async function* blocks() {
      yield { byteOffset: 0, bytes: data };
    }
    const loaded = { executable: program, blocks: blocks() };
    const owner = { faults: 0 };
    const shared = await sharing.share({ request, program: loaded, owner }, devices);
    const { signal } = new AbortController();
    const options = { ...(await shared.begin(signal)), devices: [device, devices.host.device] };
    const vm = await VirtualMachine.create(program, options);
    shared.loaded({ machine: vm, replace: () => undefined });
    const ask = () => shared.use(() => run(vm, 5), undefined);
    for (let i = 0; i < 5; i++) expect(await ask()).toEqual(expected(5));
    const before = vm.replays();
    expect(before.replayed).toBeGreaterThan(0);
    shared.evict();
    expect(vm.memory().constantBytes).toBe(0);
    expect(await ask()).toEqual(expected(5));
    expect(vm.replays()).toMatchObject({
      replayed: before.replayed,
      interpreted: before.interpreted + 1,
    });
    for (let i = 0; i < 3; i++) expect(await ask()).toEqual(expected(5));
    expect(vm.replays().replayed).toBeGreaterThan(before.replayed);
    vm.dispose();
    await shared.dispose();
  });
});
