import { describe, expect, test } from 'vitest';
import { ExecBuilder } from '../../bytecode/index.ts';
import { DeviceTensor, type Inputs, Session, Tensor } from '../../client/index.ts';
import { compile, parseModule } from '../../compiler/index.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { loopAndTree } from '../../runtime/testing/long-programs.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import { Connection } from '../connection.ts';
import { sha256 } from '../executable-store.ts';
import { introduce } from '../handshake/handshake.ts';
import type { ServeEvent } from '../served-device.ts';
import { DEFAULT_RPC_LIMITS } from '../limits.ts';
import { isRemoteFunction, type RemoteFunction, RemoteTensor } from '../values/remote-handles.ts';
import { type RpcInput, RpcTuple } from '../values/rpc-value.ts';
import { serve } from '../serve.ts';
import { programLimits } from './checked-requests.ts';
import { RemoteService, type SessionDoor } from './remote-service.ts';
import { channelPair } from '../testing/channel-pair.ts';
import { openConnection, TOKEN } from '../testing/open-connection.ts';

const SQUARE = compile(
  parseModule('def @main(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] { mul(%x, %x) }'),
).toBytes();
const STEP = compile(
  parseModule(`def @main(
    %state: Tensor[(3,), float32], %at: Tensor[(1, 1), int32], %row: Tensor[(1,), float32],
    results=["state", "y"]
  ) { (scatter_nd(%state, %at, %row), relu(%row)) }`),
).toBytes();
const GROW = compile(
  parseModule(`def @main(
    %state: Tensor[(n, 16), float32], %row: Tensor[(1, 16), float32], results=["state", "sum"]
  ) {
    let %all = concat(%state, %row, axis=0);
    (%all, reduce_sum(%all, axes=[0]))
  }`),
).toBytes();
const LOOP = loopAndTree().toBytes();
const X = Tensor.from([1, 2, 3]);

type Serving = NonNullable<Parameters<typeof openConnection>[0]>;

/** A server with the host device of the package. */
async function startServing(serving: Serving = {}) {
  const device = createHostDevice();
  const served = await openConnection({ devices: [device], ...serving });
  return { ...served, device };
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve));
}

/** All that a run gives and tells, but for times. */
async function everything(session: Session) {
  const { outputs, kernels, instructions } = await session.profile({ x: X });
  const kept = await session.run({ x: X }, { keep: 'device' });
  const [first] = Object.values(kept);
  const again = await session.run({ x: first ?? X });
  const read = await first?.read();
  first?.dispose();
  await session.warmup({ n: 7 });
  const late = await session.run({ x: first ?? X }).catch((error: Error) => error.message);
  const { inputs, functions, device, placements } = session;
  const { constantBytes, liveBytes } = await session.memory();
  const listing = await session.listing();
  const told = { inputs, outputs: session.outputs, functions, device, placements, listing, late };
  const labels = kernels.map(({ label, workgroups }) => ({ label, workgroups }));
  const memory = { constantBytes, liveBytes };
  return { ...told, results: { outputs, again, read }, labels, instructions, memory };
}

