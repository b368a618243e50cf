import { describe, expect, test } from 'vitest';
import { nodeGpu } from '../testing/node-gpu.ts';
import { Deferred } from '../core/async/deferred.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { macrotask } from '../core/async/macrotask.ts';
import { ExecBuilder } from '../bytecode/index.ts';
import { compile, parseModule } from '../compiler/index.ts';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import {
  addWeights,
  callsPacked,
  countingLoop,
  sumAndProduct,
} from '../worker/testing/test-programs.ts';
import {
  DeviceTensor,
  type LoadOptions,
  type LoadProgress,
  Session,
  type SessionSource,
  Tensor,
} from './index.ts';

const x = Tensor.from([1, 2, 3]);
const y = Tensor.from([10, 20, 30]);

/** Opens a session in this thread. */
async function open(
  device: 'host' | 'webgpu',
  source: SessionSource,
  options: LoadOptions = {},
): Promise<Session> {
  const gpu = device === 'webgpu' ? { gpu: await nodeGpu() } : {};
  return Session.load(source, { worker: false, device, ...gpu, ...options });
}

describe.each(['host', 'webgpu'] as const)('a session on %s', (device) => {
  test('describes itself and runs', async () => {
    const session = await open(device, sumAndProduct().toBytes());
    expect(session.inputs).toEqual([
      { name: 'x', dtype: 'float32', shape: ['n'] },
      { name: 'y', dtype: 'float32', shape: ['n'] },
    ]);
    expect(session.outputs.map(({ name }) => name)).toEqual(['sum', 'product']);
    expect(session.functions).toEqual(['main']);
    expect(session.device.kind).toBe(device);
    expect(session.device.fallbackReason).toBe(undefined);
    expect(session.placements).toEqual([]);
    const outputs = await session.run({ x, y });
    expect(outputs['sum']?.toNested()).toEqual([11, 22, 33]);
    expect(outputs['product']?.toNested()).toEqual([10, 40, 90]);
    await session.dispose();
  });

  test('tells which nodes were placed on the host', async () => {
    const text = 'def @main(%x: Tensor[(2,), float64]) { neg(%x) }';
    const session = await open(device, compile(parseModule(text)).toBytes());
    expect(session.placements).toEqual([
      {
        node: 'ir:1:40',
        operator: 'neg',
        device: device === 'host' ? 'host' : 'wasm',
        reason: 'WebGPU has no kernels for float64',
      },
    ]);
    const given = new Tensor('float64', Float64Array.of(1 / 3, 2), [2]);
    const { result } = await session.run({ x: given });
    expect(result?.toNested()).toEqual([-1 / 3, -2]);
    await session.dispose();
  });

  test('refuses placements that are none', async () => {
    const builder = new ExecBuilder();
    builder.metadata('placements', '[1]');
    const f = builder.function('main', ['x']);
    f.ret(f.param('x'));
    await expect(open(device, builder.build().toBytes())).rejects.toThrow(
      'metadata, placements: got [1], expected a list of node, operator and reason as JSON.',
    );
  });

  test('copies inputs when run is called, and moves them only when told to', async () => {
    const session = await open(device, sumAndProduct().toBytes());
    const data = Float32Array.of(1, 2, 3);
    const mutable = new Tensor('float32', data, [3]);
    const running = session.run({ x: mutable, y });
    data.fill(0);
    expect((await running)['sum']?.toNested()).toEqual([11, 22, 33]);
    await session.dispose();
  });

  test('keeps results on the device and takes them as inputs', async () => {
    const session = await open(device, sumAndProduct().toBytes());
    const { sum, product } = await session.run({ x, y }, { keep: 'device' });
    expect(sum).toBeInstanceOf(DeviceTensor);
    if (sum === undefined || product === undefined) throw new Error('no outputs');
    const chained = await session.run({ x: sum, y: sum });
    expect(chained['sum']?.toNested()).toEqual([22, 44, 66]);
    expect((await product.read()).toNested()).toEqual([10, 40, 90]);
    const before = await session.memory();
    sum.dispose();
    sum.dispose();
    product.dispose();
    const after = await session.memory();
    expect(after.liveBytes).toBeLessThan(before.liveBytes);
    expect(after.liveBytes).toBe(0);
    await expect(sum.read()).rejects.toThrowErrorMatchingInlineSnapshot(
      `[UsageError: DeviceTensor: got a handle that was disposed of, expected a live one.]`,
    );
    await expect(session.run({ x: sum, y })).rejects.toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: inputs of main: "x": got float32 (3,) in a DeviceTensor that was disposed of, expected float32 (n,) (n is 3 in "y").]`,
    );
    await session.dispose();
  });

  test('a handle that is disposed of right after a call is still good for it', async () => {
    const session = await open(device, sumAndProduct().toBytes());
    const { sum, product } = await session.run({ x, y }, { keep: 'device' });
    if (sum === undefined || product === undefined) throw new Error('no outputs');
    const profiling = session.profile({ x, y });
    const running = session.run({ x: sum, y: sum });
    sum.dispose();
    product.dispose();
    expect((await running)['sum']?.toNested()).toEqual([22, 44, 66]);
    expect((await profiling).kernels).toHaveLength(2);
    expect((await session.memory()).liveBytes).toBe(0);
    await session.dispose();
  });

  test('runs many calls and several sessions at once', async () => {
    const bytes = sumAndProduct().toBytes();
    const sessions = await Promise.all([open(device, bytes), open(device, bytes)]);
    const runs = Array.from({ length: 10 }, (_, i) => {
      const session = sessions[i % 2];
      if (session === undefined) throw new Error('no session');
      return session.run({ x: Tensor.from([i]), y: Tensor.from([1]) });
    });
    const sums = (await Promise.all(runs)).map((outputs) => outputs['sum']?.toNested());
    expect(sums).toEqual(Array.from({ length: 10 }, (_, i) => [i + 1]));
    await Promise.all(sessions.map((session) => session.dispose()));
  });

  test('profiles, warms up, lists and counts', async () => {
    const session = await open(device, sumAndProduct().toBytes());
    await session.warmup({ n: 3 });
    await expect(session.warmup({ m: 3 })).rejects.toThrowErrorMatchingInlineSnapshot(
      `[UsageError: warmup: got dimension m, expected n.]`,
    );
    const { outputs, kernels, totalMs, instructions } = await session.profile({ x, y });
    expect(outputs['sum']?.toNested()).toEqual([11, 22, 33]);
    expect(kernels.map(({ primitive }) => primitive)).toEqual(['add', 'mul']);
    expect(instructions).toBeGreaterThan(5);
    expect(Number.isFinite(totalMs)).toBe(true);
    expect(await session.listing()).toContain('func main(x: Tensor[(n,), float32]');
    await session.dispose();
  });

  test('stops a run when its signal aborts', async () => {
    const session = await open(device, countingLoop().toBytes());
    expect(await session.run<number>({ steps: 5 })).toEqual({ count: 5 });
    const controller = new AbortController();
    const reason = new Error('enough');
    const running = session.run({ steps: 1e12 }, { signal: controller.signal });
    await macrotask();
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(await session.run<number>({ steps: 7 })).toEqual({ count: 7 });
    await expect(session.run({ steps: 1 }, { signal: controller.signal })).rejects.toBe(reason);
    await session.dispose();
  });

  test('takes any number of calls at once without a warning of a leak', async () => {
    const session = await open(device, countingLoop().toBytes());
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warn);
    const { signal } = new AbortController();
    const runs = Array.from({ length: 30 }, (_, i) =>
      session.run<number>({ steps: i }, i % 2 === 0 ? {} : { signal }),
    );
    const counts = (await Promise.all(runs)).map(({ count }) => count);
    // Node reports a warning in a turn of its own.
    await macrotask();
    process.off('warning', warn);
    expect(counts).toEqual(Array.from({ length: 30 }, (_, i) => i));
    expect(warnings).toEqual([]);
    await session.dispose();
  });

  test('rejects pending and later calls after dispose', async () => {
    const session = await open(device, countingLoop().toBytes());
    const running = session.run({ steps: 1e12 });
    const rejected = expect(running).rejects.toThrow('The session was disposed.');
    await session.dispose();
    await session.dispose();
    await rejected;
    await expect(session.run({ steps: 1 })).rejects.toMatchObject({ name: 'UsageError' });
    await expect(session.memory()).rejects.toThrow('The session was disposed.');
  });

  test('loads a stream whose weights arrive late, with progress through the phases', async () => {
    const size = 600_000;
    const bytes = addWeights(size).toBytes();
    const reports: LoadProgress[] = [];
    const session = await open(device, chunked(bytes, 100_000), {
      onProgress: (progress) => reports.push(progress),
    });
    const phases = [...new Set(reports.map(({ phase }) => phase))];
    expect(phases.slice(0, 2)).toEqual(['download', 'verify']);
    expect(phases.slice(2).sort()).toEqual(['compile', 'upload']);
    for (const phase of phases) {
      const own = reports.filter((report) => report.phase === phase);
      const loaded = own.map((report) => report.loaded);
      expect(loaded).toEqual(loaded.toSorted((a, b) => a - b));
      const expected = { download: bytes.length, verify: 1, compile: 1, upload: size * 4 }[phase];
      expect(loaded.at(-1)).toBe(expected);
    }
    // The program was verified before the last bytes came.
    const verified = reports.findIndex(({ phase, loaded }) => phase === 'verify' && loaded === 1);
    const downloaded = reports.findIndex(({ loaded }) => loaded === bytes.length);
    expect(verified).toBeLessThan(downloaded);
    const { y: sum } = await session.run({
      x: new Tensor('float32', new Float32Array(size), [1, size]),
    });
    expect(sum?.data[123_456]).toBe(456);
    expect((await session.memory()).constantBytes).toBeGreaterThanOrEqual(size * 4);
    await session.dispose();
  });

  test('compiles an ONNX model, told apart by its bytes', async () => {
    const session = await open(device, onnxModel());
    expect(session.inputs).toEqual([{ name: 'a', dtype: 'float32', shape: [2] }]);
    const { b } = await session.run({ a: Tensor.from([1, 2]) });
    expect(b?.toNested()).toEqual([2, 4]);
    await session.dispose();
  });

  test('dispatches an ONNX model by shape', async () => {
    const by = { kind: 'logarithmic', min: 2, max: 7 } as const;
    const options = { dispatch: { main: { a: { 0: [[1, 2]], 1: by } } } } as const;
    const session = await open(device, squareModel(), options);
    expect(session.functions).toEqual(['main', 'main.n_1.m_2_3', 'main.n_1.m_4_7']);
    for (const columns of [3, 5]) {
      const data = new Float32Array(columns).fill(columns);
      const { b } = await session.run({ a: new Tensor('float32', data, [1, columns]) });
      expect(b?.toNested()).toEqual([Array.from({ length: columns }, () => columns ** 2)]);
    }
    const wide = session.run({ a: new Tensor('float32', new Float32Array(8), [1, 8]) });
    await expect(wide).rejects.toThrow(/a.*8/);
    await session.dispose();
  });
});

function squareModel(): Uint8Array {
  return writeOnnxModel({
    nodes: [{ op: 'Mul', name: 'node', inputs: ['a', 'a'], outputs: ['b'] }],
    inputs: [{ name: 'a', shape: ['n', 'm'] }],
    outputs: ['b'],
  });
}

describe('dispatching that cannot be', () => {
  const load = (dispatch: unknown, source: SessionSource = squareModel()) =>
    open('host', source, { dispatch } as LoadOptions);

  test.each([
    [
      { main: { a: { 1: () => [[1, 2]] } } },
      'dispatch.main.a.1: got a function, expected intervals [from, below]',
    ],
    [{ main: { a: { 1: 'few' } } }, 'axis 1 of a: got "few", expected a list of [from, below]'],
    [{ main: { a: { 1: [[3, 2]] } } }, 'axis 1 of a: got [3, 2], expected [from, below]'],
    [{ main: { a: { 1: [7] } } }, 'axis 1 of a: got 7, expected [from, below]'],
    [{ main: { a: { 1: { kind: 'even' } } } }, 'axis 1 of a: got {"kind":"even"}, expected'],
    [{ main: { a: { 1: null } } }, 'axis 1 of a: got null, expected'],
    [{ main: { a: { 1: { kind: 'uniform' } } } }, 'uniform: got undefined as step'],
    [{ main: { a: { 5: [[1, 2]] } } }, 'got axis 5 of parameter a'],
    [{ main: { c: { 0: [[1, 2]] } } }, 'got the parameter c, expected one of a'],
    [{ side: { a: { 0: [[1, 2]] } } }, 'got the function side, expected one of main'],
    [{ main: {} }, 'got no axis, expected at least one'],
    [{ main: null }, 'got null, expected axes by the names of parameters'],
    [{ main: { a: 3 } }, 'got 3 for parameter a, expected intervals by axis'],
  ])('%j', async (dispatch, message) => {
    const error: unknown = await load(dispatch).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ name: 'UsageError' });
    expect(String(error)).toContain(message);
  });

  test('an executable, which is compiled already', async () => {
    const loading = load({ main: { x: { 0: [[1, 2]] } } }, sumAndProduct().toBytes());
    await expect(loading).rejects.toThrow(
      'got an executable with the option dispatch, expected an ONNX model',
    );
  });
});

function onnxModel(op = 'Add'): Uint8Array {
  return writeOnnxModel({
    nodes: [{ op, name: 'node', inputs: ['a', 'two'], outputs: ['b'] }],
    inputs: [{ name: 'a', shape: [2] }],
    outputs: ['b'],
    initializers: { two: HostTensor.from('float32', [2], [1, 2]) },
  });
}

function chunked(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await macrotask();
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
      if (at >= bytes.length) controller.close();
    },
  });
}

test('after the loss of the device calls reject, and the next load gets another one', async () => {
  const gpu = await nodeGpu();
  const opened: GPUDevice[] = [];
  const watched = watchDevices(gpu, opened);
  const bytes = sumAndProduct().toBytes();
  const options = { worker: false, device: 'webgpu', gpu: watched } as const;
  const [session, loop] = await Promise.all([
    Session.load(bytes, options),
    Session.load(countingLoop().toBytes(), options),
  ]);
  expect(opened).toHaveLength(1);
  const pending = loop.run({ steps: 1e12 });
  const rejected = expect(pending).rejects.toMatchObject({ name: 'DeviceLostError' });
  opened[0]?.destroy();
  await rejected;
  await expect(session.run({ x, y })).rejects.toMatchObject({ name: 'DeviceLostError' });
  const next = await Session.load(bytes, options);
  expect(opened).toHaveLength(2);
  expect((await next.run({ x, y }))['sum']?.toNested()).toEqual([11, 22, 33]);
  await Promise.all([session.dispose(), loop.dispose(), next.dispose()]);
});

/** A GPU that notes the devices it opens, so that a test can take them away. */
function watchDevices(gpu: GPU, opened: GPUDevice[]): GPU {
  const adapterOf = async (options?: GPURequestAdapterOptions): Promise<GPUAdapter | null> => {
    const adapter = await gpu.requestAdapter(options);
    if (adapter === null) return null;
    const requestDevice = adapter.requestDevice.bind(adapter);
    adapter.requestDevice = async (descriptor) => {
      const device = await requestDevice(descriptor);
      opened.push(device);
      return device;
    };
    return adapter;
  };
  return { requestAdapter: adapterOf } as unknown as GPU;
}

describe('what cannot be loaded', () => {
  const cases: [string, () => SessionSource][] = [
    ['nothing', () => new Uint8Array()],
    ['a page', () => new Blob(['<!doctype html>'])],
    ['a truncated file', () => sumAndProduct().toBytes().slice(0, 300)],
    ['an answer of 404', () => new Response('no', { status: 404, statusText: 'Not Found' })],
    ['an unknown operator', () => onnxModel('Frobnicate')],
    ['a function that nobody brings', () => callsPacked('test.twice').toBytes()],
  ];
  test.each(cases)('%s', async (_name, source) => {
    const error: unknown = await open('host', source()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchSnapshot();
  });

  test('webgpu where there is none, unless auto falls back and says so', async () => {
    const bytes = sumAndProduct().toBytes();
    const noGpu = { requestAdapter: async () => null } as unknown as GPU;
    await expect(
      Session.load(bytes, { worker: false, device: 'webgpu', gpu: noGpu }),
    ).rejects.toMatchObject({ name: 'DeviceError' });
    const session = await Session.load(bytes, { worker: false, gpu: noGpu });
    expect(session.device.kind).toBe('wasm');
    expect(session.device.fallbackReason).toMatch(/adapter/);
    await session.dispose();
  });

  test('a load that is aborted, before and while bytes come', async () => {
    const reason = new Error('changed my mind');
    const signal = AbortSignal.abort(reason);
    await expect(open('host', sumAndProduct().toBytes(), { signal })).rejects.toBe(reason);
    const controller = new AbortController();
    const [asked, cancelled] = [new Deferred(), new Deferred()];
    const endless = new ReadableStream<Uint8Array>(
      {
        pull() {
          asked.resolve();
          return new Promise(() => undefined);
        },
        cancel: () => cancelled.resolve(),
      },
      { highWaterMark: 0 },
    );
    const loading = open('host', endless, { signal: controller.signal });
    await asked.promise;
    controller.abort(reason);
    await expect(loading).rejects.toBe(reason);
    await cancelled.promise;
  });
});

describe('wrong use', () => {
  test('unknown functions and inputs are named before anything runs', async () => {
    const session = await open('host', sumAndProduct().toBytes());
    await expect(
      session.run({ x, y }, { function: 'mian' }),
    ).rejects.toThrowErrorMatchingInlineSnapshot(
      `[UsageError: run: got function "mian", expected one of main. Did you mean "main"?]`,
    );
    await expect(session.run({ x, z: y })).rejects.toThrowErrorMatchingInlineSnapshot(
      `[UsageError: inputs of main: unknown "z", missing "y"; expected "x", "y".]`,
    );
    await expect(
      session.run({ x, y: Tensor.from([1]) }),
    ).rejects.toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: inputs of main: "y": got float32 (1,), expected float32 (n,) (n is 3 in "x").]`,
    );
    const wrong: unknown = new Map();
    await expect(session.run({ x, y: wrong as Tensor })).rejects.toThrowErrorMatchingInlineSnapshot(
      `[UsageError: input "y": got Map, expected a Tensor, a DeviceTensor, a picture, a number, an array, { constructor, fields }, a function or an OpaqueValue. Tensor.from makes a tensor of an array.]`,
    );
    await session.dispose();
  });

  test('a handle of another session is taken on the same device, and refused on another', async () => {
    const bytes = sumAndProduct().toBytes();
    const [a, b] = await Promise.all([open('host', bytes), open('host', bytes)]);
    const { sum = x } = await a.run({ x, y }, { keep: 'device' });
    const own = await a.run({ x: sum, y });
    const other = b.run({ x: sum, y });
    if (sum instanceof DeviceTensor) sum.dispose();
    expect(await other).toEqual(own);
    const { sum: late = x } = await a.run({ x, y }, { keep: 'device' });
    const wasm = await Session.load(bytes, { device: 'wasm', worker: false });
    await expect(wasm.run({ x: late, y })).rejects.toThrowErrorMatchingInlineSnapshot(
      `[UsageError: DeviceTensor: got a tensor of a session on another device, or of one that shares its device, expected one of a session on the same device. Read it, and give the Tensor.]`,
    );
    await Promise.all([a.dispose(), b.dispose(), wasm.dispose()]);
  });
});

