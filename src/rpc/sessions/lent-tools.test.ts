import { afterEach, describe, expect, test } from 'vitest';
import { type DebugRun, type LoadOptions, Session, Tensor } from '../../client/index.ts';
import type { DebugPlace } from '../../client/tools/debug-session.ts';
import { compile, parseModule } from '../../compiler/index.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import { brokenGpu } from '../../testing/broken-gpu.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { nodeGpu, sharedNodeGpu } from '../../testing/node-gpu.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { createDevice } from '../../worker/index.ts';
import { connect } from '../connect.ts';
import { messagePortChannel } from '../channels/message-port-channel.ts';
import { serve } from '../serve.ts';
import { openConnection, TOKEN } from '../testing/open-connection.ts';
import { createRemoteFunction, type HandleOwner } from '../values/remote-handles.ts';
import { RemoteService } from './remote-service.ts';
import type { SessionDoor } from './session-door.ts';

const DEVICES = ['host', 'wasm', 'webgpu'] as const;
type Kind = (typeof DEVICES)[number];

const SIZE = 64;

/** A product with weights, and a fused kernel behind it. */
const MODEL = writeOnnxModel({
  nodes: [
    { op: 'MatMul', name: 'scores', inputs: ['x', 'w'], outputs: ['s'] },
    { op: 'Add', name: 'shift', inputs: ['s', 'b'], outputs: ['shifted'] },
    { op: 'Abs', name: 'size', inputs: ['shifted'], outputs: ['sized'] },
    { op: 'Softmax', name: 'weigh', inputs: ['sized'], outputs: ['y'] },
  ],
  inputs: [{ name: 'x', shape: [4, SIZE] }],
  outputs: ['y'],
  initializers: {
    w: HostTensor.from(
      'float32',
      [SIZE, SIZE],
      Array.from({ length: SIZE * SIZE }, (_, i) => Math.cos(i) / 8),
    ),
    b: HostTensor.from('float32', [1], [0.25]),
  },
});
const x = new Tensor(
  'float32',
  Float32Array.from({ length: 4 * SIZE }, (_, i) => Math.sin(i)),
  [4, SIZE],
);

/** Powers of x by recursion and a closure. */
const POWERS = compile(
  parseModule(
    `def @main(%x: Tensor[(3,), float32], %n: int) -> Tensor[(3,), float32] {
  @power(fn (%t: Tensor[(3,), float32]) -> Tensor[(3,), float32] { mul(%t, %x) }, %x, %n)
}
def @power(%f: fn (Tensor[(3,), float32]) -> Tensor[(3,), float32], %x: Tensor[(3,), float32], %n: int)
    -> Tensor[(3,), float32] {
  if (int_lt(%n, #2)) { %x } else { %f(@power(%f, %x, int_sub(%n, #1))) }
}`,
    { file: 'program.ir' },
  ),
).toBytes();

const LOOP = compile(
  parseModule(`def @main(%x: Tensor[(3,), float32], %n: int) -> Tensor[(3,), float32] {
  if (int_lt(%n, #1)) { %x } else { @main(mul(%x, 1.01f), int_sub(%n, #1)) }
}`),
).toBytes();

const X = Tensor.from([1, 2, 3]);

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0).reverse()) close();
});

/** A device of one's own and the same one lent, each with what the tests look at. */
async function bothSides(kind: Kind, gpu?: GPU) {
  const real = gpu ?? (kind === 'webgpu' ? await sharedNodeGpu() : undefined);
  const device = await createDevice(kind, real);
  opened.push(() => device.destroy());
  const { remote, served, clientEnd } = await openConnection({ devices: [device] });
  opened.push(() => remote.close());
  const here: LoadOptions = { worker: false, device: kind, ...(real && { gpu: real }) };
  return { device, remote, served, clientEnd, here, there: { remote } as LoadOptions };
}

const bytesLive = (device: Device): number => device.counters().bytesLive;

/** Resolves when programs have launched some more kernels. */
async function runsOn(device: Device): Promise<void> {
  const enough = device.counters().launches + 100;
  await expect.poll(() => device.counters().launches).toBeGreaterThan(enough);
}