describe('a session on a served device', () => {
  test('gives and tells what one of this side does', async () => {
    const { remote, device } = await startServing();
    const here = await Session.load(SQUARE, { worker: false, device: 'host' });
    const there = await Session.load(SQUARE, { remote, device: 'host' });
    const outcome = await everything(there);
    expect(outcome).toEqual(await everything(here));
    expect(outcome.results.again).toEqual({ result: Tensor.from([1, 16, 81]) });
    expect(outcome.late).toContain('a DeviceTensor that was disposed of');
    await here.dispose();
    await there.dispose();
    await settle();
    expect(device.counters().bytesLive).toBe(0);
    expect(remote.counters()).toMatchObject({ handlesHeldByPeer: 0, callsPending: 0 });
    await expect(there.run({ x: X })).rejects.toThrow('The session was disposed.');
  });

  test('takes and gives numbers, shapes and tuples in tuples', async () => {
    const b = new ExecBuilder();
    const f = b.function('main', ['a', 'b']);
    const pair = f.call('vm.builtin.make_tuple', [f.param('a'), b.shape([2, 3])]);
    f.ret(f.call('vm.builtin.make_tuple', [pair, f.param('b'), pair]));
    const source = b.build().toBytes();
    const { remote } = await startServing();
    const here = await Session.load(source, { worker: false, device: 'host' });
    const there = await Session.load(source, { remote });
    for (const inputs of [
      { a: 7, b: 'text' },
      { a: 0.5, b: X },
      { a: X, b: -3 },
    ]) {
      const results = await there.run(inputs);
      expect(results).toEqual(await here.run(inputs));
    }
    expect(await there.run({ a: 1, b: 2 })).toEqual({
      result: {
        tag: 0,
        fields: [{ tag: 0, fields: [1, [2, 3]] }, 2, { tag: 0, fields: [1, [2, 3]] }],
      },
    });
    await here.dispose();
    await there.dispose();
  });

  test('compiles an ONNX model on this side, and reports all phases', async () => {
    const model = writeOnnxModel({
      nodes: [{ op: 'Relu', inputs: ['x'], outputs: ['y'] }],
      inputs: [{ name: 'x', shape: ['n'] }],
      outputs: ['y'],
    });
    const { remote } = await startServing();
    const phases = new Set<string>();
    const onProgress = ({ phase }: { phase: string }) => void phases.add(phase);
    const session = await Session.load(model, { remote, dims: { n: 2 }, onProgress });
    expect([...phases]).toEqual(['download', 'compile', 'verify', 'upload']);
    expect(session.inputs).toEqual([{ name: 'x', dtype: 'float32', shape: [2] }]);
    expect(await session.run({ x: Tensor.from([-1, 1]) })).toEqual({ y: Tensor.from([0, 1]) });
  });

  test('ends a run that is aborted, here and there', async () => {
    const { remote } = await startServing();
    const session = await Session.load(LOOP, { remote });
    const stop = new AbortController();
    const run = session.run({ x: X, n: 1e8 }, { signal: stop.signal });
    await settle();
    stop.abort();
    await expect(run).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(() => session.memory()).toMatchObject({ liveBytes: 0 });
    const later = session.run({ x: X, n: 1e8 });
    await session.dispose();
    await expect(later).rejects.toThrow('The session was disposed.');
  });

  test('goes from one side to the other in the middle of a run', async () => {
    const { remote } = await startServing();
    const here = await Session.load(LOOP, { worker: false, device: 'host' });
    const { result: straight } = await here.run({ x: X, n: 500 });
    for (const [from, to] of [
      [here, { remote }],
      [await Session.load(LOOP, { remote }), { worker: false, device: 'host' }],
      [await Session.load(LOOP, { remote }), { remote }],
    ] as const) {
      const paused = from.pause({ at: { function: 'main', instruction: 4 }, visit: 3 });
      const run = from.run({ x: X, n: 500 });
      const [call] = await paused;
      const kept = await from.snapshot({ tensors: { x: X }, note: 'half' });
      await from.continue();
      expect(await run).toEqual({ result: straight });
      const resumed = await Session.resume(kept, { executable: LOOP, ...to });
      const { runs, tensors, note } = resumed.resumed;
      expect(runs[0]).toMatchObject({ entry: 'main', at: call?.at });
      expect(await runs[0]?.result()).toEqual({ result: straight });
      expect([note, await (tensors['x'] as DeviceTensor).read()]).toEqual(['half', X]);
      await resumed.dispose();
      await from.dispose();
    }
  });

  test('runs take over tensors and keep some of their results', async () => {
    const { remote } = await startServing();
    await using session = await Session.load(STEP, { remote });
    let state: Tensor | DeviceTensor = Tensor.from([1, 2, 3], 'float32', [3]);
    const at = Tensor.from([2], 'int32', [1, 1]);
    for (let n = 0; n < 4; n++) {
      const row = Tensor.from([n], 'float32', [1]);
      const before = state;
      const inputs: Inputs = { state, at, row };
      const outputs = await session.run(inputs, { keep: ['state'], donate: ['state'] });
      state = outputs.state;
      expect(outputs['y'] instanceof Tensor && outputs['y'].data[0]).toBe(n);
      if (!(before instanceof DeviceTensor)) continue;
      await expect(before.read()).rejects.toThrow('a handle that was disposed of');
    }
    expect([...(await (state as DeviceTensor).read()).data]).toEqual([1, 2, 3]);
  });

  test('takes over a state that grows, and extends it where it lies', async () => {
    const { remote, device } = await startServing();
    await using session = await Session.load(GROW, { remote });
    let state: Tensor | DeviceTensor = new Tensor('float32', new Float32Array(0), [0, 16]);
    const live = new Set<number>();
    for (let n = 1; n <= 40; n++) {
      const row = new Tensor('float32', new Float32Array(16).fill(n), [1, 16]);
      const inputs: Inputs = { state, row };
      const outputs = await session.run(inputs, { keep: ['state'], donate: ['state'] });
      const { sum } = outputs;
      state = outputs.state;
      expect(sum instanceof Tensor && sum.data[15]).toBe((n * (n + 1)) / 2);
      live.add(device.counters().bytesLive);
    }
    // Twice the room each time that it is used up.
    expect(live.size).toBeLessThan(8);
    const { data, shape } = await (state as DeviceTensor).read();
    expect([shape, data[0], data.at(-1)]).toEqual([[40, 16], 1, 40]);
  });

  test('ends with the connection; what it had is free', async () => {
    const { remote, served, device } = await startServing();
    const session = await Session.load(LOOP, { remote });
    await session.run({ x: X, n: 2 }, { keep: 'device' });
    const run = session.run({ x: X, n: 1e8 });
    served.close();
    await expect(run).rejects.toMatchObject({ name: 'RemoteLostError' });
    await expect(session.memory()).rejects.toMatchObject({ name: 'RemoteLostError' });
    await settle();
    expect(device.counters().bytesLive).toBe(0);
    await session.dispose();
  });

  test('says what it cannot: other devices, options of a worker, tuning', async () => {
    const { remote } = await startServing();
    const load = (options: object) => Session.load(SQUARE, { remote, ...options });
    await expect(load({ device: 'webgpu' })).rejects.toThrow('expected one that serves such');
    await expect(load({ pin: true })).rejects.toThrow('the option pin');
    await expect(load({ dims: { n: 3 } })).rejects.toThrow('an ONNX model');
    await expect(load({ device: 'host' })).resolves.toBeInstanceOf(Session);
    const session = await load({});
    await expect(session.tune()).rejects.toMatchObject({ name: 'UnsupportedError' });
  });

  test('tells the server what runs', async () => {
    const events: string[] = [];
    const onEvent = (event: ServeEvent) => void events.push(event.kind);
    const { remote } = await startServing({ onEvent });
    const session = await Session.load(SQUARE, { remote });
    await session.run({ x: X });
    expect(events).toEqual(['connected', 'load', 'call', 'done']);
  });
});

