import { expect, test, vi } from 'vitest';
import { compile, parseModule } from '../../compiler/index.ts';
import { nodeGpu } from '../../testing/node-gpu.ts';
import { Deferred } from '../../core/async/deferred.ts';
import { DeviceLostError, UsageError, WorkerError } from '../../core/errors.ts';
import type { ControlRequest } from '../../worker/protocol/control-request.ts';
import { Session, Tensor } from '../index.ts';
import type { TuneProgress } from './tune-session.ts';
import { tuneSession } from './tune-session.ts';

const PROGRAM = `def @main(%a: Tensor[(n, 64), float32], %b: Tensor[(64, 64), float32])
    -> Tensor[(n, 64), float32] {
  tanh(matmul(%a, %b))
}`;

async function load(): Promise<Session> {
  const program = compile(parseModule(PROGRAM)).toBytes();
  return Session.load(program, { device: 'webgpu', gpu: await nodeGpu() });
}

async function run(session: Session, n: number): Promise<void> {
  const a = new Tensor('float32', new Float32Array(n * 64).fill(0.125), [n, 64]);
  const b = new Tensor('float32', new Float32Array(64 * 64).fill(0.125), [64, 64]);
  const [result] = Object.values(await session.run({ a, b }));
  expect(result?.shape).toEqual([n, 64]);
  for (const element of result?.data ?? []) expect(element).toBeCloseTo(Math.tanh(1), 5);
}

/** Resolves when a kernel of a session is about to be tuned. */
function tuningOf(session: Session): Promise<void> {
  const begun = new Deferred();
  const control = session.control.bind(session);
  vi.spyOn(session, 'control').mockImplementation((...args) => {
    begun.resolve();
    return control(...args);
  });
  return begun.promise;
}

test('a session is tuned for the sizes of its runs and of `dims`, and gives the same results', async () => {
  const session = await load();
  // Often enough for the run to be recorded.
  for (let i = 0; i < 4; i++) await run(session, 33);
  const reports: TuneProgress[] = [];
  const tuned = await session.tune({
    dims: { n: 3 },
    onProgress: (progress) => void reports.push(progress),
  });
  expect(tuned.kernels.map(({ kernel }) => kernel.replace(/^\w+/, ''))).toEqual([
    '([3, 64], [64, 64])',
    '([33, 64], [64, 64])',
  ]);
  expect(tuned.isStored).toBe(false);
  expect(reports.map(({ loaded, total }) => `${loaded} of ${total}`)).toEqual(['1 of 1']);
  expect(reports.flatMap(({ kernels }) => kernels)).toEqual(tuned.kernels);
  for (const n of [33, 3, 33, 33, 33, 17]) await run(session, n);
  await session.dispose();
});

test('tuning can be stopped, and rejects for sizes that there are not', async () => {
  const session = await load();
  await expect(session.tune({ dims: { m: 3 } })).rejects.toThrow('dimension m');
  const stop = new AbortController();
  const begun = tuningOf(session);
  const tuning = session.tune({ dims: { n: 33 }, signal: stop.signal });
  await begun;
  stop.abort();
  await expect(tuning).rejects.toThrow('aborted');
  await run(session, 33);
  await session.dispose();
});

test('idle tuning lets runs through, and leaves alone what it has tuned before', async () => {
  const session = await load();
  await run(session, 33);
  const done: string[] = [];
  const tuning = session.tune({ idle: true }).then((report) => {
    done.push('tuning');
    return report;
  });
  for (let i = 0; i < 5; i++) {
    await run(session, 33);
    done.push('run');
  }
  const { kernels, isComplete } = await tuning;
  expect(done).toEqual([...new Array<string>(5).fill('run'), 'tuning']);
  expect(isComplete).toBe(true);
  expect(kernels.map(({ kernel }) => kernel.replace(/^\w+/, ''))).toEqual(['([33, 64], [64, 64])']);
  expect(await session.tune({ idle: true })).toEqual({
    kernels: [],
    isStored: false,
    isComplete: true,
  });
  expect((await session.tune()).kernels).toHaveLength(1);
  await run(session, 33);
  await session.dispose();
});

test('idle tuning ends with its session, and rejects when it is aborted', async () => {
  const session = await load();
  await run(session, 33);
  const stop = new AbortController();
  const begun = tuningOf(session);
  const aborted = session.tune({ idle: true, signal: stop.signal });
  await begun;
  stop.abort();
  await expect(aborted).rejects.toThrow('aborted');
  const tuning = session.tune({ idle: true });
  await run(session, 33);
  await session.dispose();
  expect(await tuning).toEqual({ kernels: [], isStored: false, isComplete: false });
});

test('sizes of several symbols are tuned as they came together', async () => {
  const program = compile(
    parseModule(`def @main(%a: Tensor[(n, 64), float32], %b: Tensor[(64, m), float32])
        -> Tensor[(n, m), float32] {
      matmul(%a, %b)
    }`),
  ).toBytes();
  const session = await Session.load(program, { device: 'webgpu', gpu: await nodeGpu() });
  const product = async (n: number, m: number): Promise<void> => {
    const a = new Tensor('float32', new Float32Array(n * 64).fill(0.5), [n, 64]);
    const b = new Tensor('float32', new Float32Array(64 * m).fill(0.25), [64, m]);
    const [result] = Object.values(await session.run({ a, b }));
    expect(result?.shape).toEqual([n, m]);
    for (const element of result?.data ?? []) expect(element).toBe(8);
  };
  const sizes = [
    [5, 7],
    [17, 33],
    [3, 1],
  ] as const;
  for (const [n, m] of sizes) await product(n, m);
  const { kernels } = await session.tune({ dims: { m: 9 } });
  expect(kernels.map(({ kernel }) => kernel.replace(/^\w+/, ''))).toEqual([
    '([1, 64], [64, 9])',
    '([3, 64], [64, 1])',
    '([17, 64], [64, 33])',
    '([5, 64], [64, 7])',
  ]);
  for (const [n, m] of [...sizes, [1, 9], [6, 6]] as const) await product(n, m);
  await session.dispose();
});

test('idle tuning ends with what it has found when the device or the worker is lost', async () => {
  const kernel = { kernel: 'k', choices: {}, firstMs: 1, chosenMs: 1, tried: [] };
  const reply = { calls: [], results: [], note: '' };
  const session = (error: Error) => ({
    closed: new AbortController().signal,
    warmup: async () => undefined,
    async control(request: ControlRequest) {
      if (request.kind === 'tool' && Reflect.get(request.request, 'index') === 1) throw error;
      return { ...reply, answer: { count: 3, kernels: [kernel], isStored: true } };
    },
  });
  const report = { kernels: [kernel], isStored: true, isComplete: false };
  for (const error of [new DeviceLostError('gone'), new WorkerError('gone')]) {
    expect(await tuneSession(session(error), { idle: true })).toEqual(report);
    await expect(tuneSession(session(error), {})).rejects.toThrow('gone');
  }
  const wrong = session(new UsageError('wrong'));
  await expect(tuneSession(wrong, { idle: true })).rejects.toThrow('wrong');
});