describe.each(DEVICES)('a lent %s', (kind) => {
  test('traces, compares and verifies as one of this side', async () => {
    const { device, remote, here, there } = await bothSides(kind);
    const all: unknown[] = [];
    for (const options of [here, there]) {
      const session = await Session.load(MODEL, options);
      const traced = [
        await session.trace({ x }),
        await session.trace({ x }, { values: ['shifted', 's', 'y'] }),
      ];
      const compared = [
        await session.compare({ x }),
        await session.compare({ x }, { against: 'wasm' }),
        await session.compare({ x }, { against: { s: x } }),
        await session.compare({ x }, { against: session }),
      ];
      const verified = await session.verify({ x });
      const overflows = await session.overflows([{ x }, { x }]);
      const unknown = await refusal(session.trace({ x }, { values: ['z'] }));
      const { y } = await session.run({ x });
      all.push({
        traced,
        compared,
        verified,
        overflows,
        y,
        unknown,
      });
      await session.dispose();
    }
    expect(all[1]).toEqual(all[0]);
    expect(all[0]).toMatchObject({ compared: [{ departure: undefined, calls: 2 }, {}, {}, {}] });
    expect(all[0]).toMatchObject({ compared: [{}, {}, { departure: { value: 's' } }, {}] });
    await expect.poll(() => remote.counters().handlesHeldByPeer).toBe(0);
    await expect.poll(() => bytesLive(device)).toBe(0);
  });

  test('takes tensors that it holds', async () => {
    const { there } = await bothSides(kind);
    const session = await Session.load(MODEL, there);
    const { y } = await session.run({ x }, { keep: 'device' });
    const { calls, departure } = await session.compare({ x: y ?? x });
    expect({ calls, departure }).toEqual({ calls: 2, departure: undefined });
    expect(await session.trace({ x: y ?? x })).toHaveLength(2);
    await session.dispose();
  });

  test('is debugged as one of this side, forth and back', async () => {
    const { device, here, there } = await bothSides(kind);
    const all: unknown[] = [];
    for (const options of [here, there]) {
      const session = await Session.load(POWERS, options);
      const seen: unknown[] = [];
      const run = await session.debug({ x: X, n: 3 });
      while (run.place.reason !== 'end') {
        seen.push(await everything(run));
        await run.step();
      }
      seen.push(run.place);
      while (run.place.executed > 0) {
        await run.stepBack();
        seen.push(await everything(run));
      }
      const at = { function: 'power', instruction: 0 };
      seen.push(await run.setBreakpoints([{ at }, { node: 'program.ir:2' }, { outputAbove: 7 }]));
      for (const go of ['continue', 'stepOver', 'stepOut', 'continue', 'continue'] as const) {
        seen.push(await run[go]());
      }
      seen.push(await run.seek(5));
      const wrong = [run.seek(-1), run.registers(7), run.setBreakpoints([{ node: 'conv' }])];
      seen.push(await Promise.all(wrong.map(refusal)));
      await run.close();
      seen.push(await refusal(run.step()));
      seen.push((await session.memory()).liveBytes);
      all.push(seen);
      await session.dispose();
    }
    expect(all[1]).toEqual(all[0]);
    await expect.poll(() => bytesLive(device)).toBe(0);
  });
});

/** The error of a rejected promise, without the name of the machine. */
async function refusal(refused: Promise<unknown>): Promise<string | undefined> {
  const message = await refused.then(
    () => 'nothing',
    (error: Error) => `${error.name}: ${error.message}`,
  );
  return message.split('\n')[0];
}

/** Everything that a debugging run shows of the place where it stands. */
async function everything(run: DebugRun): Promise<unknown> {
  const { place } = run;
  const registers = place.depth === 0 ? [] : await run.registers();
  const shown = registers.filter(({ isUnwritten }) => !isUnwritten);
  const details = await Promise.all(shown.map(({ index }) => run.value(index)));
  const { heaps, storages, heldBytes } = await run.memory();
  const uses = storages.map((each) => ({ ...each, number: 0, device: '' }));
  return { place: plain(place), registers, details, memory: { heaps, uses, heldBytes } };
}

const plain = ({ found, error, ...place }: DebugPlace) => ({
  ...place,
  ...(found && { found }),
  ...(error && { error }),
});