test('limits and modes of a session go to the server with its program', async () => {
  const { remote } = await startServing();
  let sent: unknown;
  const door: SessionDoor = {
    devices: remote.devices,
    open: async (_, { limits }) => {
      sent = programLimits(JSON.parse(limits));
      throw new Error('enough');
    },
  };
  const asked = { compile: 'ahead', precision: 'fast', programKernels: 'refuse' } as const;
  const source = { kind: 'bytes', bytes: SQUARE } as const;
  const request = { source, device: 'host', dims: {}, runTimeout: 5, ...asked } as const;
  const loading = new RemoteService(door).load(1, request, undefined);
  await expect(loading).rejects.toThrow('enough');
  expect(sent).toEqual({ runTimeout: 5, ...asked });
});

describe('limits of the server', () => {
  test('bound the instructions of a run, and a session by what it asked for', async () => {
    const { remote } = await startServing({ limits: { instructionLimit: 10_000 } });
    const session = await Session.load(LOOP, { remote, instructionLimit: 1e6 });
    await expect(session.run({ x: X, n: 1e6 })).rejects.toThrow('10000 instructions');
    const modest = await Session.load(LOOP, { remote, instructionLimit: 50 });
    await expect(modest.run({ x: X, n: 1e6 })).rejects.toThrow('50 instructions');
    const small = await Session.load(LOOP, { remote, limits: { registers: 2 } });
    await expect(small.run({ x: X, n: 2 })).rejects.toThrow('beyond 2 registers');
    const { remote: narrow } = await startServing({ limits: { registers: 2 } });
    const large = await Session.load(LOOP, { remote: narrow, limits: { registers: 1000 } });
    await expect(large.run({ x: X, n: 2 })).rejects.toThrow('beyond 2 registers');
  });

  test('bound the time of a run, also of one that was resumed', async () => {
    const clock = new FakeClock();
    const { remote } = await startServing({ limits: { runTimeout: 200 }, clock });
    const held = await Session.load(LOOP, { remote });
    await held.pause();
    const late = clock.advanceUntil(held.run({ x: X, n: 2 }), 200);
    await expect(late).rejects.toThrow('more than 200 ms');
    const { remote: other } = await startServing();
    const patient = await Session.load(LOOP, { remote: other });
    const paused = patient.pause({ at: { function: 'main', instruction: 4 } });
    patient.run({ x: X, n: 1e8 }).catch(() => undefined);
    await paused;
    const kept = await patient.snapshot();
    await patient.dispose();
    const resumed = await Session.resume(kept, { executable: LOOP, remote, paused: true });
    const result = Promise.resolve(resumed.resumed.runs[0]?.result());
    await expect(clock.advanceUntil(result, 200)).rejects.toThrow('more than 200 ms');
  });

  test('bound the sessions and the handles of one who connects', async () => {
    const { remote } = await startServing({ limits: { modules: 2, handles: 4 } });
    const first = await Session.load(SQUARE, { remote });
    const second = await Session.load(SQUARE, { remote });
    await expect(Session.load(SQUARE, { remote })).rejects.toThrow('more than 2 loaded');
    const keep = () => first.run({ x: X }, { keep: 'device' });
    const kept = [await keep(), await keep()];
    await expect(keep()).rejects.toMatchObject({ name: 'LimitError' });
    for (const { result } of kept) result?.dispose();
    expect((await first.run({ x: X }))['result']).toEqual(Tensor.from([1, 4, 9]));
    await second.dispose();
    await Session.load(SQUARE, { remote });
  });

  test('bound the memory of all sessions together, and a session by what it asked for', async () => {
    const { remote } = await startServing({ limits: { byteBudget: 2 ** 20 } });
    const [small, large] = [
      await Session.load(SQUARE, { remote, byteBudget: 2 ** 18 }),
      await Session.load(SQUARE, { remote }),
    ];
    const x = (length: number) => ({
      x: new Tensor('float32', new Float32Array(length), [length]),
    });
    await expect(small.run(x(2 ** 17))).rejects.toMatchObject({ name: 'OutOfMemoryError' });
    const kept = await large.run(x(2 ** 16), { keep: 'device' });
    expect(await small.run(x(2 ** 10))).toHaveProperty('result');
    expect(await large.run(x(2 ** 16), { keep: 'device' })).toHaveProperty('result');
    await expect(large.run(x(2 ** 18))).rejects.toMatchObject({ name: 'OutOfMemoryError' });
    expect(kept).toHaveProperty('result');
  });
});

