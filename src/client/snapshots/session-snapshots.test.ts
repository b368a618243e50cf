import { afterEach, describe, expect, test, vi } from 'vitest';
import { Deferred } from '../../core/async/deferred.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { compileOnnx } from '../../frontend/index.ts';
import { RunControl } from '../../runtime/snapshot/run-control.ts';
import { takeSnapshot } from '../../runtime/snapshot/take-snapshot.ts';
import { LOOP_PLACE, loopAndTree } from '../../runtime/testing/long-programs.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { FaultyFileSystem } from '../../testing/faulty-file-system.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { ownGpu } from '../../testing/own-gpu.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { callsPacked, countingLoop, sumAndProduct } from '../../worker/testing/test-programs.ts';
import {
  DeviceTensor,
  type LoadOptions,
  openSnapshotStore,
  opfsStore,
  Session,
  type SnapshotStore,
  Tensor,
} from '../index.ts';

type Kind = 'host' | 'webgpu';

const executable = loopAndTree().toBytes();
const x = Tensor.from([1, 2, 3]);

async function optionsFor(device: Kind): Promise<LoadOptions> {
  return { worker: false, device, ...(device === 'webgpu' ? { gpu: await sharedNodeGpu() } : {}) };
}

async function open(device: Kind, source: Uint8Array = executable): Promise<Session> {
  return Session.load(source, await optionsFor(device));
}

/** A store in memory. */
function memoryStore(): Promise<SnapshotStore> {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  return openSnapshotStore({
    read: async (name) => files.get(name),
    write: async (name, bytes) => void files.set(name, bytes),
    remove: async (name) => void files.delete(name),
  });
}

async function straight(device: Kind, name: string, n: number): Promise<number[]> {
  const session = await open(device);
  const { result } = await session.run({ x, n }, { function: name });
  await session.dispose();
  return Array.from(result?.data ?? [], Number);
}

/** Paused where a run comes to a place for the `visit`-th time; the run itself is dropped. */
async function storedAt(device: Kind, name: string, visit: number) {
  const session = await open(device);
  const at = name === 'main' ? LOOP_PLACE : { function: name, instruction: 3 };
  const paused = session.pause({ at, visit });
  const run = session.run({ x, n: name === 'main' ? 500 : 6 }, { function: name });
  run.catch(() => undefined);
  const calls = await paused;
  const bytes = await session.snapshot({ note: name });
  await session.dispose();
  await expect(run).rejects.toMatchObject({ name: 'UsageError' });
  return { bytes, calls };
}

describe.each([
  ['host', 'host'],
  ['webgpu', 'webgpu'],
  ['host', 'webgpu'],
  ['webgpu', 'host'],
] as const)('from %s to %s', (from, to) => {
  test.each([
    ['main', 500, 123],
    ['tree', 6, 30],
  ] as const)('%s goes on', async (name, n, visit) => {
    const { bytes, calls } = await storedAt(from, name, visit);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({ entry: name, at: { function: name, instruction: 3 } });
    const session = await Session.resume(bytes, { executable, ...(await optionsFor(to)) });
    expect(session.device.kind).toBe(to);
    expect(session.resumed.note).toBe(name);
    expect(session.resumed.runs).toMatchObject([calls[0]]);
    const { result } = (await session.resumed.runs[0]?.result()) ?? {};
    const expected = await straight(from, name, n);
    const got = Array.from(result?.data ?? [], Number);
    if (from === to) expect(got).toEqual(expected);
    else for (const [i, value] of got.entries()) expect(value).toBeCloseTo(expected[i] ?? 0, 4);
    // The session is one like any other.
    const again = await session.run({ x, n }, { function: name });
    expect(Array.from(again['result']?.data ?? [], Number)).toEqual(await straight(to, name, n));
    expect((await session.memory()).liveBytes).toBe(0);
    await session.dispose();
  });
});