test('numbers that JSON does not have, and pictures', async () => {
  const text = 'def @main(%x: Tensor[(4, 4), float32]) -> Tensor[(4, 4), float32] { sqrt(%x) }';
  const program = compile(parseModule(text)).toBytes();
  const { here, there } = await bothSides('host');
  const details: unknown[] = [];
  for (const options of [here, there]) {
    const session = await Session.load(program, options);
    const run = await session.debug({
      x: Tensor.from([
        [-0, Number.NaN, 4, 9],
        [1, -1, Number.NEGATIVE_INFINITY, 16],
        [0, 1, 2, 3],
        [4, 5, 6, 7],
      ]),
    });
    const before = await run.value(0);
    await run.setBreakpoints([{ output: 'nan' }]);
    const { found } = await run.continue();
    details.push({ before, found });
    await run.close();
    await session.dispose();
  }
  expect(details[1]).toEqual(details[0]);
  expect(details[0]).toMatchObject({
    before: {
      statistics: { nans: 1, infinities: 1 },
      picture: { width: 4, height: 4 },
    },
    found: { count: 3 },
  });
  const { first } = (details[0] as { before: { first: number[] } }).before;
  expect(first.slice(0, 7)).toEqual([-0, Number.NaN, 4, 9, 1, -1, Number.NEGATIVE_INFINITY]);
});

test('a wrong kernel of a lent device is named, and the first operator of a fused one', async () => {
  const { gpu, broken } = brokenGpu(await nodeGpu(), (name) => /^(abs|matmul)/.test(name));
  const { here, there } = await bothSides('webgpu', gpu);
  const found: unknown[] = [];
  for (const options of [here, there]) {
    const session = await Session.load(MODEL, options);
    const right = await session.trace({ x }, { values: ['s'] });
    const compared = await session.compare({ x }, { reduce: true });
    const loose = await session.compare({ x }, { tolerance: 1 });
    found.push({ right, compared, loose });
    await session.dispose();
  }
  expect(broken.size).toBeGreaterThan(0);
  expect(found[1]).toEqual(found[0]);
  expect(found[0]).toMatchObject({
    compared: { departure: { sources: [{}, {}, {}], unfused: { operator: 'matmul' } } },
  });
});

test('two lent devices are compared with each other, and one with a device of this side', async () => {
  const first = await bothSides('wasm');
  const second = await bothSides('host');
  const [a, b] = [await Session.load(MODEL, first.there), await Session.load(MODEL, second.there)];
  const mine = await Session.load(MODEL, { worker: false, device: 'wasm' });
  for (const [session, against] of [
    [a, b],
    [a, mine],
    [mine, b],
  ] as const) {
    const { departure, missing, calls } = await session.compare({ x }, { against });
    expect({ departure, missing }).toEqual({ departure: undefined, missing: [] });
    expect(calls).toBe(2);
  }
  for (const session of [a, b, mine]) await session.dispose();
});

test('over a MessagePort', async () => {
  const { port1, port2 } = new MessageChannel();
  const device = await createDevice('wasm');
  const served = serve(messagePortChannel(port1), { devices: [device], token: TOKEN });
  const remote = await connect(messagePortChannel(port2), { token: TOKEN });
  const session = await Session.load(MODEL, { remote });
  expect((await session.compare({ x })).calls).toBe(2);
  const run = await session.debug({ x });
  expect((await run.continue()).outputs?.['y']).toEqual((await session.run({ x }))['y']);
  await run.stepBack();
  remote.close();
  await served.closed;
  await expect.poll(() => bytesLive(device)).toBe(0);
  device.destroy();
});

test('weights are on the device once while a run is watched', async () => {
  const { device, clientEnd, there } = await bothSides('host');
  const session = await Session.load(MODEL, there);
  const weights = bytesLive(device);
  let most = 0;
  clientEnd.onSend = (frame) => {
    most = Math.max(most, bytesLive(device));
    return [frame];
  };
  await session.compare({ x });
  expect(weights).toBeGreaterThan(4 * SIZE * SIZE);
  expect(most).toBeGreaterThanOrEqual(weights);
  expect(most).toBeLessThan(2 * weights);
  await session.dispose();
});