describe('what no page sends is refused with ProtocolError', () => {
  /** The other side of a server without the page's code, and a session as it has it. */
  async function opened() {
    const [clientEnd, serverEnd] = channelPair();
    const device = createHostDevice();
    const served = serve(serverEnd, { devices: [device], token: TOKEN });
    await introduce(clientEnd, { token: TOKEN, name: 'x', timeoutMs: 60_000, isSealed: false });
    const options = { limits: DEFAULT_RPC_LIMITS, peerName: 'desk', methods: new Map() };
    const connection = new Connection(clientEnd, options);
    const hash = await sha256(SQUARE);
    const file = new HostTensor('uint8', [SQUARE.byteLength], SQUARE);
    await connection.call('store', [hash, file]);
    const open = async (...args: RpcInput[]): Promise<RemoteFunction> => {
      const loaded = await connection.call('session', args);
      const [session] = loaded instanceof RpcTuple ? loaded.fields : [];
      if (!isRemoteFunction(session)) throw new Error('internal: no session');
      return session;
    };
    return { session: await open(hash, 0, '{}'), open, hash, served, device };
  }

  const x = HostTensor.from('float32', [3], [1, 2, 3]);

  test.each<[string, readonly RpcInput[]]>([
    ['a call that sessions do not have', ['constructor']],
    ['a call without a name', [7]],
    ['no call', []],
    ['arguments that are no list', ['run', 'main', 7]],
    ['a function without a name', ['run', null, [x]]],
    ['a tensor that does not belong to the session', ['read', 7]],
    ['a tensor by value to read', ['read', x]],
    ['sizes that are no JSON', ['warmup', '{']],
    ['sizes that are none', ['warmup', '{"n":-1}']],
    ['a list of sizes', ['warmup', '[1]']],
    ['a request of another kind', ['control', '{"kind":"toString"}', []]],
    ['a place that is none', ['control', '{"kind":"pause","at":{"function":1}}', []]],
    ['visits that are no count', ['control', '{"kind":"pause","visit":"1"}', []]],
    ['names that are none', ['control', '{"kind":"snapshot","names":[1],"note":""}', []]],
    ['a snapshot without bytes', ['control', '{"kind":"restore"}', []]],
    ['a run that is no number', ['control', '{"kind":"result","index":0.5}', []]],
    ['a timeline of nothing', ['control', '{"kind":"timeline","runs":1}', []]],
    [
      'a timeline of endless runs',
      ['control', '{"kind":"timeline","functionName":"main","runs":101}', []],
    ],
    ['values that are not a list', ['control', '{"kind":"continue"}', null]],
    ['a debugging run of the page', ['control', '{"kind":"debug","run":1}', []]],
    ['a debugging run without a function', ['debug', 7, []]],
    ['a debugging run of no list', ['debug', 'main', 7]],
    ['a watched run without a function', ['watch', null, []]],
    ['constants that are no list', ['constants', '{"indices":1}']],
    ['a constant twice', ['constants', '{"indices":[0,0]}']],
    ['constants backwards', ['constants', '{"indices":[1,0]}']],
    ['a constant that is not there', ['constants', '{"indices":[99]}']],
    ['a constant of no number', ['constants', '{"indices":["constructor"]}']],
  ])('%s', async (_, args) => {
    const { session } = await opened();
    await expect(session(...args)).rejects.toMatchObject({ name: 'ProtocolError' });
    expect(await session('run', 'main', [x])).toBeInstanceOf(RpcTuple);
  });

  test.each([
    ['limits that are no JSON', 'limits'],
    ['limits that are no numbers', '{"instructionLimit":"1"}'],
    ['limits below 0', '{"byteBudget":-1}'],
    ['limits that are no object', 'null'],
  ])('%s', async (_, limits) => {
    const { open, hash } = await opened();
    await expect(open(hash, 0, limits)).rejects.toMatchObject({ name: 'ProtocolError' });
  });

  const asRun = (value: RpcInput): RemoteFunction => {
    if (isRemoteFunction(value)) return value;
    throw new Error('internal: no run');
  };

  test.each([
    ['no JSON', '{'],
    ['another order', '{"do":"constructor"}'],
    ['no order', '{}'],
    ['a place that is none', '{"do":"seek","executed":"1"}'],
    ['breakpoints that are no list', '{"do":"setBreakpoints","breakpoints":{}}'],
    ['breakpoints that are none', '{"do":"setBreakpoints","breakpoints":[null]}'],
    ['a breakpoint at no place', '{"do":"setBreakpoints","breakpoints":[{"at":{"function":1}}]}'],
    [
      'endless breakpoints',
      JSON.stringify({
        do: 'setBreakpoints',
        breakpoints: Array.from({ length: 101 }, () => ({ node: 'x' })),
      }),
    ],
    ['a frame of no number', '{"do":"registers","frame":"0"}'],
    ['a register of no number', '{"do":"value","frame":0,"register":null,"path":[]}'],
    ['a path that is none', '{"do":"value","frame":0,"register":0,"path":["length"]}'],
    [
      'an endless path',
      JSON.stringify({ do: 'value', frame: 0, register: 0, path: new Array(1001).fill(0) }),
    ],
  ])('of a debugging run: %s', async (_, order) => {
    const { session } = await opened();
    const run = asRun(await session('debug', 'main', [x]));
    await expect(run(order)).rejects.toMatchObject({ name: 'ProtocolError' });
    expect(await run('{"do":"start"}')).toBeInstanceOf(RpcTuple);
  });

  test('of a debugging run: registers, parts and frames that are not there', async () => {
    const { session } = await opened();
    const run = asRun(await session('debug', 'main', [x]));
    await run('{"do":"start"}');
    for (const order of [
      '{"do":"value","frame":0,"register":-1,"path":[]}',
      '{"do":"value","frame":0,"register":0,"path":[-1]}',
      '{"do":"value","frame":0,"register":{"number":"NaN"},"path":[]}',
      '{"do":"registers","frame":-1}',
      '{"do":"seek","executed":{"number":"Infinity"}}',
    ]) {
      await expect(run(order)).rejects.toMatchObject({ name: 'UsageError' });
    }
  });

  test('of a watched run: other orders, two at a time, tensors where it stands at no kernel', async () => {
    const { session } = await opened();
    const run = asRun(await session('watch', 'main', [x], 1));
    await expect(run('constructor')).rejects.toMatchObject({ name: 'ProtocolError' });
    await expect(run(7)).rejects.toMatchObject({ name: 'ProtocolError' });
    await expect(run('results')).rejects.toMatchObject({ name: 'UsageError' });
    const [first, second] = [run('next', 1), run('next', 1)];
    await expect(second).rejects.toMatchObject({ name: 'ProtocolError' });
    expect(await first).toBeInstanceOf(RpcTuple);
    expect(await run('inputs')).toBeInstanceOf(RpcTuple);
    expect(await run('next')).toBe(null);
    await expect(run('next')).rejects.toThrow('got an order for a run that is over');
  });

  test('runs that are begun and given up again and again leave nothing', async () => {
    const { session, device } = await opened();
    for (let round = 0; round < 200; round++) {
      for (const call of ['watch', 'debug']) {
        const run = asRun(await session(call, 'main', [x]));
        const order = run(call === 'watch' ? 'next' : '{"do":"start"}').catch(() => undefined);
        if (round % 2 === 0) await order;
        run.release();
      }
      const refused = asRun(await session('debug', 'main', []));
      await expect(refused('{"do":"start"}')).rejects.toMatchObject({ name: 'UsageError' });
      refused.release();
    }
    await expect.poll(() => session('memory')).toContain('"liveBytes":0');
    session.release();
    await expect.poll(() => device.counters().bytesLive).toBe(0);
  });

  test('and a handle of another session, a function, a program or device that is not there', async () => {
    const { session, open, hash } = await opened();
    const other = await open(hash, 0, '{}');
    const kept = await other.invoke(['run', 'main', [x]], { keep: 'device' });
    const [, values] = kept instanceof RpcTuple ? kept.fields : [];
    const [handle = null] = values instanceof RpcTuple ? values.fields : [];
    expect(handle).toBeInstanceOf(RemoteTensor);
    const foreign = session('run', 'main', [handle]);
    await expect(foreign).rejects.toMatchObject({ name: 'ProtocolError' });
    const callback = session('run', 'main', [() => null]);
    await expect(callback).rejects.toThrow('parameter x: got packed function');
    await expect(open('0'.repeat(64), 0, '{}')).rejects.toMatchObject({ name: 'UsageError' });
    await expect(open(hash, 7, '{}')).rejects.toMatchObject({ name: 'UsageError' });
  });

  test('a snapshot that was cut or changed is FormatError, and leaves nothing', async () => {
    const { session, device } = await opened();
    const before = device.counters().bytesLive;
    const request = '{"kind":"snapshot","names":["x"],"note":"","pausing":true}';
    const stored = await session('control', request, [x]);
    const [results] = stored instanceof RpcTuple ? stored.fields : [];
    const [, values] = results instanceof RpcTuple ? results.fields : [];
    const [file] = values instanceof RpcTuple ? values.fields : [];
    if (!(file instanceof HostTensor)) throw new Error('internal: no snapshot');
    const random = seededRandom(5);
    for (let round = 0; round < 30; round++) {
      const bytes = file.bytes.slice();
      const at = Math.floor(random() * bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 + Math.floor(random() * 255));
      const changed = new HostTensor('uint8', [bytes.length], bytes);
      const restored = session('control', '{"kind":"restore"}', [], changed);
      await expect(restored).rejects.toMatchObject({ name: 'FormatError' });
    }
    session.release();
    await expect.poll(() => device.counters().bytesLive).toBeLessThanOrEqual(before);
  });
});
