import { describe, expect, test } from 'vitest';
import { ExecBuilder, type FunctionBuilder } from '../bytecode/index.ts';
import type { OperandLike } from '../bytecode/build/function-builder.ts';
import { countingLoop, sumAndProduct } from '../worker/testing/test-programs.ts';
import { Session, type SessionSource, Tensor } from './index.ts';

const x = Tensor.from([1, 2, 3]);
const y = Tensor.from([10, 20, 30]);

/** Opens a session in this thread, on the host. */
function open(source: SessionSource): Promise<Session> {
  return Session.load(source, { worker: false, device: 'host' });
}

/**
 * Opens a program of one function `main(x)` without a signature, which takes and gives anything.
 */
function openProgram(body: (f: FunctionBuilder) => OperandLike, param = 'x'): Promise<Session> {
  const b = new ExecBuilder();
  const f = b.function('main', [param]);
  f.ret(body(f));
  return open(b.build().toBytes());
}

/** A test may hand over what types forbid. */
const untyped = (value: unknown) => value as never;
type AnyCall = (...args: unknown[]) => unknown;

describe('inputs', () => {
  const mismatch = (got: string) =>
    `ShapeError: inputs of main: "y": got ${got}, expected float32 (n,) (n is 3 in "x").`;
  const strange = (got: string) => `UsageError: input "y": got ${got}, expected a Tensor`;
  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'missing "x", "y"; expected "x", "y".'],
    ['null', null, 'missing "x", "y"; expected "x", "y".'],
    ['a number', 5, 'missing "x", "y"; expected "x", "y".'],
    [
      'a tensor',
      Tensor.from([1]),
      'run: got a tensor in the place of the inputs, expected an object with "x", "y". Say which input it is: run({ x: tensor }).',
    ],
    ['an array', [x, y], 'unknown "0", "1", missing "x", "y"; expected "x", "y".'],
    ['an undefined one', { x, y: undefined }, 'missing "y"; expected "x", "y".'],
    ['one too many', { x, y, z: y }, 'unknown "z"; expected "x", "y".'],
    ['null for a tensor', { x, y: null }, strange('null')],
    ['an array for a tensor', { x, y: [1, 2, 3] }, strange('Array')],
    ['a boolean', { x, y: true }, mismatch('boolean true')],
    ['a bigint', { x, y: 3n }, mismatch('bigint 3')],
    ['another dtype', { x, y: Tensor.from([1], 'int32') }, mismatch('int32 (1,)')],
  ])('%s are refused', async (_, inputs, message) => {
    const session = await open(sumAndProduct().toBytes());
    const error = await session.run(untyped(inputs)).catch(String);
    expect(error).toContain(message);
    expect((await session.memory()).peakBytes).toBe(0);
    await session.dispose();
  });

  test.each([Number.NaN, 1.5, 2 ** 53, Number.POSITIVE_INFINITY])(
    '%d for an int is refused',
    async (steps) => {
      const session = await open(countingLoop().toBytes());
      await expect(session.run({ steps })).rejects.toThrow(
        `"steps": got number ${steps}, expected an integer`,
      );
      await session.dispose();
    },
  );

  test.each(['constructor', '__proto__', 'toString'])('named %s are own ones', async (name) => {
    const session = await openProgram((f) => f.param(name), name);
    await expect(session.run({})).rejects.toThrow(
      `inputs of main: missing "${name}"; expected "${name}".`,
    );
    const inputs = Object.fromEntries([[name, 3]]);
    expect(await session.run<number>(inputs)).toEqual({ result: 3 });
    await session.dispose();
  });

  test.each([true, 3n, Symbol('s')])('%s is nothing that a program takes', async (value) => {
    const session = await openProgram((f) => f.param('x'));
    await expect(session.run(untyped({ x: value }))).rejects.toThrow(
      'expected anything that this session can use',
    );
    await session.dispose();
  });

  test('that one run has taken are refused by the next, at once', async () => {
    const session = await open(sumAndProduct().toBytes());
    const shared = Tensor.from([1, 2, 3]);
    const empty = Tensor.from([]);
    const runs = [
      session.run({ x: shared, y: shared }, { transfer: true }),
      session.run({ x: shared, y }, { transfer: true }),
      session.run({ x: empty, y: empty }, { transfer: true }),
      session.run({ x: empty, y: empty }, { transfer: true }),
    ];
    const [first, second, third, fourth] = await Promise.allSettled(runs);
    expect(shared.data).toHaveLength(0);
    expect(first).toMatchObject({ value: { sum: { data: Float32Array.of(2, 4, 6) } } });
    expect(second).toMatchObject({
      reason: {
        name: 'ShapeError',
        message:
          'inputs of main: "x": got float32 (3,) whose data an earlier run took (transfer: true), ' +
          'expected float32 (n,) (n is 3 in "y").',
      },
    });
    for (const outcome of [third, fourth]) expect(outcome?.status).toBe('fulfilled');
    await session.dispose();
  });
});