describe('what the server bounds', () => {
  const start = async (limits: object) => {
    const device = await createDevice('host');
    const clock = new FakeClock();
    const connection = await openConnection({ devices: [device], limits, clock });
    return {
      ...connection,
      device,
      clock,
      session: await Session.load(LOOP, { remote: connection.remote }),
    };
  };

  test('debugging runs at a time', async () => {
    const { session, remote, device } = await start({ heldRuns: 2 });
    const other = await Session.load(LOOP, { remote });
    const runs = [await session.debug({ x: X, n: 2 }), await other.debug({ x: X, n: 2 })];
    const third = session.debug({ x: X, n: 2 });
    await expect(third).rejects.toMatchObject({ name: 'LimitError' });
    await expect(third).rejects.toThrow(
      'got more than 2 runs that are debugged, traced or compared, expected at most 2 at a time.',
    );
    await expect(session.trace({ x: X, n: 2 })).rejects.toMatchObject({ name: 'LimitError' });
    await runs[0]?.close();
    expect(await session.trace({ x: X, n: 2 })).toHaveLength(2);
    // Those of a session end with it.
    await other.dispose();
    await expect.poll(async () => (await session.debug({ x: X, n: 1 })).place.executed).toBe(0);
    await session.dispose();
    await expect.poll(() => bytesLive(device)).toBe(0);
  });

  test('handles: a run that cannot be named is over, and a tensor that cannot be is free', async () => {
    const { session } = await start({ handles: 1, heldRuns: 2 });
    const run = await session.debug({ x: X, n: 2 });
    const handles = 'more than 1 functions and tensors that one side holds for the other';
    for (let round = 0; round < 5; round++) {
      await expect(session.run({ x: X, n: 2 }, { keep: 'device' })).rejects.toThrow(handles);
      const [first, second] = [session.trace({ x: X, n: 2 }), session.trace({ x: X, n: 2 })];
      second.catch(() => undefined);
      expect(await first).toHaveLength(2);
      // Only one of them has a function, or a place among the runs that are held.
      await expect(second).rejects.toMatchObject({ name: 'LimitError' });
    }
    await run.close();
    await expect.poll(async () => (await session.memory()).liveBytes).toBe(0);
    await session.dispose();
  });

  test('the time in which a run goes on, not that in which it stands', async () => {
    const { session, clock } = await start({ runTimeout: 300 });
    const run = await session.debug({ x: X, n: 1e9 });
    await clock.advance(400);
    expect((await run.step()).executed).toBe(1);
    const going = clock.advanceUntil(run.continue(), 100);
    await expect(going).rejects.toMatchObject({ name: 'RuntimeError' });
    await expect(going).rejects.toThrow('got a run of more than 300 ms');
    await expect(run.step()).rejects.toThrow('got a run of more than 300 ms');
    expect((await session.memory()).liveBytes).toBe(0);
    const tracing = clock.advanceUntil(session.trace({ x: X, n: 1e9 }), 300);
    await expect(tracing).rejects.toThrow('got a run of more than 300 ms');
    expect((await session.run({ x: X, n: 1 }))['result']).toBeDefined();
    await run.close();
  });

  test('how long a run stands still', async () => {
    const { session, clock } = await start({ heldRunMs: 100 });
    const run = await session.debug({ x: X, n: 3 });
    await clock.advance(99);
    await run.step();
    await clock.advance(99);
    await run.memory();
    await clock.advance(100);
    await expect(run.memory()).rejects.toMatchObject({ name: 'LimitError' });
    await expect(run.step()).rejects.toThrow(
      'got a run that stood still for 100 ms, expected an order for it within limits.heldRunMs.',
    );
    expect((await session.memory()).liveBytes).toBe(0);
    await run.close();
  });

  test('memory: runs that stand count, and what a trace opens beside them', async () => {
    const { device, remote } = await start({ byteBudget: 2 ** 20 });
    const large = new Tensor('float32', new Float32Array(2 ** 16), [2 ** 16]);
    const text = 'def @main(%x: Tensor[(n,), float32]) { cumulative(add(%x, 1f), axis=0) }';
    const session = await Session.load(compile(parseModule(text)).toBytes(), { remote });
    const runs: DebugRun[] = [];
    const fill = async (): Promise<void> => {
      for (let i = 0; i < 8; i++) runs.push(await session.debug({ x: large }));
    };
    await expect(fill()).rejects.toMatchObject({ name: 'OutOfMemoryError' });
    expect(bytesLive(device)).toBeLessThanOrEqual(2 ** 20);
    await expect(session.trace({ x: large })).rejects.toMatchObject({ name: 'OutOfMemoryError' });
    for (const run of runs) await run.close();
    expect(await session.trace({ x: large })).toHaveLength(2);
    expect((await session.memory()).liveBytes).toBe(0);
  });

  test('instructions of a run', async () => {
    const { session } = await start({ instructionLimit: 1000 });
    const { departure } = await session.compare({ x: X, n: 10 });
    expect(departure).toBe(undefined);
    await expect(session.trace({ x: X, n: 1e6 })).rejects.toThrow('beyond 1000 instructions');
    const run = await session.debug({ x: X, n: 1e6 });
    expect(await run.continue()).toMatchObject({ reason: 'error' });
    await run.close();
  });
});

