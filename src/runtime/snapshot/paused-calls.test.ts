import { expect, test } from 'vitest';
import { ExecBuilder, type Executable } from '../../bytecode/index.ts';
import { ExecutableReader } from '../../bytecode/file/executable-reader.ts';
import { compile, parseModule } from '../../compiler/index.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { createWebGpuDevice } from '../../device/webgpu/index.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { seededRandom } from '../../core/random.ts';
import type { HostFunction } from '../link/host-function.ts';
import { importFunctions } from '../link/import-functions.ts';
import type { MachineOptions } from '../link/load-machine.ts';
import { LOOP_PLACE, loopAndTree, throwsDice } from '../testing/long-programs.ts';
import { TensorValue, release, type Value } from '../values/value.ts';
import { VirtualMachine } from '../virtual-machine.ts';
import { restoreSnapshot, resumeSnapshot } from './resume-snapshot.ts';
import { RunControl } from './run-control.ts';
import { takeSnapshot } from './take-snapshot.ts';

const X = HostTensor.from('float32', [3], [1, 2, 3]);

const webGpu = async (): Promise<Device> =>
  createWebGpuDevice({ operators: CORE_OPERATORS, gpu: await sharedNodeGpu() });

function open(program: Executable, options: Partial<MachineOptions> = {}): Promise<VirtualMachine> {
  return VirtualMachine.create(program, { devices: [createHostDevice()], ...options });
}

async function elements(machine: VirtualMachine, value: Value | undefined): Promise<number[]> {
  if (!(value instanceof TensorValue)) throw new Error('no tensor');
  const [tensor] = await machine.read([value]);
  release(value);
  return Array.from(tensor?.data ?? [], Number);
}

test('what is no machine, no snapshot or no option is refused', async () => {
  const untyped = (value: unknown): never => value as never;
  const machine = await open(loopAndTree());
  expect(() => RunControl.of(untyped({}))).toThrow(
    'RunControl.of: got what is {}, expected a VirtualMachine.',
  );
  expect(() => Reflect.construct(RunControl, [machine]) as unknown).toThrow(
    'RunControl.of: got a call of the constructor, expected RunControl.of(…).',
  );
  expect(() => takeSnapshot(untyped(undefined))).toThrow(
    'takeSnapshot: got what is undefined, expected a VirtualMachine.',
  );
  expect(() => takeSnapshot(machine, untyped({ notes: 'x' }))).toThrow(
    'takeSnapshot: got an unknown option "notes", expected only roots, states, note, signal. Did you mean note?',
  );
  await expect(restoreSnapshot(machine, untyped('x'))).rejects.toThrow(
    'restoreSnapshot: got bytes that are "x", expected a Uint8Array.',
  );
  expect(() => importFunctions(untyped(3))).toThrow(
    'importFunctions: got what is 3, expected a VirtualMachine.',
  );
  machine.dispose();
});

test('a call that waits for JavaScript is held after it has its answer', async () => {
  const program = loopAndTree({ asking: true });
  let answer: (value: Value) => void = () => undefined;
  const functions: Record<string, HostFunction> = {
    'test.answer': (x: Value) =>
      new Promise<Value>((resolve) => {
        answer = () => resolve(x);
      }),
  };
  const machine = await open(program, { functions });
  const control = RunControl.of(machine);
  const result = machine.invoke('ask', [X]);
  let isReached = false;
  const paused = control.pause().then((calls) => {
    isReached = true;
    return calls;
  });
  // Other calls have their turn meanwhile, as far as they may: to their begin.
  const other = machine.invoke('main', [X, 2]);
  await machine.read([]);
  expect(isReached).toBe(false);
  expect(control.calls()).toEqual([]);
  answer(null);
  const [held] = await paused;
  expect(held).toMatchObject({ entry: 'ask', depth: 1 });
  const bytes = await takeSnapshot(machine);
  control.continue();
  const straight = await elements(machine, await result);
  expect(straight).toEqual([2, 4, 6]);
  await elements(machine, await other);
  expect(machine.memory().liveBytes).toBe(0);

  // Nobody is asked again: the answer is in a register.
  const asked: Record<string, HostFunction> = {
    'test.answer': () => {
      throw new Error('asked again');
    },
  };
  const devices = [createHostDevice()];
  const resumed = await resumeSnapshot(bytes, program, { devices, functions: asked });
  expect(await elements(resumed.machine, await resumed.calls[0]?.result)).toEqual(straight);
});

