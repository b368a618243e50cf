import { describe, expect, test } from 'vitest';
import { compile, parseModule } from '../../compiler/index.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { openConnection } from '../../rpc/testing/open-connection.ts';
import { nodeGpu } from '../../testing/node-gpu.ts';
import { type LoadOptions, Session, Tensor } from '../index.ts';
import type { RunTimeline } from '../../core/contracts/run-timeline.ts';
import type { TimelineKind } from '../../core/contracts/run-timeline.ts';

const DEVICES = ['host', 'wasm', 'webgpu'] as const;
type Device = (typeof DEVICES)[number];

/** A product and a sum of its rows, which is read for a condition. */
const PROGRAM = `def @main(%a: Tensor[(n, 16), float32], %b: Tensor[(16, 16), float32])
    -> Tensor[(n, 16), float32] {
  let %p = matmul(%a, %b);
  if (greater(reduce_sum(%p, axes=[0, 1]), 0f)) { tanh(%p) } else { exp(%p) }
}`;
const EXECUTABLE = compile(parseModule(PROGRAM)).toBytes();
const ROWS = 24;

const filled = (rows: number, value: number) =>
  new Tensor('float32', new Float32Array(rows * 16).fill(value), [rows, 16]);
const INPUTS = { a: filled(ROWS, 1), b: filled(16, 0.01) };

async function load(device: Device, options: LoadOptions = {}): Promise<Session> {
  const gpu = device === 'webgpu' ? { gpu: await nodeGpu() } : {};
  return Session.load(EXECUTABLE, { worker: false, device, ...gpu, ...options });
}

const ofKind = ({ events }: RunTimeline, kind: TimelineKind) =>
  events.filter((event) => event.kind === kind);

function only(runs: readonly RunTimeline[]): RunTimeline {
  const [run] = runs;
  if (run === undefined || runs.length > 1) throw new Error(`${runs.length} runs`);
  return run;
}

test('a load in WebAssembly has the modules that it writes, compiles and makes', async () => {
  const fixed = PROGRAM.replaceAll('(n,', `(${ROWS},`);
  const executable = compile(parseModule(fixed)).toBytes();
  const session = await Session.load(executable, { worker: false, device: 'wasm' });
  const { load: loaded } = await session.timeline(INPUTS);
  const names = (loaded?.events ?? []).map(({ name }) => name.replace(/\d+/, 'N'));
  for (const step of ['plan N kernels', ...['write', 'compile', 'instantiate'].map(ofFunctions)]) {
    expect(names).toContain(step);
  }
  await session.dispose();
});
const ofFunctions = (step: string): string => `${step} N functions`;

describe.each(DEVICES)('a timeline on %s', (device) => {
  test('has what a run does on one clock: what comes from what comes behind it', async () => {
    const session = await load(device);
    const { kernels, instructions } = await session.profile(INPUTS);
    const timelines = await session.timeline(INPUTS);
    expect(timelines.device).toBe(device);
    const run = only(timelines.runs);
    expect(run.instructions).toBe(instructions);
    const executed = ofKind(run, 'instruction');
    expect(executed).toHaveLength(instructions);
    for (const { beginMs, endMs } of run.events) {
      expect(beginMs).toBeGreaterThanOrEqual(0);
      expect(endMs).toBeGreaterThanOrEqual(beginMs);
      expect(endMs).toBeLessThanOrEqual(run.totalMs);
    }
    // The first events are the uploads of the inputs, before the first instruction.
    const uploads = ofKind(run, 'upload').filter(({ bytes = 0 }) => bytes >= 1024);
    expect(uploads.map(({ bytes }) => bytes)).toEqual([ROWS * 64, 1024]);
    const [first] = executed;
    for (const { endMs } of uploads) expect(endMs).toBeLessThanOrEqual(first?.beginMs ?? 0);
    // One readback for the condition, one for the result behind the last instruction.
    const readbacks = ofKind(run, 'readback');
    expect(readbacks.at(-1)?.bytes).toBe(ROWS * 64);
    expect(readbacks).toHaveLength(2);
    expect(readbacks.at(-1)?.beginMs).toBeGreaterThanOrEqual(executed.at(-1)?.endMs ?? Infinity);
    const waits = executed.filter(({ name }) => name === 'vm.builtin.read_if_cond');
    expect(waits).toHaveLength(1);
    expect(readbacks[0]?.beginMs).toBeGreaterThanOrEqual(waits[0]?.beginMs ?? Infinity);
    expect(readbacks[0]?.endMs).toBeLessThanOrEqual(waits[0]?.endMs ?? 0);
    const launched = ofKind(run, 'kernel');
    expect(launched.length + run.untimedKernels).toBe(kernels.length);
    const names = launched.map(({ name }) => name);
    expect(new Set(names)).toEqual(
      run.untimedKernels > 0 ? new Set() : new Set(kernels.map(({ primitive }) => primitive)),
    );
    await session.dispose();
  });

  test('tells what the load did before', async () => {
    const session = await load(device);
    const { load: loaded } = await session.timeline(INPUTS);
    if (loaded === undefined) throw new Error('no load');
    const named = (kind: TimelineKind) => ofKind(loaded, kind).map(({ name }) => name);
    expect(named('download')).toEqual(['program and weights']);
    expect(named('verify')).toEqual(['program']);
    expect(named('upload')).toEqual(['weights']);
    const compiled = named('compile');
    expect(compiled[0]).toBe('kernels');
    const shown = { host: /^kernels$/, wasm: /^plan \d+ kernels$/m, webgpu: /^tanh$/m }[device];
    expect(compiled.join('\n')).toMatch(shown);
    expect(loaded.totalMs).toBeGreaterThan(0);
    for (const { beginMs, endMs } of loaded.events) {
      expect(beginMs).toBeGreaterThanOrEqual(0);
      expect(endMs).toBeGreaterThanOrEqual(beginMs);
      expect(endMs).toBeLessThanOrEqual(loaded.totalMs);
    }
    await session.dispose();
  });

  test('no kernel runs before the instruction that launches it', async () => {
    const session = await load(device);
    const run = only((await session.timeline(INPUTS)).runs);
    const calls = ofKind(run, 'instruction').filter(({ isKernelCall }) => isKernelCall === true);
    for (const { name, beginMs } of ofKind(run, 'kernel')) {
      const call = calls.find((each) => each.name === name);
      expect(beginMs).toBeGreaterThanOrEqual(call?.beginMs ?? Infinity);
    }
    await session.dispose();
  });

  test('tells the work of each call from its sizes, and what the device can do', async () => {
    const session = await load(device);
    const { rates, runs } = await session.timeline(INPUTS);
    const works = ofKind(only(runs), 'instruction').map(({ work }) => work);
    expect(works).toContainEqual(
      expect.objectContaining({ operations: expect.closeTo(2 * ROWS * 16 * 16, -3) }),
    );
    if (device === 'host') expect(rates).toBeUndefined();
    else {
      for (const rate of Object.values(rates ?? {})) expect(rate).toBeGreaterThan(0);
      expect((await session.timeline(INPUTS)).rates).toEqual(rates);
    }
    await session.dispose();
  });

  test('tells which storage is held when, and what wrote it', async () => {
    const session = await load(device);
    const { liveBytes } = await session.memory();
    const run = only((await session.timeline(INPUTS)).runs);
    const kernels = ofKind(run, 'instruction').filter(({ isKernelCall }) => isKernelCall === true);
    const written = run.storages.filter(({ at }) => at !== undefined);
    expect(kernels.map(({ name }) => name)).toEqual(
      expect.arrayContaining([written.find(({ bytes }) => bytes >= ROWS * 64)?.name]),
    );
    // The two inputs.
    expect(run.storages.filter(({ at }) => at === undefined)).toHaveLength(2);
    for (const { order, beginMs, endMs } of run.storages) {
      expect(order[1]).toBeGreaterThan(order[0]);
      expect(endMs).toBeGreaterThanOrEqual(beginMs);
    }
    // Recording leaves nothing behind.
    expect((await session.memory()).liveBytes).toBe(liveBytes);
    await session.dispose();
  });
});