test('indices out of bounds leave the session as it was', async () => {
  const model = writeOnnxModel({
    inputs: [
      { name: 'x', shape: [3] },
      { name: 'i', dtype: 'int64', shape: [2] },
    ],
    nodes: [
      { op: 'Gather', name: 'given', inputs: ['x', 'i'], outputs: ['a'] },
      { op: 'Mul', inputs: ['i', 'i'], outputs: ['squares'] },
      { op: 'Gather', name: 'made', inputs: ['x', 'squares'], outputs: ['b'] },
    ],
    outputs: ['a', 'b'],
  });
  const session = await open('host', model, { check: 'indices' });
  const x = Tensor.from([1, 2, 3]);
  const run = (...values: bigint[]) =>
    session.run({ x, i: new Tensor('int64', BigInt64Array.from(values), [2]) });
  await expect(run(0n, 3n)).rejects.toMatchObject({
    name: 'UsageError',
    message:
      'main, parameter i, read by node "given" (Gather): got index 3 as element (1), expected one from -3 to 2.',
  });
  await expect(run(0n, 2n)).rejects.toMatchObject({
    name: 'RuntimeError',
    message: expect.stringContaining('node "made" (Gather): got index 4 as element (1)'),
  });
  const { a, b } = await run(1n, -1n);
  expect([a?.toNested(), b?.toNested()]).toEqual([
    [2, 3],
    [2, 2],
  ]);
  await session.dispose();
  const compiled = open('host', sumAndProduct().toBytes(), { check: 'indices' });
  await expect(compiled).rejects.toThrow('got an executable with the option check');
});