test('an answer that never comes can be given up, and the machine goes on', async () => {
  const functions = { 'test.answer': () => new Promise<Value>(() => undefined) };
  const machine = await open(loopAndTree({ asking: true }), { functions });
  const control = RunControl.of(machine);
  const stop = new AbortController();
  const asking = machine.invoke('ask', [X], { signal: stop.signal });
  const signal = AbortSignal.timeout(5);
  await expect(control.pause({ signal })).rejects.toMatchObject({ name: 'TimeoutError' });
  await expect(takeSnapshot(machine, { signal })).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(control.isPaused).toBe(false);
  expect(await elements(machine, await machine.invoke('main', [X, 0]))).toEqual([1, 2, 3]);
  // Another one waits on, and is told when the call is stopped.
  const patient = control.pause();
  stop.abort();
  await expect(asking).rejects.toMatchObject({ name: 'AbortError' });
  expect(await patient).toEqual([]);
  control.continue();
  const hasty = control.pause();
  control.continue();
  expect(await hasty).toEqual([]);
});

test('a held call is aborted; those beside it stay where they are', async () => {
  const machine = await open(loopAndTree());
  const control = RunControl.of(machine);
  const paused = control.pause({ at: LOOP_PLACE, visit: 3 });
  const stop = new AbortController();
  const first = machine.invoke('main', [X, 5], { signal: stop.signal });
  await paused;
  const second = machine.invoke('main', [X, 1]);
  stop.abort();
  await expect(first).rejects.toMatchObject({ name: 'AbortError' });
  expect(control.calls()).toEqual([]);
  expect(control.isPaused).toBe(true);
  const { liveBytes } = machine.memory();
  expect(liveBytes).toBeLessThanOrEqual(256);
  control.continue();
  expect(await elements(machine, await second)).toHaveLength(3);
  expect(machine.memory().liveBytes).toBe(0);
  // The end of the machine is the end of what waits for it.
  const waiting = control.pause({ at: LOOP_PLACE });
  machine.dispose();
  await expect(waiting).rejects.toThrow('a machine that was disposed of');
});

test.each(['tail', 'fold'] as const)(
  '%s: calls in tail position and of closures are stored',
  async (name) => {
    const program = loopAndTree();
    const machine = await open(program);
    const straight = await elements(machine, await machine.invoke(name, [X, 9]));
    const { functions } = machine.internals().linked;
    const places = functions
      .filter((callee) => callee.source.name === (name === 'fold' ? 'plus' : name))
      .concat(functions.filter((callee) => callee.source.name === name))
      .flatMap(({ source, code }) =>
        code.map((_, instruction) => ({ function: source.name, instruction })),
      );
    const stored: Uint8Array[] = [];
    for (const at of new Set(places)) {
      const control = RunControl.of(machine);
      const stop = new AbortController();
      const paused = control.pause({ at, signal: stop.signal });
      const result = machine.invoke(name, [X, 9]).finally(() => stop.abort());
      // Some instructions are reached for other numbers only.
      const isThere = await paused.then(
        () => true,
        () => false,
      );
      if (isThere) stored.push(await takeSnapshot(machine));
      control.continue();
      expect(await elements(machine, await result)).toEqual(straight);
    }
    expect(stored.length).toBeGreaterThan(8);
    for (const bytes of stored) {
      const { calls, machine: other } = await resumeSnapshot(bytes, program, {
        devices: [createHostDevice()],
      });
      expect(calls[0]?.depth).toBeLessThanOrEqual(2);
      expect(await elements(other, await calls[0]?.result)).toEqual(straight);
      expect(other.memory().liveBytes).toBe(0);
      other.dispose();
    }
  },
);

test('breakpoints that several wait for, in a recursion, count each for itself', async () => {
  const machine = await open(loopAndTree());
  const control = RunControl.of(machine);
  const at = { function: 'tree', instruction: 0 };
  const stop = new AbortController();
  const given = control.pause({ at, visit: 2, signal: stop.signal });
  const depths: number[] = [];
  const late = control.pause({ at, visit: 4 });
  stop.abort();
  await expect(given).rejects.toMatchObject({ name: 'AbortError' });
  const result = machine.invoke('tree', [X, 3]);
  const [call] = await late;
  depths.push(call?.depth ?? 0);
  // Standing at a breakpoint that is set again counts from the next visit.
  const again = control.pause({ at });
  control.continue();
  depths.push((await again)[0]?.depth ?? 0);
  expect(depths).toEqual([4, 4]);
  control.continue();
  expect(await elements(machine, await result)).toEqual([8, 16, 24]);
});

