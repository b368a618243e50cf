import { describe, expect, test } from 'vitest';
import { compile } from '../../compiler/compile.ts';
import { parseModule } from '../../compiler/index.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { type DebugRun, type LoadOptions, Session, Tensor } from '../index.ts';
import type { DebugPlace } from './debug-session.ts';

const DEVICES = ['host', 'wasm', 'webgpu'] as const;
type Device = (typeof DEVICES)[number];

async function load(text: string, device: Device = 'host', options: LoadOptions = {}) {
  const gpu = device === 'webgpu' ? { gpu: await sharedNodeGpu() } : {};
  const executable = compile(parseModule(text, { file: 'program.ir' })).toBytes();
  return Session.load(executable, { worker: false, device, ...gpu, ...options });
}

/** Powers of x by recursion: each call holds its own product, and calls a closure. */
const POWERS = `def @main(%x: Tensor[(3,), float32], %n: int) -> Tensor[(3,), float32] {
  @power(fn (%t: Tensor[(3,), float32]) -> Tensor[(3,), float32] { mul(%t, %x) }, %x, %n)
}
def @power(%f: fn (Tensor[(3,), float32]) -> Tensor[(3,), float32], %x: Tensor[(3,), float32], %n: int)
    -> Tensor[(3,), float32] {
  if (int_lt(%n, #2)) { %x } else { %f(@power(%f, %x, int_sub(%n, #1))) }
}`;

const X = Tensor.from([1, 2, 3]);
const numbersOf = (tensor: unknown) => [...(tensor as Tensor).data].map(Number);
const resultOf = ({ outputs }: DebugPlace) => numbersOf(Object.values(outputs ?? {})[0]);
const at = ({ reason, executed, frames: [top] }: DebugPlace) => ({
  reason,
  executed,
  place: `${top?.function} ${top?.instruction}`,
});

/** The place of a run with its values, without numbers of storages. */
async function seen(run: DebugRun): Promise<unknown> {
  const { executed, frames } = run.place;
  const registers = frames.length === 0 ? [] : await run.registers();
  const details = await Promise.all(
    registers
      .filter(({ kind, isUnwritten }) => kind === 'tensor' && !isUnwritten)
      .map(({ index }) => run.value(index)),
  );
  return { executed, frames, registers, details };
}

describe.each(DEVICES)('debugging on %s', (device) => {
  test('steps forth and back through recursion and closures, and sees the same each time', async () => {
    const session = await load(POWERS, device);
    const run = await session.debug({ x: X, n: 2 });
    expect(at(run.place)).toEqual({ reason: 'step', executed: 0, place: 'main 0' });
    const forth: unknown[] = [];
    let deepest = 0;
    while (run.place.reason !== 'end') {
      forth.push(await seen(run));
      deepest = Math.max(deepest, run.place.depth);
      await run.step();
    }
    // Tail calls have no frame of their own: power within power.
    expect(deepest).toBe(2);
    expect(resultOf(run.place)).toEqual([1, 4, 9]);
    const back: unknown[] = [];
    while (run.place.executed > 0) {
      await run.stepBack();
      back.unshift(await seen(run));
    }
    expect(back).toEqual(forth);
    expect((await run.stepBack()).executed).toBe(0);
    expect(resultOf(await run.continue())).toEqual([1, 4, 9]);
    await run.close();
    await session.dispose();
  });

  test('sees tensors, and goes on beside other runs', async () => {
    const session = await load(POWERS, device);
    const before = await session.memory();
    const run = await session.debug({ x: X, n: 3 });
    const registers = await run.registers();
    expect(registers.map(({ text }) => text)).toEqual(['float32 tensor (3,)', 'int 3']);
    expect(await run.value(0)).toEqual({
      kind: 'tensor',
      dtype: 'float32',
      shape: [3],
      statistics: {
        count: 3,
        minimum: 1,
        maximum: 3,
        mean: 2,
        deviation: Math.sqrt(2 / 3),
        nans: 0,
        infinities: 0,
        zeros: 0,
      },
      histogram: [1, ...new Array<number>(15).fill(0), 1, ...new Array<number>(14).fill(0), 1],
      first: [1, 2, 3],
      picture: undefined,
    });
    const held = await run.memory();
    expect(held.storages).toMatchObject([{ byteLength: 12, uses: [{ frame: 0, register: 0 }] }]);
    // Neither is in the other's way.
    const [other] = await Promise.all([session.run({ x: X, n: 2 }), run.step()]);
    expect(numbersOf(Object.values(other)[0])).toEqual([1, 4, 9]);
    await session.profile({ x: X, n: 2 });
    expect(resultOf(await run.continue())).toEqual([1, 8, 27]);
    await run.close();
    expect((await session.memory()).liveBytes).toBe(before.liveBytes);
    await session.dispose();
  });

  test('stops where an output holds what none should', async () => {
    const session = await load(
      `def @main(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] {
  %0 = @half(%x);
  @half(%0)
}
def @half(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] {
  %0 = cumulative(log(%x), axis=0);
  cumulative(sqrt(%0), axis=0)
}`,
      device,
    );
    const run = await session.debug({ x: Tensor.from([0.5, 4]) });
    await run.setBreakpoints([{ output: 'nan' }]);
    const place = await run.continue();
    expect(place).toMatchObject({ reason: 'output', found: { count: 1, element: 0 } });
    expect(place.found?.sources.join()).toContain('program.ir:');
    // The same place, from the other side.
    expect((await run.seek(place.executed + 1)).executed).toBe(place.executed + 1);
    await run.seek(0);
    expect((await run.continue()).executed).toBe(place.executed);
    await run.seek(0);
    await run.setBreakpoints([{ output: 'infinity' }, { outputAbove: 1e6 }]);
    expect((await run.continue()).reason).toBe('end');
    await run.close();
    await session.dispose();
  });
});

