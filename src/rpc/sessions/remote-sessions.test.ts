import { describe, expect, test } from 'vitest';
import { ExecBuilder } from '../../bytecode/index.ts';
import { DeviceTensor, type Inputs, Session, Tensor } from '../../client/index.ts';
import { compile, parseModule } from '../../compiler/index.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { loopAndTree } from '../../runtime/testing/long-programs.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { Deferred } from '../../core/async/deferred.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import { Connection } from '../connection.ts';
import { sha256 } from '../executable-store.ts';
import { introduce } from '../handshake/handshake.ts';
import type { ServeEvent } from '../served-device.ts';
import { DEFAULT_RPC_LIMITS, type RpcLimits } from '../limits.ts';
import { callWithData, isRemoteFunction } from '../values/remote-handles.ts';
import { serve } from '../serve.ts';
import { loadRequest } from './checked-requests.ts';
import { RemoteService } from './remote-service.ts';
import type { SessionDoor } from './session-door.ts';
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
  let sent: unknown;
  const door: SessionDoor = {
    ship: sha256,
    call: async (_, [request]) => {
      sent = request;
      throw new Error('enough');
    },
  };
  const asked = { compile: 'ahead', precision: 'fast', programKernels: 'refuse' } as const;
  const source = { kind: 'bytes', bytes: SQUARE } as const;
  const request = { source, device: 'host', dims: {}, runTimeout: 5, ...asked } as const;
  const loading = new RemoteService(door).load(1, request, undefined);
  await expect(loading).rejects.toThrow('enough');
  const stored = { kind: 'stored', hash: await sha256(SQUARE) };
  expect(loadRequest(sent, 'request')).toEqual({ ...request, source: stored });
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
  async function opened(limits: Partial<RpcLimits> = {}) {
    const [clientEnd, serverEnd] = channelPair();
    const device = createHostDevice();
    const served = serve(serverEnd, { devices: [device], token: TOKEN, limits });
    await introduce(clientEnd, { token: TOKEN, name: 'x', timeoutMs: 60_000, isSealed: false });
    const options = { limits: DEFAULT_RPC_LIMITS, peerName: 'desk', methods: new Map() };
    const connection = new Connection(clientEnd, options);
    const hash = await sha256(SQUARE);
    await connection.call('store', [hash, SQUARE]);
    const call = (...args: readonly unknown[]) => connection.call('session', args);
    const open = async (request: object = {}, page?: unknown): Promise<number> => {
      const source = { kind: 'stored', hash };
      const loaded = await call('load', { source, device: 'host', ...request }, page);
      return (loaded as { session: number }).session;
    };
    return { call, session: await open(), open, hash, served, device, connection };
  }

  const x = { kind: 'tensor', dtype: 'float32', shape: [3], data: Float32Array.of(1, 2, 3) };
  const run = (session: number, parts: object = {}): readonly unknown[] => [
    'run',
    { session, functionName: 'main', args: [x], ...parts },
  ];
  const withArgs = (...args: readonly unknown[]) => ['run', { args }] as const;
  const asking = (tool: string, request: unknown, args: readonly unknown[] = []) => ({
    kind: 'tool',
    tool,
    request,
    args,
  });
  const tool = (name: string, request: unknown) => ['control', asking(name, request)] as const;

  test.each<[string, readonly unknown[]]>([
    ['a call that sessions do not have', ['constructor']],
    ['another one', ['__proto__']],
    ['one of pages', ['cancel', 1]],
    ['a call without a name', [7]],
    ['no call', []],
    ['no request', ['run']],
    ['a request that is a list', ['run', []]],
    ['arguments that are no list', ['run', { args: 7 }]],
    ['a function without a name', ['run', { functionName: null }]],
    ['a session of no number', ['run', { session: '1' }]],
    ['results to keep that are none', ['run', { keep: 'constructor' }]],
    ['an argument of another kind', withArgs({ kind: 'constructor' })],
    ['an argument of no kind', withArgs({})],
    ['an argument that is none', withArgs(7)],
    ['an argument that is a value of a module', withArgs(HostTensor.zeros('float32', [3]))],
    ['an int that is none', withArgs({ kind: 'int', value: 0.5 })],
    ['a tensor of another size', withArgs({ ...x, shape: [4] })],
    ['a tensor of another type', withArgs({ ...x, dtype: 'int32' })],
    ['a tensor of no type', withArgs({ ...x, dtype: 'constructor' })],
    ['a tensor below no size', withArgs({ ...x, shape: [-3] })],
    ['a tensor of too many dimensions', withArgs({ ...x, shape: new Array(40).fill(1) })],
    ['a tensor without elements', withArgs({ ...x, data: undefined })],
    ['a tensor whose elements are a list', withArgs({ ...x, data: [1, 2, 3] })],
    ['data without fields', withArgs({ kind: 'adt', tag: 0 })],
    ['data of no tag', withArgs({ kind: 'adt', tag: -1, fields: [] })],
    ['data with a field that is none', withArgs({ kind: 'adt', tag: 0, fields: [{}] })],
    ['a function that is none', withArgs({ kind: 'packed', name: 'f', call: 7 })],
    ['a page that is none', ['run', {}, 7]],
    ['a handle of no number', ['read', '1']],
    ['a tensor by value to read', ['read', x]],
    ['sizes that are none', ['warmup', { n: -1 }]],
    ['a list of sizes', ['warmup', [1]]],
    ['a request of another kind', ['control', { kind: 'toString', args: [] }]],
    ['a request without arguments', ['control', { kind: 'continue' }]],
    ['a place that is none', ['control', { kind: 'pause', at: { function: 1 }, args: [] }]],
    ['visits that are no count', ['control', { kind: 'pause', visit: '1', args: [] }]],
    ['names that are none', ['control', { kind: 'snapshot', names: [1], note: '', args: [] }]],
    ['a file of the server', ['control', { kind: 'keep', store: 'x', args: [] }]],
    ['a snapshot without bytes', ['control', { kind: 'restore', args: [] }]],
    ['a run that is no number', ['control', { kind: 'result', index: 0.5, args: [] }]],
    ['a timeline of nothing', tool('timeline', { runs: 1 })],
    ['a timeline of endless runs', tool('timeline', { functionName: 'main', runs: 101 })],
    ['tuning', tool('tune', { index: 0 })],
    ['a tool that is none', tool('toString', {})],
    ['a tool without a request', tool('source', undefined)],
    ['a trace, which this side does', tool('trace', { functionName: 'main', skips: false })],
    ['a picture', ['control', { kind: 'hold', picture: 1, source: {}, args: [] }]],
    ['values that are not a list', ['control', { kind: 'continue', args: null }]],
    ['a debugging run of no number', tool('debug', { functionName: 'main' })],
    ['a debugging run without a function', tool('debug', { run: 1 })],
    [
      'the start of a debugging run that was not begun',
      tool('debug', { run: 9, order: { do: 'start' } }),
    ],
    ['a watched run without a function', ['watch', { args: [], keepsInputs: false }]],
    ['constants that are no list', ['constants', 1]],
    ['a constant twice', ['constants', [0, 0]]],
    ['constants backwards', ['constants', [1, 0]]],
    ['a constant that is not there', ['constants', [99]]],
    ['a constant of no number', ['constants', ['constructor']]],
  ])('%s', async (_, [name, ...args]) => {
    const { call, session } = await opened();
    const [first] = args;
    const isRun = name === 'run';
    const sent = isRun && isPlain(first) ? run(session, first).slice(1, 2) : [session, first];
    const asked = call(name, ...sent, ...args.slice(1));
    await expect(asked).rejects.toMatchObject({ name: 'ProtocolError' });
    expect(await call(...run(session))).toMatchObject([{ name: 'result' }]);
  });

  const isPlain = (value: unknown): value is object =>
    typeof value === 'object' && !Array.isArray(value);

  test.each<[string, object]>([
    ['limits that are no numbers', { instructionLimit: '1' }],
    ['limits below 0', { byteBudget: -1 }],
    ['another device', { device: 'constructor' }],
    ['a program that was not sent', { source: { kind: 'url', url: 'https://weft.invalid/' } }],
    ['names of functions that are none', { functions: [1] }],
    ['types of nodes that are none', { nodeTypes: { f: 1 } }],
  ])('%s', async (_, request) => {
    const { open } = await opened();
    await expect(open(request)).rejects.toMatchObject({ name: 'ProtocolError' });
  });

  test('options of a load that only workers have do not reach the host', async () => {
    const { open, call } = await opened();
    const session = await open({
      pin: true,
      priority: 5,
      threads: 64,
      devices: ['webgpu', 'wasm'],
    });
    expect(await call('memory', session)).not.toHaveProperty('sharing');
  });

  test('names of objects among data change no object', async () => {
    const { call, open, session, connection } = await opened();
    const evil: object = JSON.parse('{"__proto__":{"keep":"device"},"constructor":{"x":1}}');
    await expect(call('warmup', session, evil)).rejects.toThrow(
      'a field without a name of its own',
    );
    expect(await connection.closed).toMatchObject({ name: 'RemoteLostError' });
    expect({}).not.toHaveProperty('keep');
    void open;
  });

  async function debugging(args: readonly unknown[] = [x]) {
    const { call, session, ...rest } = await opened();
    const control = (request: object) => call('control', session, { args: [], ...request });
    const over = control(asking('debug', { run: 1, functionName: 'main' }, args));
    over.catch(() => undefined);
    const order = (given: unknown) => control(asking('debug', { run: 1, order: given }));
    return { ...rest, call, session, control, over, order };
  }

  test.each<[string, unknown]>([
    ['no order', {}],
    ['a text', '{"do":"start"}'],
    ['another order', { do: 'constructor' }],
    ['a place that is none', { do: 'seek', executed: '1' }],
    ['breakpoints that are no list', { do: 'setBreakpoints', breakpoints: {} }],
    ['breakpoints that are none', { do: 'setBreakpoints', breakpoints: [null] }],
    ['a breakpoint at no place', { do: 'setBreakpoints', breakpoints: [{ at: { function: 1 } }] }],
    [
      'endless breakpoints',
      { do: 'setBreakpoints', breakpoints: Array.from({ length: 101 }, () => ({ node: 'x' })) },
    ],
    ['a frame of no number', { do: 'registers', frame: '0' }],
    ['a register of no number', { do: 'value', frame: 0, register: null, path: [] }],
    ['a path that is none', { do: 'value', frame: 0, register: 0, path: ['length'] }],
    ['an endless path', { do: 'value', frame: 0, register: 0, path: new Array(1001).fill(0) }],
  ])('of a debugging run: %s', async (_, given) => {
    const { order, control } = await debugging();
    await expect(order(given)).rejects.toMatchObject({ name: 'ProtocolError' });
    expect(await order({ do: 'start' })).toMatchObject({ answer: { stop: { executed: 0 } } });
    const again = control(asking('debug', { run: 1, functionName: 'main' }, [x]));
    await expect(again).rejects.toThrow('a debugging run of a number that is in use');
  });

  test('of a debugging run: registers, parts and frames that are not there', async () => {
    const { order } = await debugging();
    await order({ do: 'start' });
    for (const given of [
      { do: 'value', frame: 0, register: -1, path: [] },
      { do: 'value', frame: 0, register: 0, path: [-1] },
      { do: 'value', frame: 0, register: Number.NaN, path: [] },
      { do: 'registers', frame: -1 },
      { do: 'seek', executed: Number.POSITIVE_INFINITY },
    ]) {
      await expect(order(given)).rejects.toMatchObject({ name: 'UsageError' });
    }
  });

  const asRun = (value: unknown) => {
    if (!isRemoteFunction(value)) throw new Error('internal: no run');
    const order = (...args: readonly unknown[]) => callWithData(value, args);
    return Object.assign(order, { release: () => value.release() });
  };
  const WATCH = { functionName: 'main', args: [x], keepsInputs: true };

  test('of a watched run: other orders, two at a time, tensors where it stands at no kernel', async () => {
    const { call, session } = await opened();
    const watched = asRun(await call('watch', session, WATCH));
    await expect(watched('constructor')).rejects.toMatchObject({ name: 'ProtocolError' });
    await expect(watched(7)).rejects.toMatchObject({ name: 'ProtocolError' });
    await expect(watched('results')).rejects.toMatchObject({ name: 'UsageError' });
    const [first, second] = [watched('next', true), watched('next', true)];
    await expect(second).rejects.toMatchObject({ name: 'ProtocolError' });
    expect(await first).toMatchObject({ kernel: 'mul' });
    expect(await watched('inputs')).toMatchObject([{ shape: [3] }]);
    expect(await watched('next')).toBe(null);
    await expect(watched('next')).rejects.toThrow('got an order for a run that is over');
  });

  test('runs that are begun and given up again and again leave nothing', async () => {
    const { call, session, device, connection } = await opened();
    for (let round = 0; round < 200; round++) {
      const ended = new AbortController();
      const watched = asRun(await call('watch', session, WATCH));
      const begin = { run: round, functionName: 'main' };
      const request = asking('debug', begin, [x]);
      const sent = new Deferred();
      const options = { signal: ended.signal, onSent: () => sent.resolve() };
      const debugged = connection.call('session', ['control', session, request], options);
      await sent.promise;
      const order = asking('debug', { run: round, order: { do: 'start' } });
      const orders = [watched('next'), call('control', session, order)];
      for (const each of [debugged, ...orders]) each.catch(() => undefined);
      if (round % 2 === 0) await Promise.all(orders);
      watched.release();
      ended.abort();
      const refused = call('control', session, asking('debug', { ...begin, run: -1 - round }, [x]));
      await expect(refused).rejects.toMatchObject({ name: 'ProtocolError' });
    }
    await expect.poll(() => call('memory', session)).toMatchObject({ liveBytes: 0 });
    await expect.poll(() => connection.counters().callsPending).toBe(0);
    await call('dispose', session);
    await expect.poll(() => device.counters().bytesLive).toBe(0);
  });

  test('a debugging run for wrong inputs is refused with the same message as on the page', async () => {
    const { call, session, over, order } = await debugging([]);
    await expect(order({ do: 'start' })).rejects.toMatchObject({ name: 'UsageError' });
    await order({ do: 'close' });
    expect(await over).toMatchObject({ results: [] });
    await expect(order({ do: 'start' })).rejects.toMatchObject({ name: 'ProtocolError' });
    const handle = { kind: 'handle', handle: 9, dtype: 'float32', shape: [3] };
    const request = asking('debug', { run: 1, functionName: 'main' }, [handle]);
    const refused = call('control', session, request);
    const started = order({ do: 'start' });
    refused.catch(() => undefined);
    started.catch(() => undefined);
    await expect(refused).rejects.toMatchObject({ name: 'UsageError' });
    // It ends with the run, or comes behind it.
    await expect(started).rejects.toThrow(/disposed of|not begun/);
  });

  test('and a handle, a function, a session, a program or device that is not there', async () => {
    const { call, session, open } = await opened();
    const handle = { kind: 'handle', handle: 1, dtype: 'float32', shape: [3] };
    for (const asked of [
      call(...run(session, { args: [handle] })),
      call('read', session, 1),
      call(...run(session, { args: [{ kind: 'closure', handle: 1 }] })),
      call(...run(session, { args: [{ kind: 'packed', name: 'f' }] })),
      call(...run(session, { callee: 1 })),
      call(...run(session + 1)),
      call('watch', session + 1, WATCH),
      open({ source: { kind: 'stored', hash: '0'.repeat(64) } }),
    ]) {
      await expect(asked).rejects.toMatchObject({ name: 'UsageError' });
    }
    const opaque = call(...run(session, { args: [{ kind: 'opaque', name: 'o', id: 1 }] }));
    await expect(opaque).rejects.toMatchObject({ name: 'UnsupportedError' });
    const callback = { kind: 'packed', name: 'f', call: () => null };
    await expect(call(...run(session, { args: [callback] }))).rejects.toThrow(
      'parameter x: got packed function',
    );
    await expect(open({ device: 'webgpu' })).rejects.toMatchObject({ name: 'DeviceError' });
  });

  test('what cannot be sent is not kept', async () => {
    const { call, session } = await opened({ messageBytes: 1 << 20 });
    const large = { ...x, shape: [1 << 17], data: new Float32Array(1 << 17) };
    const kept = await call(...run(session, { args: [large], keep: 'device' }));
    const [{ value }] = kept as [{ value: { handle: number } }];
    await call('release', session, value.handle);
    await expect.poll(() => call('memory', session)).toMatchObject({ liveBytes: 0 });
  });

  test('a snapshot that was cut or changed is FormatError, and leaves nothing', async () => {
    const { call, session, device } = await opened();
    const before = device.counters().bytesLive;
    const request = { kind: 'snapshot', names: ['x'], note: '', pausing: true, args: [x] };
    const stored = await call('control', session, request);
    const [file] = (stored as { results: [{ value: { data: Uint8Array } }] }).results;
    const random = seededRandom(5);
    for (let round = 0; round < 30; round++) {
      const bytes = file.value.data.slice();
      const at = Math.floor(random() * bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 + Math.floor(random() * 255));
      const restored = call('control', session, { kind: 'restore', bytes, args: [] });
      await expect(restored).rejects.toMatchObject({ name: 'FormatError' });
    }
    await call('dispose', session);
    await expect.poll(() => device.counters().bytesLive).toBeLessThanOrEqual(before);
  });
});