test('a program that came as a stream is stored, and resumed from the file', async () => {
  const program = loopAndTree();
  const file = program.toBytes();
  const stream = new Blob([file.slice()]).stream();
  const reader = await ExecutableReader.open(stream);
  const machine = await VirtualMachine.create(reader.executable, {
    devices: [createHostDevice()],
    dataBlocks: reader.blocks(),
    dataHashes: reader.dataHashes,
  });
  const paused = RunControl.of(machine).pause({ at: LOOP_PLACE, visit: 7 });
  const result = machine.invoke('main', [X, 20]);
  await paused;
  const bytes = await takeSnapshot(machine);
  RunControl.of(machine).continue();
  const straight = await elements(machine, await result);
  const resumed = await resumeSnapshot(bytes, program, { devices: [createHostDevice()] });
  expect(await elements(resumed.machine, await resumed.calls[0]?.result)).toEqual(straight);

  const again = await ExecutableReader.open(new Blob([file.slice()]).stream());
  const unhashed = await VirtualMachine.create(again.executable, {
    devices: [createHostDevice()],
    dataBlocks: again.blocks(),
  });
  await expect(takeSnapshot(unhashed)).rejects.toThrow(
    'snapshot: got a program whose weights are known to the device only',
  );
});

/** The float64 part is placed on the host, with copies to and fro. */
const TWO_DEVICES = `def @main(%x: Tensor[(3,), float32]) {
  let %y = add(%x, %x);
  let %wide = exp(cast(%y, to="float64"));
  mul(cast(%wide, to="float32"), %x)
}`;

test('a program on two devices is stored at every instruction', async () => {
  const program = compile(parseModule(TWO_DEVICES));
  const [gpu, host] = [await webGpu(), createHostDevice()];
  const devices = [gpu, host];
  const machine = await open(program, { devices });
  const x = HostTensor.from('float32', [3], [0.25, -1, 2]);
  const straight = await elements(machine, await machine.invoke('main', [x]));
  const code = machine.internals().linked.functions[0]?.code ?? [];
  expect(code.length).toBeGreaterThan(5);
  for (const instruction of code.keys()) {
    const control = RunControl.of(machine);
    const paused = control.pause({ at: { function: 'main', instruction } });
    const result = machine.invoke('main', [x]);
    await paused;
    const bytes = await takeSnapshot(machine);
    control.continue();
    expect(await elements(machine, await result)).toEqual(straight);
    const resumed = await resumeSnapshot(bytes, program, { devices });
    expect(await elements(resumed.machine, await resumed.calls[0]?.result)).toEqual(straight);
    expect(resumed.machine.memory().liveBytes).toBe(0);
    resumed.machine.dispose();
    const alone = await resumeSnapshot(bytes, program, { devices: [host] });
    const close = await elements(alone.machine, await alone.calls[0]?.result);
    for (const [i, value] of close.entries()) expect(value).toBeCloseTo(straight[i] ?? 0, 3);
  }
  const alone = await open(program, { devices: [host] });
  await expect(
    resumeSnapshot(await takeSnapshot(alone), program, { devices }),
  ).rejects.toMatchObject({ name: 'UnsupportedError' });
  gpu.destroy();
});

/** `main(x)` keeps two views of one storage in a list and writes through one of them. */
function aliases(): Executable {
  const b = new ExecBuilder();
  const type = { dtype: 'float32', shape: [3] } as const;
  const body = [{ op: 'add', inputs: [0, 1], attributes: {} }];
  b.primitive({ name: 'add', params: [type, type], body, results: [{ value: 2, type }] });
  const f = b.function('main', ['x']);
  const storage = f.call('vm.builtin.alloc_storage', [12, 0]);
  const view = () => {
    const operands = [storage, 0, b.shape([3]), b.dtype('float32')];
    return f.call('vm.builtin.alloc_tensor', operands);
  };
  const [one, two] = [view(), view()];
  f.call('add', [f.param('x'), f.param('x'), one], { into: f.void });
  const list = f.call('vm.builtin.make_tuple', [one, two]);
  const four = f.call('vm.builtin.alloc_storage', [12, 0]);
  const sum = f.call('vm.builtin.alloc_tensor', [four, 0, b.shape([3]), b.dtype('float32')]);
  const seen = f.call('vm.builtin.get_field', [list, 1]);
  f.call('add', [seen, f.param('x'), sum], { into: f.void });
  f.ret(sum);
  return b.build();
}