/** Counts down: the same frame again and again. */
const LOOP = `def @main(%x: Tensor[(3,), float32], %n: int) -> Tensor[(3,), float32] {
  if (int_lt(%n, #1)) { %x } else { @main(mul(%x, 1.01f), int_sub(%n, #1)) }
}`;

test('breakpoints at instructions and names, over and out of calls', async () => {
  const session = await load(POWERS);
  const run = await session.debug({ x: X, n: 3 });
  const [set] = await run.setBreakpoints([{ at: { function: 'power', instruction: 0 } }]);
  expect(set?.places).toEqual([{ function: 'power', instruction: 0 }]);
  expect((await run.continue()).frames[0]).toMatchObject({ function: 'power', instruction: 0 });
  const second = await run.continue();
  expect(second).toMatchObject({ reason: 'breakpoint', depth: run.place.depth });
  const { depth } = await run.continue();
  // Out of the innermost call: its caller stands behind the call.
  await run.setBreakpoints([]);
  expect(await run.stepOut()).toMatchObject({ reason: 'step', depth: depth - 1 });
  await run.seek(0);
  const calls = (await run.setBreakpoints([{ node: 'program.ir:2' }]))[0]?.places ?? [];
  expect(calls.length).toBeGreaterThan(0);
  const inClosure = await run.continue();
  expect(calls).toContainEqual({
    function: inClosure.frames[0]?.function,
    instruction: inClosure.frames[0]?.instruction,
  });
  // Over a call there is no deeper frame.
  await run.setBreakpoints([]);
  await run.seek(0);
  let deepest = 0;
  while (run.place.reason !== 'end') {
    deepest = Math.max(deepest, run.place.depth);
    await run.stepOver();
  }
  expect(deepest).toBe(1);
  await run.close();
  await session.dispose();
});

test('pauses what does not end, goes back in it, and is cancelled', async () => {
  const session = await load(LOOP);
  const ended = new AbortController();
  const run = await session.debug({ x: X, n: 1e9 }, { signal: ended.signal });
  const going = run.continue();
  await session.memory();
  await run.pause();
  const paused = await going;
  expect(paused.reason).toBe('pause');
  const executed = paused.executed + 20_000;
  await run.seek(executed);
  const there = await seen(run);
  // From a snapshot, and further than one slice of time.
  await run.seek(executed - 1000);
  expect(run.place.executed).toBe(executed - 1000);
  await run.seek(executed);
  expect(await seen(run)).toEqual(there);
  const order = new AbortController();
  const aborted = run.continue({ signal: order.signal });
  order.abort(new Error('enough of it'));
  await expect(aborted).rejects.toThrow('enough of it');
  // It stands, and other orders are carried out.
  expect((await run.step()).reason).toBe('step');
  const last = run.continue();
  ended.abort(new Error('enough of all'));
  await expect(last).rejects.toThrow('enough of all');
  await expect(run.step()).rejects.toThrow('enough of all');
  await run.close();
  expect((await session.memory()).liveBytes).toBe(0);
  await session.dispose();
});

