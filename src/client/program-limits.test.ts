import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { compile, parseModule } from '../compiler/index.ts';
import { RuntimeError, UnsupportedError, UsageError } from '../core/errors.ts';
import { macrotask } from '../core/async/macrotask.ts';
import { nodeGpu } from '../testing/node-gpu.ts';
import { createService } from '../worker/create-service.ts';
import type { MachineLimits, ProgramLimits } from '../core/limits/program-limits.ts';
import type { LoadRequest } from '../worker/protocol/load-request.ts';
import { countingLoop, sumAndProduct } from '../worker/testing/test-programs.ts';
import { Session, Tensor } from './index.ts';

/** A program with a kernel of its own, which doubles a vector: a workgroup for each element. */
function doubling(length: string): Uint8Array<ArrayBuffer> {
  const type = `Tensor[(${length},), float32]`;
  const text = `
kernel @double(%x: ${type}) -> ${type} {
  wgsl = """
@compute @workgroup_size(WORKGROUP_SIZE_X)
fn main(@builtin(workgroup_id) id: vec3<u32>) { store(id.x, 2f * load_a(id.x)); }
""",
  params = [],
  sizes = [],
  grid = [${length}, 1, 1],
  workgroup = [1, 1, 1],
  host = @double_host
}
def @double_host(%x: ${type}) -> ${type} { add(%x, %x) }
def @main(%x: ${type}) -> ${type} { @double(%x) }
`;
  return new Uint8Array(compile(parseModule(text)).toBytes());
}

const REFUSED =
  'got a program with WGSL of its own (double), expected one without: programKernels is "refuse". Load programs that you trust with programKernels: "allow".';

async function values(session: Session, count: number): Promise<readonly number[]> {
  const x = Tensor.from(Array.from({ length: count }, (_, i) => i));
  const [output] = Object.values(await session.run({ x }));
  if (!(output?.data instanceof Float32Array)) throw new Error('no result');
  return [...output.data];
}