describe('the end of a connection', () => {
  test('ends runs that stand, that go on, and that are watched', async () => {
    const { device, remote, clientEnd } = await bothSides('host');
    const session = await Session.load(LOOP, { remote });
    const stands = await session.debug({ x: X, n: 1e9 });
    const goes = await session.debug({ x: X, n: 1e9 });
    const going = goes.continue();
    const tracing = session.trace({ x: X, n: 1e9 });
    await runsOn(device);
    clientEnd.break();
    await expect(going).rejects.toMatchObject({ name: 'RemoteLostError' });
    await expect(tracing).rejects.toMatchObject({ name: 'RemoteLostError' });
    await expect(stands.step()).rejects.toMatchObject({ name: 'RemoteLostError' });
    await expect.poll(() => bytesLive(device)).toBe(0);
    await stands.close();
    await goes.close();
  });

  test('and a signal ends them one by one', async () => {
    const { device, remote } = await bothSides('host');
    const session = await Session.load(LOOP, { remote });
    const ended = new AbortController();
    const run = await session.debug({ x: X, n: 1e9 }, { signal: ended.signal });
    const order = new AbortController();
    const aborted = run.continue({ signal: order.signal });
    order.abort(new Error('enough of it'));
    await expect(aborted).rejects.toThrow('enough of it');
    expect((await run.step()).reason).toBe('step');
    const paused = run.continue();
    await runsOn(device);
    await run.pause();
    expect((await paused).reason).toBe('pause');
    const last = run.continue();
    const tracing = session.trace({ x: X, n: 1e9 }, { signal: ended.signal });
    const comparing = session.compare({ x: X, n: 1e9 }, { signal: ended.signal });
    await runsOn(device);
    ended.abort(new Error('enough of all'));
    for (const each of [last, tracing, comparing])
      await expect(each).rejects.toThrow('enough of all');
    await expect.poll(() => remote.counters().handlesHeldByPeer).toBe(0);
    await expect.poll(async () => (await session.memory()).liveBytes).toBe(0);
    await session.dispose();
    await expect.poll(() => bytesLive(device)).toBe(0);
  });
});

const PICTURE = { kind: 'tensor', picture: { width: 2, height: 2 } };

/** The function of a run that gives these answers. */
function createRun(answers: Readonly<Record<string, unknown>>): unknown {
  const owner: HandleOwner = {
    call: async (_, [order]) => answers[order as string] ?? null,
    releaseHandle: () => undefined,
  };
  return createRemoteFunction({ owner, id: 1 }, 'run');
}