test('several runs are recorded one after the other, each on a clock of its own', async () => {
  const session = await load('host');
  const { runs } = await session.timeline(INPUTS, { runs: 3 });
  expect(runs).toHaveLength(3);
  const names = runs.map(({ events }) =>
    events.filter(({ kind }) => kind === 'instruction').map(({ name }) => name),
  );
  expect(names[1]).toEqual(names[0]);
  expect(names[2]).toEqual(names[0]);
  // Afterwards runs are as they were.
  const { result } = await session.run(INPUTS);
  expect(result).toMatchObject({ shape: [ROWS, 16] });
  await session.dispose();
});

test('pipelines that a run compiles are events, once', async () => {
  const text = `def @main(%a: Tensor[(n, k), float32], %b: Tensor[(k, m), float32]) -> Tensor[(n, m), float32] {
    sin(cos(matmul(%a, %b)))
  }`;
  const executable = compile(parseModule(text)).toBytes();
  const session = await Session.load(executable, { device: 'webgpu', gpu: await nodeGpu() });
  const inputs = {
    a: filled(70, 1),
    b: new Tensor('float32', new Float32Array(16 * 90), [16, 90]),
  };
  const { runs } = await session.timeline(inputs, { runs: 2 });
  const [cold, warm] = runs.map((run) => ofKind(run, 'compile'));
  expect(cold?.length).toBeGreaterThan(0);
  for (const { name } of cold ?? []) expect(name).not.toBe('');
  expect(warm).toEqual([]);
  await session.dispose();
});

test('a session on a lent device has timelines too', async () => {
  const { remote, served } = await openConnection({ devices: [createHostDevice()] });
  const session = await Session.load(EXECUTABLE, { remote });
  const { device, runs, load: loaded } = await session.timeline(INPUTS, { runs: 2 });
  expect(device).toBe('host');
  expect(loaded?.events.map(({ name }) => name).sort()).toEqual(['kernels', 'weights']);
  expect(runs.map(({ instructions }) => instructions)).toEqual([
    runs[0]?.instructions,
    runs[0]?.instructions,
  ]);
  expect(ofKind(only(runs.slice(0, 1)), 'readback')).toHaveLength(2);
  await session.dispose();
  served.close();
});

test('a number of runs that is none is refused', async () => {
  const session = await load('host');
  await expect(session.timeline(INPUTS, { runs: 0 })).rejects.toThrow(
    'timeline: got runs 0, expected an integer from 1 to 100.',
  );
  await expect(session.timeline({}, {})).rejects.toThrow(/a/);
  const ended = new AbortController();
  ended.abort(new Error('enough'));
  await expect(session.timeline(INPUTS, { signal: ended.signal })).rejects.toThrow('enough');
  await session.dispose();
});
