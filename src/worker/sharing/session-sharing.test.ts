import { afterEach, describe, expect, test, vi } from 'vitest';
import { ExecBuilder } from '../../bytecode/index.ts';
import { Deferred } from '../../core/async/deferred.ts';
import { DeviceLostError, errorFromData, OutOfMemoryError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { LaunchOwner } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import type { HostFunction } from '../../runtime/index.ts';
import type { LoadRequest } from '../protocol/load-request.ts';
import type { Reply, SessionId } from '../protocol/reply.ts';
import type { WireResult, WireValue } from '../protocol/wire-value.ts';
import { pooledDevices } from '../devices/pooled-devices.ts';
import { SessionHost } from '../host/session-host.ts';
import { addWeights } from '../testing/test-programs.ts';

const SIZE = 256;
const WEIGHT_BYTES = SIZE * 4;

/** A worker whose devices can be taken away. */
class World {
  readonly host: SessionHost;
  /** How many bytes each device has. */
  capacity = Number.POSITIVE_INFINITY;
  /** So many devices to come are lost when something is read from them. */
  doomed = 0;
  /** The faults that the session that was loaded there last gets when such a device goes. */
  faults = 0;
  readonly #lose: ((error: DeviceLostError) => void)[] = [];
  #call = 1;

  constructor(functions: Readonly<Record<string, HostFunction>> = {}) {
    this.host = new SessionHost({
      functions,
      devices: pooledDevices(async () => {
        const device = createHostDevice();
        const createBuffer = device.createBuffer.bind(device);
        device.createBuffer = (byteLength) => {
          if (device.counters().bytesLive + byteLength <= this.capacity)
            return createBuffer(byteLength);
          throw new OutOfMemoryError('the device is full');
        };
        const lost = new Promise<DeviceLostError>((resolve) => this.#lose.push(resolve));
        let owner: LaunchOwner | undefined;
        const prepare = device.prepare.bind(device);
        device.prepare = (primitives, options) => {
          owner = options?.owner;
          return prepare(primitives, options);
        };
        const read = async (): Promise<never> => {
          if (owner !== undefined) owner.faults += this.faults;
          await this.lose();
          return new Promise(() => undefined);
        };
        if (this.doomed-- > 0) Object.defineProperty(device, 'read', { value: read });
        return Object.defineProperty(device, 'lost', { value: lost });
      }),
    });
  }

  get devicesMade(): number {
    return this.#lose.length;
  }

  /** Takes the newest device away. */
  async lose(): Promise<void> {
    this.#lose.at(-1)?.(new DeviceLostError('gone'));
    await settled();
  }

  async load(bytes: Uint8Array, options: Partial<LoadRequest> = {}): Promise<SessionId> {
    const source = { kind: 'bytes', bytes } as const;
    const request = { source, device: 'host', dims: {}, ...options } as const;
    const { session } = valueOf(await this.host.load(this.#call++, request, undefined));
    return session;
  }

  async run(session: SessionId, args: readonly WireValue[], keep: 'host' | 'device' = 'host') {
    const request = { session, functionName: 'main', args, keep };
    return valueOf(await this.host.run(this.#call++, request));
  }

  /** Runs `addWeights` and checks what it gives. */
  async check(session: SessionId, seed: number): Promise<void> {
    const [result] = await this.run(session, [filled(seed)]);
    const expected = Float32Array.from({ length: SIZE }, (_, i) => (i % 1000) + seed);
    expect(result?.value).toMatchObject({ kind: 'tensor', data: expected });
  }

  async sharing(session: SessionId) {
    const { sharing } = valueOf(await this.host.memory(this.#call++, session));
    if (sharing === undefined) throw new Error('the session shares nothing');
    return sharing;
  }

  async dispose(session: SessionId): Promise<void> {
    valueOf(await this.host.dispose(this.#call++, session));
  }
}

function valueOf<T>(reply: Reply<T>): T {
  if (reply.ok) return reply.value;
  throw errorFromData(reply.error);
}

function filled(seed: number): WireValue {
  const data = new Float32Array(SIZE).fill(seed);
  return { kind: 'tensor', dtype: 'float32', shape: [1, SIZE], data };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

/** `main(x)` calls JavaScript, and returns x with the weight of one element. */
function callsJavaScript(): Uint8Array {
  const b = new ExecBuilder();
  const f = b.function('main', ['x']);
  f.call('test.wait', [f.param('x')], { into: f.void });
  const weight = b.tensor(HostTensor.from('float32', [1], [1]));
  f.ret(f.call('vm.builtin.make_tuple', [f.param('x'), weight]));
  return b.build().toBytes();
}

afterEach(() => vi.unstubAllGlobals());

describe('a device that is lost', () => {
  test('is replaced; sessions come back whether their weights were there or not', async () => {
    const world = new World();
    await world.host.configure({ memoryBudget: 4 * WEIGHT_BYTES });
    const sessions: SessionId[] = [];
    for (let i = 0; i < 4; i++) sessions.push(await world.load(addWeights(SIZE).toBytes()));
    for (const [i, session] of sessions.entries()) await world.check(session, i);
    const before = await Promise.all(sessions.map((session) => world.sharing(session)));
    expect(before.map(({ isResident }) => isResident)).toEqual([false, false, true, true]);
    const made = world.devicesMade;
    await world.lose();
    for (const [i, session] of sessions.entries()) await world.check(session, i + 10);
    const after = await Promise.all(sessions.map((session) => world.sharing(session)));
    expect(after.map(({ rebuilds, retries }) => [rebuilds, retries])).toEqual(
      sessions.map(() => [1, 0]),
    );
    expect(world.devicesMade).toBe(made + 1);
    for (const { peakHeldBytes } of after) expect(peakHeldBytes).toBeLessThanOrEqual(4 * 1024);
    for (const session of sessions) await world.dispose(session);
  });

  test('has runs under way begin again, once', async () => {
    const world = new World();
    world.doomed = 1;
    await world.host.configure({});
    const session = await world.load(addWeights(SIZE).toBytes());
    await Promise.all([1, 2, 3].map((seed) => world.check(session, seed)));
    const { rebuilds, retries } = await world.sharing(session);
    expect([rebuilds, retries]).toEqual([1, 1]);
    await world.dispose(session);
  });

  test('is not tried again by the session whose kernels made it stop, but by others', async () => {
    const world = new World();
    world.doomed = 1;
    world.faults = 2;
    await world.host.configure({});
    const innocent = await world.load(addWeights(SIZE).toBytes());
    const culprit = await world.load(addWeights(SIZE).toBytes());
    await expect(world.check(culprit, 1)).rejects.toThrow('gone');
    for (const _ of [1, 2]) {
      const running = world.check(culprit, 2);
      await expect(running).rejects.toBeInstanceOf(DeviceLostError);
      await expect(running).rejects.toThrow('gone');
    }
    expect(await world.sharing(culprit)).toMatchObject({ rebuilds: 0, retries: 0 });
    expect(world.devicesMade).toBe(1);
    await world.check(innocent, 3);
    expect(await world.sharing(innocent)).toMatchObject({ rebuilds: 1, retries: 0 });
    await world.dispose(culprit);
    await world.dispose(innocent);
  });

  test('gives a session up when that happens twice by itself with no run in between', async () => {
    const world = new World();
    world.faults = 1;
    await world.host.configure({});
    for (const losses of [1, 2]) {
      world.doomed = 1;
      const session = await world.load(addWeights(SIZE).toBytes());
      // The device goes once, and then the run ends.
      await world.check(session, 1);
      world.doomed = losses;
      await world.lose();
      const running = world.check(session, 2);
      if (losses === 1) await running;
      else await expect(running).rejects.toThrow('gone');
      const later = world.check(session, 3);
      if (losses === 1) await later;
      else await expect(later).rejects.toThrow('gone');
      await world.dispose(session);
    }
  });

  test('does not make JavaScript run twice', async () => {
    let calls = 0;
    const called = new Deferred();
    const gate = new Deferred();
    const wait: HostFunction = async () => {
      calls++;
      called.resolve();
      await gate.promise;
      return null;
    };
    const world = new World({ 'test.wait': wait });
    const session = await world.load(callsJavaScript(), { priority: 1 });
    const running = world.run(session, [filled(1)]);
    await called.promise;
    const rejected = expect(running).rejects.toThrow('gone');
    await world.lose();
    await rejected;
    gate.resolve();
    expect(await world.run(session, [filled(1)])).toHaveLength(1);
    expect(calls).toBe(2);
    expect(await world.sharing(session)).toMatchObject({ rebuilds: 1, retries: 0 });
    await world.dispose(session);
  });

  test('takes tensors along that were kept on it', async () => {
    const world = new World();
    const session = await world.load(addWeights(SIZE).toBytes(), { pin: true });
    const [kept] = await world.run(session, [filled(0)], 'device');
    if (kept?.value.kind !== 'handle') throw new Error('no handle');
    await world.run(session, [kept.value]);
    await world.lose();
    const late = world.run(session, [kept.value]);
    await expect(late).rejects.toThrow('The DeviceTensor was lost with its device.');
    await world.check(session, 5);
    await world.dispose(session);
  });

  test('rejects when the next one is lost in the same run', async () => {
    const world = new World();
    world.doomed = 2;
    const session = await world.load(addWeights(SIZE).toBytes(), { priority: 1 });
    await expect(world.check(session, 1)).rejects.toThrow('gone');
    await world.check(session, 2);
    const { rebuilds, retries } = await world.sharing(session);
    expect([rebuilds, retries]).toEqual([2, 1]);
    await world.dispose(session);
  });
});

describe('weights', () => {
  test('go to the private files of the origin, which are removed with the session', async () => {
    const { storage, files } = originStorage();
    vi.stubGlobal('navigator', { storage });
    files.set('left by a worker that is gone', new Uint8Array(1));
    const world = new World();
    await world.host.configure({ memoryBudget: 3 * WEIGHT_BYTES });
    const sessions = [
      await world.load(addWeights(SIZE).toBytes()),
      await world.load(addWeights(SIZE).toBytes()),
    ];
    expect(files.size).toBe(2);
    for (let i = 0; i < 4; i++) for (const session of sessions) await world.check(session, i);
    expect(await world.sharing(sessions[0] ?? 0)).toMatchObject({ hits: 1, restores: 3 });
    for (const session of sessions) await world.dispose(session);
    await settled();
    expect(files.size).toBe(0);
  });

  test('that do not fit beside pinned ones are refused, and so is a priority of 0', async () => {
    const world = new World();
    await world.host.configure({ memoryBudget: 1.5 * WEIGHT_BYTES });
    const pinned = await world.load(addWeights(SIZE).toBytes(), { pin: true });
    await expect(world.load(addWeights(SIZE).toBytes())).rejects.toThrow(
      'a request of 1024 bytes with 0 live, 0 pooled and 1024 in constants, expected at most 1536',
    );
    await expect(world.load(addWeights(SIZE).toBytes(), { priority: 0 })).rejects.toThrow(
      'Session.load, priority: got 0, expected a number above 0',
    );
    await world.dispose(pinned);
    const session = await world.load(addWeights(SIZE).toBytes());
    expect(await world.sharing(session)).toMatchObject({ heldBytes: WEIGHT_BYTES });
    await world.dispose(session);
  });

  test('make room on a device that has less memory than the budget says', async () => {
    const world = new World();
    await world.host.configure({});
    const sessions: SessionId[] = [];
    for (let i = 0; i < 4; i++) sessions.push(await world.load(addWeights(SIZE).toBytes()));
    world.capacity = 4 * WEIGHT_BYTES;
    for (let i = 0; i < 3; i++) for (const session of sessions) await world.check(session, i);
    const seen = await Promise.all(sessions.map((session) => world.sharing(session)));
    expect(seen.reduce((sum, { retries }) => sum + retries, 0)).toBeGreaterThan(0);
    for (const session of sessions) await world.dispose(session);
  });

  test.each([2, 6])('keep to a budget that becomes smaller, %i sessions', async (count) => {
    const world = new World();
    await world.host.configure({ memoryBudget: 10 * WEIGHT_BYTES });
    const sessions: number[] = [];
    while (sessions.length < count) sessions.push(await world.load(addWeights(SIZE).toBytes()));
    for (const session of sessions) await world.check(session, 1);
    await world.host.configure({ memoryBudget: 3 * WEIGHT_BYTES });
    expect((await world.sharing(sessions[0] ?? 0)).heldBytes).toBeLessThanOrEqual(3 * 1024);
    for (const session of sessions) await world.check(session, 2);
    for (const session of sessions) await world.dispose(session);
  });
});

test('a handle that is disposed of while a run with it waits is still good for the run', async () => {
  const world = new World();
  await world.host.configure({ memoryBudget: 20 * WEIGHT_BYTES });
  const session = await world.load(addWeights(SIZE).toBytes());
  const [kept] = await world.run(session, [filled(3)], 'device');
  if (kept?.value.kind !== 'handle') throw new Error('no handle');
  const running: Promise<readonly WireResult[]> = world.run(session, [kept.value]);
  await world.host.release(session, kept.value.handle);
  const [result] = await running;
  expect(result?.value).toMatchObject({ kind: 'tensor' });
  await settled();
  await expect(world.run(session, [kept.value])).rejects.toThrow('a handle that was disposed of');
  await world.dispose(session);
});

/** Files of an origin in memory, as a worker sees them. */
function originStorage() {
  const files = new Map<string, Uint8Array>();
  const open = (name: string) => ({
    write(bytes: Uint8Array, { at }: { at: number }) {
      files.get(name)?.set(bytes, at);
      return bytes.byteLength;
    },
    read(bytes: Uint8Array, { at }: { at: number }) {
      bytes.set(files.get(name)?.subarray(at, at + bytes.byteLength) ?? []);
      return bytes.byteLength;
    },
    close: () => undefined,
  });
  const folder = {
    getFileHandle: async (name: string) => {
      files.set(name, new Uint8Array(1 << 16));
      return { createSyncAccessHandle: async () => open(name) };
    },
    removeEntry: async (name: string) => void files.delete(name),
    async *keys() {
      yield* files.keys();
    },
  };
  const root = { getDirectoryHandle: async () => folder };
  return { storage: { getDirectory: async () => root }, files };
}