describe('results', () => {
  const tooMany =
    'run: got a result of too many values, expected at most 65536 values, nested at most 1000 deep.';

  test('that hold one value twice, forty times over', async () => {
    const session = await openProgram((f) => {
      let value: OperandLike = f.param('x');
      for (let i = 0; i < 40; i++) value = f.call('vm.builtin.make_tuple', [value, value]);
      return value;
    });
    await expect(session.run({ x })).rejects.toThrow(tooMany);
    await expect(session.run({ x }, { keep: 'device' })).rejects.toThrow(tooMany);
    expect((await session.memory()).liveBytes).toBe(0);
    await session.dispose();
  });

  test('that are nested deep', async () => {
    const session = await openProgram((f) => {
      const [again, end] = [f.label(), f.label()];
      const left = f.call('vm.builtin.int_add', [f.param('x'), 0]);
      const list = f.call('vm.builtin.make_tuple', []);
      f.place(again);
      f.if(left, end);
      f.call('vm.builtin.make_tuple', [list], { into: list });
      f.call('vm.builtin.int_sub', [left, 1], { into: left });
      f.goto(again);
      f.place(end);
      return list;
    });
    await expect(session.run({ x: 500_000 })).rejects.toThrow(tooMany);
    expect(await session.run({ x: 900 })).toHaveProperty('result.fields');
    await session.dispose();
  });

  test('that stay inside leave no handle behind', async () => {
    const session = await openProgram((f) => {
      const storage = f.call('vm.builtin.alloc_storage', [1000, 0]);
      return f.call('vm.builtin.make_tuple', [f.param('x'), storage]);
    });
    await expect(session.run({ x }, { keep: 'device' })).rejects.toThrow(
      'run: got a storage as a result, expected tensors, numbers, strings, shapes, functions or tuples and data of them.',
    );
    expect((await session.memory()).liveBytes).toBe(0);
    await session.dispose();
  });
});

test.each([-1, 1.5, Number.NaN, 2 ** 60, untyped('3')])(
  'a warm-up with a dimension of %s is refused',
  async (n) => {
    const session = await open(sumAndProduct().toBytes());
    await expect(session.warmup({ n })).rejects.toThrow(
      `warmup: got ${n} for dimension n, expected an integer from 0 up.`,
    );
    await expect(session.warmup({ n: 2 ** 50 })).rejects.toMatchObject({
      name: 'OutOfMemoryError',
    });
    expect(await session.memory()).toMatchObject({ liveBytes: 0, peakBytes: 0 });
    await session.dispose();
  },
);