describe.each(['host', 'webgpu'] as const)('on %s', (device) => {
  test('pauses at once and goes on; runs that come meanwhile wait', async () => {
    const session = await open(device, countingLoop().toBytes());
    // The file that answers is there then.
    await session.continue();
    const run = session.run<number>({ steps: 1_000_000 });
    const [call] = await session.pause();
    expect(call).toMatchObject({ entry: 'main', depth: 1 });
    let isOver = false;
    const other = session.run<number>({ steps: 2 }).finally(() => {
      isOver = true;
    });
    await session.memory();
    expect(isOver).toBe(false);
    expect(await session.pause()).toHaveLength(1);
    await session.continue();
    expect(await Promise.all([run, other])).toEqual([{ count: 1_000_000 }, { count: 2 }]);
    await session.dispose();
  });

  test('comes to a breakpoint as often as asked, also in runs that were recorded', async () => {
    const session = await open(device);
    const expected = (await session.run({ x, n: 5 }))['result']?.toNested();
    for (let i = 0; i < 4; i++) await session.run({ x, n: 5 });
    const runs: Promise<unknown>[] = [];
    for (const visit of [1, 3, 5]) {
      const paused = session.pause({ at: LOOP_PLACE, visit });
      const run = session.run({ x, n: 5 });
      expect(await paused).toEqual([{ entry: 'main', at: LOOP_PLACE, depth: 1 }]);
      await session.continue();
      runs.push(run.then(({ result }) => expect(result?.toNested()).toEqual(expected)));
      await run;
    }
    await Promise.all(runs);
    await session.dispose();
  });

  test('stores tensors of the page, by value and by handle', async () => {
    const session = await open(device);
    const { result: kept } = await session.run({ x, n: 3 }, { keep: 'device' });
    if (kept === undefined) throw new Error('no result');
    await session.pause();
    const bytes = await session.snapshot({ tensors: { kept, x, again: kept }, note: '{"n":3}' });
    const expected = (await kept.read()).toNested();
    await session.dispose();
    const other = await Session.resume(bytes, { executable, ...(await optionsFor(device)) });
    const { tensors, note, runs } = other.resumed;
    expect(runs).toEqual([]);
    expect(JSON.parse(note)).toEqual({ n: 3 });
    const read = async (name: string) => {
      const tensor = tensors[name];
      if (!(tensor instanceof DeviceTensor)) throw new Error(`no tensor ${name}`);
      return (await tensor.read()).toNested();
    };
    expect(await read('kept')).toEqual(expected);
    expect(await read('again')).toEqual(expected);
    expect(await read('x')).toEqual([1, 2, 3]);
    for (const tensor of Object.values(tensors)) {
      if (tensor instanceof DeviceTensor) tensor.dispose();
    }
    expect((await other.memory()).liveBytes).toBe(0);
    await other.dispose();
  });

  test('results of resumed runs stay on the device, are stopped, and are given once', async () => {
    const { bytes } = await storedAt(device, 'main', 50);
    const options = { executable, ...(await optionsFor(device)) };
    const session = await Session.resume(bytes, { ...options, paused: true });
    const [run] = session.resumed.runs;
    if (run === undefined) throw new Error('no run');
    // Held where it was until the session goes on.
    expect(await session.pause()).toMatchObject([{ entry: 'main', at: run.at }]);
    const stop = new AbortController();
    const stopped = run.result({ signal: stop.signal });
    stop.abort();
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
    await session.continue();
    await expect(run.result()).rejects.toThrow('got a result that was already requested');
    expect((await session.memory()).liveBytes).toBe(0);
    await session.dispose();

    const other = await Session.resume(bytes, options);
    const { result } = (await other.resumed.runs[0]?.result({ keep: 'device' })) ?? {};
    const tensor = await result?.read();
    expect(Array.from(tensor?.data ?? [], Number)).toEqual(await straight(device, 'main', 500));
    await other.dispose();
  });

  test('a paused session leaves a shared device to others; a resumed one keeps its weights', async () => {
    const options = { worker: false, device, gpu: await ownGpu(), priority: 1 };
    const session = await Session.load(executable, options);
    const other = await Session.load(executable, options);
    // The needs of a run are known after the first one, which goes alone.
    for (const each of [session, other]) await each.run({ x, n: 1 });
    const paused = session.pause({ at: LOOP_PLACE, visit: 40 });
    session.run({ x, n: 90 }).catch(() => undefined);
    await paused;
    const expected = (await other.run({ x, n: 90 }))['result']?.toNested();
    const bytes = await session.snapshot();
    await session.dispose();
    const resumed = await Session.resume(bytes, { executable, ...options });
    expect((await resumed.memory()).sharing?.isPinned).toBe(true);
    const [outputs] = await Promise.all([
      resumed.resumed.runs[0]?.result(),
      other.run({ x, n: 300 }),
    ]);
    expect(outputs?.['result']?.toNested()).toEqual(expected);
    await resumed.dispose();
    await other.dispose();
  });

  test('checkpoints go on with the latest', async () => {
    const store = await memoryStore();
    const session = await open(device, countingLoop().toBytes());
    let asked = 0;
    const contents = () => ({ note: String(++asked) });
    const checkpoints = await session.checkpointTo(store, { everyMs: 1, contents });
    const paused = session.pause({ at: { function: 'main', instruction: 3 }, visit: 100 });
    const run = session.run<number>({ steps: 2000 });
    run.catch(() => undefined);
    await paused;
    for (let i = 0; i < 3; i++) await checkpoints.now();
    const bytes = await store.latest();
    await checkpoints.stop();
    await session.dispose();
    await expect(checkpoints.now()).rejects.toMatchObject({ name: 'UsageError' });
    const resumed = await Session.resume(bytes ?? new Uint8Array(0), {
      executable: countingLoop().toBytes(),
      ...(await optionsFor(device)),
    });
    expect(Number(resumed.resumed.note)).toBeGreaterThanOrEqual(3);
    const result = await resumed.resumed.runs[0]?.result<number>();
    expect(result).toEqual({ count: 2000 });
    await resumed.dispose();
  });
});