describe('a server that lies is refused with ProtocolError', () => {
  const LOADED = {
    session: 1,
    functions: [],
    device: {
      kind: 'host',
      name: 'host',
      vendor: '',
      architecture: '',
      adapterClass: 'host',
      threads: 1,
      reason: '',
    },
    placements: [],
  };

  /** A session whose server gives these answers by the names of calls and orders. */
  async function lyingSession(answers: Readonly<Record<string, unknown>>) {
    const all: Readonly<Record<string, unknown>> = { load: LOADED, ...answers };
    const door: SessionDoor = {
      ship: async () => '',
      call: async (name) => all[name] ?? null,
    };
    const service = new RemoteService(door);
    const source = { kind: 'bytes', bytes: MODEL } as const;
    await service.load(1, { source, device: 'host', dims: {} }, undefined);
    const wire = { kind: 'tensor', dtype: 'float32', shape: x.shape, data: x.data } as const;
    const asked = { functionName: 'main', args: [wire] };
    const ask = ({
      tool,
      ...request
    }: {
      readonly tool: string;
      readonly [field: string]: unknown;
    }) =>
      service.control(2, 1, {
        kind: 'tool',
        tool,
        request: { functionName: 'main', ...request },
        args: [wire],
      });
    return { ask, service, asked };
  }

  const TRACE = { tool: 'trace', skips: false } as const;
  const VERIFY = { tool: 'verify', tolerance: 0.1, against: 'host' } as const;

  test.each<[string, typeof TRACE | typeof VERIFY, Readonly<Record<string, unknown>>]>([
    ['a run that is none', TRACE, { watch: 7 }],
    ['a call that is none', TRACE, { next: 7 }],
    ['a kernel of no name', TRACE, { next: { kernel: 7, results: [] } }],
    ['a place that is none', TRACE, { next: { kernel: 'matmul', at: {}, results: [] } }],
    ['results that are none', TRACE, { next: { kernel: 'matmul', results: [1] } }],
    ['constants that are none', VERIFY, { constants: [1] }],
    ['no constants', VERIFY, { constants: [] }],
    [
      'constants of another shape',
      VERIFY,
      { constants: [HostTensor.zeros('float32', [1]), HostTensor.zeros('int8', [1])] },
    ],
  ])('%s', async (_, request, answers) => {
    const { ask } = await lyingSession({ watch: createRun(answers), ...answers });
    await expect(ask(request)).rejects.toMatchObject({ name: 'ProtocolError' });
  });

  const REPLY = { calls: [], results: [], note: '' };

  test.each<[string, unknown]>([
    ['no reply', 7],
    ['a reply without results', { ...REPLY, results: undefined }],
    ['a picture without pixels', { ...REPLY, answer: { value: PICTURE } }],
    [
      'a picture of other pixels',
      {
        ...REPLY,
        answer: {
          value: { ...PICTURE, picture: { ...PICTURE.picture, rgba: new Uint8ClampedArray(3) } },
        },
      },
    ],
  ])('of a debugging run: %s', async (_, control) => {
    const { ask } = await lyingSession({ control });
    const holding = ask({ tool: 'debug', run: 5 });
    const started = ask({ tool: 'debug', run: 5, order: { do: 'start' } });
    for (const each of [holding, started]) {
      await expect(each).rejects.toMatchObject({ name: 'ProtocolError' });
    }
  });

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['a session that is none', { load: { ...LOADED, session: 'constructor' } }],
    ['functions that are none', { load: { ...LOADED, functions: [{ name: 'main' }] } }],
    ['a device that is none', { load: { ...LOADED, device: {} } }],
    ['results that are none', { run: [{ name: 'y', value: { kind: 'constructor' } }] }],
    ['results of no list', { run: { 0: 1 } }],
    ['a profile that is none', { profile: [] }],
    ['a tensor that is none', { read: { kind: 'handle', handle: 1 } }],
    ['memory that is none', { memory: { liveBytes: '1' } }],
    ['a listing that is none', { control: { ...REPLY, answer: 7 } }],
  ])('%s', async (_, answers) => {
    const asking = async (): Promise<void> => {
      const { ask, service, asked } = await lyingSession(answers);
      const request = { session: 1, ...asked } as never;
      if ('run' in answers) await service.run(3, request);
      if ('profile' in answers) await service.profile(3, request);
      if ('read' in answers) await service.read(3, 1, 1);
      if ('memory' in answers) await service.memory(3, 1);
      if ('control' in answers) await ask({ tool: 'listing' });
    };
    await expect(asking()).rejects.toMatchObject({ name: 'ProtocolError' });
  });
});