describe('sources and objects', () => {
  test.each<[string, () => unknown, string]>([
    [
      'a name of a hub',
      () => open('Xenova/gpt2'),
      'no such file, expected a file with a program. There is no hub',
    ],
    [
      'a Response that was read',
      async () => {
        const response = new Response(new Uint8Array(8));
        await response.arrayBuffer();
        return open(response);
      },
      'expected one that nothing has read.',
    ],
    [
      'options in two objects',
      () => (Session.load.bind(Session) as AnyCall)('m.onnx', {}, { dims: {} }),
      'Session.load: got 3 arguments, expected at most 2.',
    ],
    [
      'new Session',
      () => Reflect.construct(Session, [new Uint8Array(8)]) as unknown,
      'Session.load: got a call of the constructor, expected Session.load(…).',
    ],
  ])('%s', async (_, misuse, message) => {
    await expect((async () => misuse())()).rejects.toThrow(message);
  });

  test('a run with more than inputs and options', async () => {
    const session = await open(sumAndProduct().toBytes());
    const run = session.run.bind(session) as AnyCall;
    await expect(run({ x, y }, {}, 'main')).rejects.toThrow(
      'run: got 3 arguments, expected at most 2.',
    );
    await session.dispose();
  });

  test.each([null, 3, AbortSignal.abort()])('warm-up with %s', async (dims) => {
    const session = await open(sumAndProduct().toBytes());
    await expect(session.warmup(untyped(dims))).rejects.toThrow('warmup: got dims ');
    await session.dispose();
  });

  test('samples that are one', async () => {
    const session = await open(sumAndProduct().toBytes());
    const overflows = session.overflows(untyped({ x, y }));
    await expect(overflows).rejects.toThrow('expected a list of inputs.');
    await session.dispose();
  });
});

describe('files', () => {
  test.each([
    ['longer', (bytes: Uint8Array) => new Blob([new Uint8Array(bytes), new Uint8Array(4)])],
    ['shorter', (bytes: Uint8Array) => new Blob([bytes.slice(0, -4)])],
  ])('%s than they say are refused before memory is taken for them', async (_, change) => {
    const b = new ExecBuilder();
    const weights = Tensor.from(Array.from({ length: 1000 }, (_, i) => i));
    const f = b.function('main');
    const { HostTensor } = await import('../core/tensor/host-tensor.ts');
    f.ret(b.tensor(new HostTensor('float32', [1000], weights.data)));
    const bytes = b.build().toBytes();
    await expect(open(change(bytes))).rejects.toThrow(`${bytes.length}, as its header says.`);
  });

  test('one URL twenty times at once', async () => {
    const base64 = Buffer.from(sumAndProduct().toBytes()).toString('base64');
    const url = `data:application/octet-stream;base64,${base64}`;
    const sessions = await Promise.all(Array.from({ length: 20 }, () => open(url)));
    const outputs = await Promise.all(sessions.map((session) => session.run({ x, y })));
    for (const { sum } of outputs) expect(sum?.toNested()).toEqual([11, 22, 33]);
    await Promise.all(sessions.map((session) => session.dispose()));
  });
});

describe('dispose', () => {
  test('waits for no other session', async () => {
    const [busy, idle] = await Promise.all([
      open(countingLoop().toBytes()),
      open(sumAndProduct().toBytes()),
    ]);
    const endless = busy.profile({ steps: 1e12 }).catch(String);
    const waiting = [idle.run({ x, y }), idle.profile({ x, y })].map((run) => run.catch(String));
    await idle.dispose();
    expect(await Promise.all(waiting)).toEqual(
      waiting.map(() => 'UsageError: The session was disposed.'),
    );
    await busy.dispose();
    expect(await endless).toBe('UsageError: The session was disposed.');
  });

  test('handles are of no use afterwards, and disposing of them does no harm', async () => {
    const session = await open(sumAndProduct().toBytes());
    const { sum } = await session.run({ x, y }, { keep: 'device' });
    const running = session.run({ x: sum ?? x, y }).catch(String);
    await session.dispose();
    expect(await running).toBe('UsageError: The session was disposed.');
    await expect(sum?.read()).rejects.toThrow('The session was disposed.');
    expect(() => sum?.dispose()).not.toThrow();
    await expect(session.run({ x: sum ?? x, y })).rejects.toMatchObject({
      name: expect.stringMatching(/UsageError|ShapeError/) as unknown,
    });
  });
});