test('a model that is compiled while it is loaded goes on, also as an executable', async () => {
  const model = writeOnnxModel({
    nodes: [{ op: 'Add', inputs: ['a', 'c'], outputs: ['b'] }],
    inputs: [{ name: 'a', shape: [2] }],
    outputs: ['b'],
    initializers: { c: HostTensor.from('float32', [2], [10, 20]) },
  });
  const a = Tensor.from([1, 2]);
  const session = await open('host', model);
  const paused = session.pause({ at: { function: 'main', instruction: 1 } });
  session.run({ a }).catch(() => undefined);
  await paused;
  const bytes = await session.snapshot();
  await session.dispose();
  for (const source of [model, compileOnnx(model).toBytes()]) {
    const options = { executable: source, ...(await optionsFor('host')) };
    const resumed = await Session.resume(bytes, options);
    expect((await resumed.resumed.runs[0]?.result())?.['b']?.toNested()).toEqual([11, 22]);
    await resumed.dispose();
  }
});

describe('checkpoints in the private file system', () => {
  afterEach(() => vi.unstubAllGlobals());

  /** Bytes of all results that came to the page. */
  function countedBytes(session: Session): () => number {
    const control = vi.spyOn(session, 'control');
    return () =>
      control.mock.settledResults.reduce(
        (sum, { type, value }) => (type === 'fulfilled' ? sum + value.results.length : sum),
        0,
      );
  }

  test('are written where the session runs, once for each state', async () => {
    const system = new FaultyFileSystem({ inWorker: true });
    vi.stubGlobal('navigator', { storage: system.storage });
    const store = await opfsStore('sessions');
    const session = await open('host');
    const results = countedBytes(session);
    const paused = session.pause({ at: LOOP_PLACE, visit: 40 });
    session.run({ x, n: 90 }).catch(() => undefined);
    await paused;
    const checkpoints = await session.checkpointTo(store, { contents: () => ({ note: 'kept' }) });
    await checkpoints.now();
    const before = [...system.files.keys()];
    await checkpoints.now();
    expect([...system.files.keys()]).toEqual(before);
    expect(before.map((path) => path.split('/').at(-1))).toEqual(['0.snapshot', '0.commit']);
    expect(results()).toBe(0);
    await checkpoints.stop();
    await session.dispose();
    const bytes = (await store.latest()) ?? new Uint8Array(0);
    const resumed = await Session.resume(bytes, { executable, ...(await optionsFor('host')) });
    expect(resumed.resumed.note).toBe('kept');
    const { result } = (await resumed.resumed.runs[0]?.result()) ?? {};
    expect(Array.from(result?.data ?? [], Number)).toEqual(await straight('host', 'main', 90));
    await resumed.dispose();
  });

  test('that fail say so, and the next one is tried', async () => {
    const system = new FaultyFileSystem({ inWorker: true });
    vi.stubGlobal('navigator', { storage: system.storage });
    const session = await open('host');
    const checkpoints = await session.checkpointTo(await opfsStore('sessions'));
    system.arm('writeSync', 1);
    await expect(checkpoints.now()).rejects.toMatchObject({
      name: 'StorageError',
      message: expect.stringContaining('opfsStore, 0.snapshot: got no space left'),
    });
    await checkpoints.now();
    expect([...system.files.keys()]).toContain('weft-snapshots/sessions/0.commit');
    await session.dispose();
    await checkpoints.stop();
  });
});