describe.each(['host', 'webgpu'] as const)('on %s', (device) => {
  let options: { readonly device: typeof device; readonly worker: false; readonly gpu: GPU };
  beforeAll(async () => {
    options = { device, worker: false, gpu: await nodeGpu() };
  });

  afterEach(() => void vi.useRealTimers());

  test('programs with kernels of their own are refused, others are not', async () => {
    const loading = Session.load(doubling('4'), { ...options, programKernels: 'refuse' });
    await expect(loading).rejects.toBeInstanceOf(UnsupportedError);
    await expect(loading).rejects.toThrow(REFUSED);
    const allowed = await Session.load(doubling('4'), { ...options, programKernels: 'allow' });
    expect(await values(allowed, 4)).toEqual([0, 2, 4, 6]);
    await allowed.dispose();
    const plain = await Session.load(sumAndProduct().toBytes(), {
      ...options,
      programKernels: 'refuse',
    });
    await plain.dispose();
  });

  test('instructions and time of a run end at their limits, and the session goes on', async () => {
    const limits = { instructionLimit: 10_000, runTimeout: 60_000 };
    const session = await Session.load(countingLoop().toBytes(), { ...options, ...limits });
    expect(await session.run<number>({ steps: 1000 })).toEqual({ count: 1000 });
    const long = session.run({ steps: 5000 });
    await expect(long).rejects.toBeInstanceOf(RuntimeError);
    await expect(long).rejects.toThrow('got a program that runs beyond 10000 instructions');
    await session.dispose();
    const timed = await Session.load(countingLoop().toBytes(), { ...options, runTimeout: 500 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const endless = timed.run({ steps: 2 ** 31 - 1 });
    endless.catch(() => undefined);
    while (vi.getTimerCount() === 0) await macrotask();
    vi.advanceTimersByTime(500);
    await expect(endless).rejects.toBeInstanceOf(RuntimeError);
    await expect(endless).rejects.toThrow(
      'got a run of more than 500 ms, expected results within the runTimeout.',
    );
    expect(await timed.run<number>({ steps: 10 })).toEqual({ count: 10 });
    await timed.dispose();
  });
});

describe('workgroups of kernels of a program', () => {
  const load = async (length: string) =>
    Session.load(doubling(length), {
      device: 'webgpu',
      worker: false,
      gpu: await nodeGpu(),
      workgroupLimit: 8,
    });

  test('of known sizes are counted by the load', async () => {
    const session = await load('8');
    expect(await values(session, 8)).toEqual([0, 2, 4, 6, 8, 10, 12, 14]);
    await session.dispose();
    const loading = load('9');
    await expect(loading).rejects.toBeInstanceOf(UnsupportedError);
    await expect(loading).rejects.toThrow(
      'kernel double: got a grid of 9 x 1 x 1, 9 workgroups, expected at most 8, the workgroupLimit.',
    );
  });

  test('of sizes that a run tells are counted by the run', async () => {
    const session = await load('n');
    expect(await values(session, 8)).toEqual([0, 2, 4, 6, 8, 10, 12, 14]);
    const running = values(session, 9);
    await expect(running).rejects.toBeInstanceOf(UnsupportedError);
    await expect(running).rejects.toThrow('kernel double: got a grid of 9 x 1 x 1, 9 workgroups');
    expect(await values(session, 2)).toEqual([0, 2]);
    await session.dispose();
  });
});

/** A call that is no tail call, so many deep, and a list as long. */
const DEEP = new Uint8Array(
  compile(
    parseModule(`
def @deep(%k: int) -> int { if (%k) { int_add(#1, @deep(int_sub(%k, #1))) } else { #0 } }
def @list(%k: int, %l: List[int]) -> List[int] {
  if (%k) { @list(int_sub(%k, #1), Cons(%k, %l)) } else { %l }
}
def @main(%k: int) -> int { @deep(%k) }
def @long(%k: int) -> int { @length(@list(%k, Nil)) }`),
  ).toBytes(),
);

describe('limits of the machine', () => {
  const options = { device: 'host', worker: false } as const;

  test('are those of the session', async () => {
    const limits = { callDepth: 20, registers: 1000, fields: 40, sliceMs: 2 };
    const session = await Session.load(DEEP, { ...options, limits });
    expect(await session.run<number>({ k: 15 })).toEqual({ result: 15 });
    const deep = session.run({ k: 30 });
    await expect(deep).rejects.toBeInstanceOf(RuntimeError);
    await expect(deep).rejects.toThrow(
      'got a call beyond 20 frames, expected at most 20 frames. Return the result of the call at once (a tail call), or raise limits.callDepth.',
    );
    expect(await session.run<number>({ k: 10 }, { function: 'long' })).toEqual({ result: 10 });
    const long = session.run({ k: 30 }, { function: 'long' });
    await expect(long).rejects.toThrow('raise limits.fields');
    await session.dispose();
    const few = await Session.load(DEEP, { ...options, limits: { registers: 10 } });
    await expect(few.run({ k: 15 })).rejects.toThrow('raise limits.registers');
    await few.dispose();
    const usual = await Session.load(DEEP, { ...options, limits: { fields: 1000 } });
    expect(await usual.run<number>({ k: 5000 })).toEqual({ result: 5000 });
    await usual.dispose();
  });

  test.each<[object, string]>([
    [
      { depth: 4 },
      'Session.load, limits: got an unknown option "depth", expected only callDepth, registers, fields, sliceMs.',
    ],
    [{ fields: -1 }, 'Session.load, limits: got fields -1, expected an integer from 1 up.'],
    [{ sliceMs: 0 }, 'Session.load, limits: got sliceMs 0, expected a number above 0.'],
  ])('%j are refused', async (limits, message) => {
    const loading = Session.load(DEEP, { ...options, limits });
    await expect(loading).rejects.toMatchObject({ name: 'UsageError', message });
  });
});

describe('limits of a worker', () => {
  let call = 1;
  type Limits = ProgramLimits & MachineLimits;
  const load = async (limits: Limits, asked: Limits, bytes: Uint8Array) => {
    const service = createService({ limits, gpu: await nodeGpu() });
    const source = { kind: 'bytes', bytes } as const;
    const request: LoadRequest = { source, device: 'host', dims: {}, ...asked };
    const reply = await service.load(call++, request, undefined);
    return { service, reply };
  };

  test('hold for sessions that ask for more', async () => {
    const refuse = { programKernels: 'refuse' } as const;
    const { reply } = await load(refuse, { programKernels: 'allow' }, doubling('4'));
    expect(reply).toMatchObject({
      ok: false,
      error: { name: 'UnsupportedError', message: REFUSED, details: { kernels: ['double'] } },
    });
    const loaded = await load(
      { instructionLimit: 100 },
      { instructionLimit: 1_000_000 },
      countingLoop().toBytes(),
    );
    if (!loaded.reply.ok) throw new Error(loaded.reply.error.message);
    const { session } = loaded.reply.value;
    const args = [{ kind: 'int', value: 1000 }] as const;
    const run = { session, functionName: 'main', args, keep: 'host' } as const;
    expect(await loaded.service.run(call++, run)).toMatchObject({
      ok: false,
      error: { name: 'RuntimeError', details: { limit: 100 } },
    });
    await loaded.service.dispose(call++, session);
    const shallow = await load({ callDepth: 8 }, { callDepth: 50 }, DEEP);
    if (!shallow.reply.ok) throw new Error(shallow.reply.error.message);
    const deep = { ...run, session: shallow.reply.value.session, args: [{ ...args[0], value: 9 }] };
    expect(await shallow.service.run(call++, deep)).toMatchObject({
      ok: false,
      error: { name: 'RuntimeError', details: { limit: 8 } },
    });
    await shallow.service.dispose(call++, shallow.reply.value.session);
  });

  test('are checked when the worker starts', () => {
    const start = () => createService({ limits: { runTimeout: -1 } });
    expect(start).toThrow(UsageError);
    expect(start).toThrow('limits of serve: got runTimeout -1, expected a number above 0.');
  });
});