test('stands where the program failed, and goes back from there', async () => {
  const session = await load(`def @main(%n: int) -> int { int_add(@half(%n), #1) }
def @half(%n: int) -> int { int_floordiv(#10, %n) }`);
  const run = await session.debug({ n: 0 });
  const { reason, error, frames, executed } = await run.continue();
  expect(reason).toBe('error');
  expect(error).toContain('int_floordiv');
  expect(frames[0]?.sources.join()).toContain('program.ir:2');
  const before = await run.stepBack();
  expect(before).toMatchObject({ reason: 'step', executed: executed - 1, depth: frames.length });
  expect(before.frames[0]).toEqual(frames[0]);
  expect((await run.step()).reason).toBe('error');
  await run.close();
  await session.dispose();
});

test('tuples, lists and shape heaps', async () => {
  const session = await load(`def @main(%x: Tensor[(n, 2), float32]) {
  %l = Cons((%x, #7), Nil);
  %y = concat(%x, %x, axis=0);
  (%l, %y)
}`);
  const run = await session.debug({ x: Tensor.from([[1, 2]]) });
  // Behind the line that makes the list.
  await run.setBreakpoints([{ node: 'program.ir:3' }]);
  const { frames } = await run.continue();
  expect(frames).toEqual([{ function: 'main', instruction: 15, sources: ['program.ir:3:8'] }]);
  const registers = await run.registers();
  const list = registers.find(({ text }) => text === 'ADT value of tag 0 with 2 fields');
  expect(list?.parts).toBe(2);
  const place = (path: readonly number[]) => run.value(list?.index ?? -1, { path });
  expect(await place([0, 1])).toEqual({ kind: 'other', text: 'int 7' });
  expect(await place([0, 0])).toMatchObject({ kind: 'tensor', first: [1, 2] });
  expect(await place([0])).toMatchObject({
    kind: 'parts',
    parts: [{ parts: 0 }, { text: 'int 7' }],
  });
  await expect(place([0, 2])).rejects.toThrow('debug, value: got part 2 of ADT value of tag 0');
  // Of the result nothing is written yet, in memory of its own.
  expect(registers.filter(({ isUnwritten }) => isUnwritten)).toMatchObject([
    { text: 'float32 tensor (2, 2)' },
  ]);
  const { storages, heldBytes } = await run.memory();
  expect(storages.map(({ byteLength }) => byteLength)).toEqual([8, 16]);
  expect(heldBytes).toBe(24);
  await run.seek(4);
  expect((await run.memory()).heaps.map(({ slots }) => slots)).toEqual([[1, 0, 2, 16]]);
  await run.close();
  await session.dispose();
});

test('a breakpoint of the session is not one of the run', async () => {
  const session = await load(LOOP);
  const place = { function: 'main', instruction: 0 };
  const paused = session.pause({ at: place, visit: 1 });
  const run = await session.debug({ x: X, n: 20 });
  expect(resultOf(await run.continue()).length).toBe(3);
  const other = session.run({ x: X, n: 1 });
  expect((await paused)[0]?.at).toEqual(place);
  await run.seek(0);
  expect((await run.continue()).reason).toBe('end');
  await session.continue();
  await other;
  await run.close();
  await session.dispose();
});

test('misuse', async () => {
  const session = await load(LOOP);
  await expect(session.debug({ x: X })).rejects.toMatchObject({ name: 'UsageError' });
  await expect(session.debug({ x: X, n: 1 }, { function: 'none' })).rejects.toMatchObject({
    name: 'UsageError',
  });
  const run = await session.debug({ x: X, n: 1 });
  await expect(run.setBreakpoints([{ at: { function: 'main', instruction: 99 } }])).rejects.toThrow(
    /debug, breakpoint: got instruction 99 of main, expected an instruction from 0/,
  );
  await expect(run.setBreakpoints([{ node: 'conv' }])).rejects.toThrow(
    'debug, breakpoint: got the name "conv", expected a name such as program.ir:',
  );
  await expect(run.setBreakpoints([{ outputAbove: -1 }])).rejects.toThrow('outputAbove above 0');
  await expect(run.seek(-1)).rejects.toThrow('debug, seek: got -1, expected an integer from 0 up');
  await expect(run.value(999)).rejects.toThrow('debug, value: got register 999');
  await expect(run.registers(7)).rejects.toThrow('debug: got frame 7, expected a frame below 1');
  await run.close();
  await expect(run.step()).rejects.toThrow('an order for a debugging run that was closed');
  // Debugging runs end with their session.
  const second = await session.debug({ x: X, n: 1e9 });
  const going = second.continue().catch(String);
  await session.dispose();
  expect(await going).toBe('UsageError: The session was disposed.');
  await expect(second.step()).rejects.toThrow('The session was disposed.');
});