test.each(['host', 'webgpu'] as const)(
  'views of one storage stay views of one, on %s',
  async (kind) => {
    const program = aliases();
    const device = kind === 'host' ? createHostDevice() : await webGpu();
    const machine = await open(program, { devices: [device] });
    const control = RunControl.of(machine);
    const code = machine.internals().linked.functions[0]?.code ?? [];
    for (const instruction of code.keys()) {
      const paused = control.pause({ at: { function: 'main', instruction } });
      const result = machine.invoke('main', [X]);
      await paused;
      const before = machine.memory().liveBytes;
      const bytes = await takeSnapshot(machine);
      const resumed = await open(program, { devices: [device] });
      // The call stands until its memory was looked at.
      const held = RunControl.of(resumed);
      await held.pause();
      const { calls } = await restoreSnapshot(resumed, bytes);
      expect(resumed.memory().liveBytes).toBeLessThanOrEqual(before);
      held.continue();
      expect(await elements(resumed, await calls[0]?.result)).toEqual([3, 6, 9]);
      resumed.dispose();
      control.continue();
      expect(await elements(machine, await result)).toEqual([3, 6, 9]);
    }
    machine.dispose();
    device.destroy();
  },
);

/** Dice that can be stored: how often they were thrown tells their state. */
function randomDice(seed: number) {
  let random = seededRandom(seed);
  let count = 0;
  const next = (): number => {
    count++;
    return 1 + Math.floor(random() * 6);
  };
  const save = (): Uint8Array => Uint8Array.of(seed, count);
  const restore = ([from = 0, times = 0]: Uint8Array): void => {
    random = seededRandom(from);
    count = 0;
    for (let i = 0; i < times; i++) next();
  };
  return { functions: { 'test.throw': next }, states: { dice: { save, restore } } };
}

test('random states go on where they were', async () => {
  const program = throwsDice();
  const machine = await open(program, { functions: randomDice(5).functions });
  const straight = await machine.invoke('main', [20]);
  const { states, functions } = randomDice(5);
  const stopped = await open(program, { functions });
  const paused = RunControl.of(stopped).pause({ at: LOOP_PLACE, visit: 9 });
  stopped.invoke('main', [20]).catch(() => undefined);
  await paused;
  const bytes = await takeSnapshot(stopped, { states });
  stopped.dispose();
  const devices = [createHostDevice()];
  const resumed = await resumeSnapshot(bytes, program, { devices, ...randomDice(99) });
  expect(await resumed.calls[0]?.result).toBe(straight);
  const other = await open(program, { functions: randomDice(99).functions });
  expect(straight).not.toBe(await other.invoke('main', [20]));
});

test('calls that are replayed are over at once; a breakpoint has them interpreted', async () => {
  const gpu = await webGpu();
  const machine = await open(loopAndTree(), { devices: [gpu] });
  const control = RunControl.of(machine);
  const run = async () => elements(machine, await machine.invoke('main', [X, 4]));
  const straight = await run();
  for (let i = 0; i < 6; i++) expect(await run()).toEqual(straight);
  const { replayed } = machine.replays();
  expect(replayed).toBeGreaterThan(0);
  // While the machine is paused a call that would be replayed waits.
  await control.pause();
  let isOver = false;
  const waiting = run().finally(() => {
    isOver = true;
  });
  const bytes = await takeSnapshot(machine);
  expect(isOver).toBe(false);
  control.continue();
  expect(await waiting).toEqual(straight);
  expect(machine.replays().replayed).toBe(replayed + 1);
  const resumed = await resumeSnapshot(bytes, loopAndTree(), { devices: [gpu] });
  expect(resumed.calls).toEqual([]);

  const paused = control.pause({ at: LOOP_PLACE, visit: 4 });
  const stopped = run();
  expect(await paused).toMatchObject([{ entry: 'main', at: LOOP_PLACE }]);
  const half = await takeSnapshot(machine);
  control.continue();
  expect(await stopped).toEqual(straight);
  expect(machine.replays().replayed).toBe(replayed + 1);
  const other = await resumeSnapshot(half, loopAndTree(), { devices: [gpu] });
  expect(await elements(other.machine, await other.calls[0]?.result)).toEqual(straight);
  expect(await run()).toEqual(straight);
  gpu.destroy();
});