describe('misuse', () => {
  test('of pause and snapshot', async () => {
    const session = await open('host');
    await expect(session.snapshot()).rejects.toThrow(
      'snapshot: got a session that is not paused, expected a paused session. Await session.pause()',
    );
    await expect(session.pause({ at: { function: 'man', instruction: 0 } })).rejects.toThrow(
      'pause: got the function name "man", expected one of main, tree',
    );
    await expect(session.pause({ at: { function: 'main', instruction: 99 } })).rejects.toThrow(
      /pause: got instruction 99 of main, expected an instruction from 0 to \d+/,
    );
    await expect(session.pause({ at: LOOP_PLACE, visit: 0 })).rejects.toThrow(
      'pause: got visit 0, expected an integer from 1 up',
    );
    await session.pause();
    const other = await open('host');
    const { result } = await other.run({ x, n: 1 }, { keep: 'device' });
    for (const tensor of [result, undefined, 5]) {
      await expect(
        session.snapshot({ tensors: { tensor: tensor as never } }),
      ).rejects.toMatchObject({ name: 'UsageError' });
    }
    await other.dispose();
    await session.dispose();
    for (const call of [session.pause(), session.continue(), session.snapshot()]) {
      await expect(call).rejects.toThrow('The session was disposed.');
    }
  });

  test('of resume: damage, another program, missing functions', async () => {
    const { bytes } = await storedAt('host', 'tree', 20);
    const resume = async (given: Uint8Array | ArrayBuffer, source: Uint8Array = executable) =>
      Session.resume(given, { executable: source, ...(await optionsFor('host')) });
    await expect(resume(bytes.slice(0, -8))).rejects.toMatchObject({ name: 'FormatError' });
    await expect(resume(executable)).rejects.toThrow(
      'snapshot, byte 0: got other bytes than the magic of a snapshot',
    );
    await expect(resume('bytes' as never)).rejects.toThrow(
      'Session.resume: got bytes that are "bytes", expected a Uint8Array.',
    );
    await expect(resume(bytes, sumAndProduct().toBytes())).rejects.toThrow(
      /resume: got an executable with the hash [0-9a-f]{16}…, expected the one that ran/,
    );
    const program = callsPacked('test.twice');
    const functions = { 'test.twice': (value: number) => value * 2 };
    const machine = await VirtualMachine.create(program, {
      devices: [createHostDevice()],
      functions,
    });
    const stored = await takeSnapshot(machine);
    await expect(resume(stored, program.toBytes())).rejects.toThrow('test.twice (packed)');
    const resumed = await resume(bytes.slice().buffer);
    expect(resumed).toBeInstanceOf(Session);
    await resumed.dispose();
  });

  test('of checkpointTo', async () => {
    const session = await open('host');
    const store = memoryStore();
    await expect(session.checkpointTo(store as never)).rejects.toThrow(
      'checkpointTo: got a promise as store',
    );
    await expect(session.checkpointTo(await store, { everyMs: 0 })).rejects.toThrow('everyMs 0');
    await expect(session.pauseWhenHidden()).rejects.toThrow('pauseWhenHidden: got no document');
    let saved = new Deferred();
    const failing = {
      latest: async () => undefined,
      clear: async () => undefined,
      save: async () => {
        saved.resolve();
        throw new Error('disk full');
      },
    };
    const twice = new Deferred();
    const errors: unknown[] = [];
    const onError = (error: unknown) => {
      if (errors.push(error) === 2) twice.resolve();
    };
    const checkpoints = await session.checkpointTo(failing, { everyMs: 1, onError });
    await twice.promise;
    await checkpoints.stop();
    const idle = await session.checkpointTo(failing, { everyMs: 1e9 });
    await expect(idle.now()).rejects.toThrow('disk full');
    await idle.stop();
    saved = new Deferred();
    const unheard = await session.checkpointTo(failing, { everyMs: 1 });
    await saved.promise;
    await expect(unheard.stop()).rejects.toThrow('disk full');
    await session.dispose();
  });

  test('a pause that is given up leaves the session running', async () => {
    const session = await open('host');
    const given = new AbortController();
    const pausing = session.pause({ at: LOOP_PLACE, signal: given.signal });
    await session.memory();
    given.abort();
    await expect(pausing).rejects.toMatchObject({ name: 'AbortError' });
    expect((await session.run({ x, n: 0 }))['result']?.toNested()).toEqual([1, 2, 3]);
    await session.dispose();
  });

  test('a machine that is controlled from two sides', async () => {
    const machine = await VirtualMachine.create(loopAndTree(), { devices: [createHostDevice()] });
    const control = RunControl.of(machine);
    expect(RunControl.of(machine)).toBe(control);
    machine.dispose();
    expect(() => RunControl.of(machine)).toThrow('a machine that was disposed of');
  });
});
