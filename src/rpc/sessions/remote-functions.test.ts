import { expect, test } from 'vitest';
import {
  type LoadOptions,
  type OutputValue,
  type ProgramFunction,
  Session,
  Tensor,
} from '../../client/index.ts';
import { compile, parseModule } from '../../compiler/index.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { openConnection } from '../testing/open-connection.ts';

const numbers = (value: OutputValue | undefined): unknown => {
  if (value instanceof Tensor) return Array.from(value.data, Number);
  return Array.isArray(value) ? value.map(numbers) : value;
};

async function open(text: string, options: LoadOptions = {}) {
  const device = createHostDevice();
  const served = await openConnection({ devices: [device], offer: { 'lender.ten': () => 10 } });
  const { remote } = served;
  const session = await Session.load(compile(parseModule(text)).toBytes(), { remote, ...options });
  return { ...served, session, device };
}

const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve));
};

const NIL = { constructor: 'Nil', fields: [] };

test('tuples and data cross by their names', async () => {
  const { session } = await open(
    `def @main(%l: List[(int, Tensor[(?,), float32])], %o: Option[float]) { (@reverse(%l), %o) }`,
  );
  const cons = (head: OutputValue, tail: OutputValue) =>
    ({ constructor: 'Cons', fields: [head, tail] }) as const;
  const [one, two] = [1, 2].map((k): OutputValue => [k, Tensor.from([k])]);
  const o = { constructor: 'Some', fields: [2] };
  const l = cons(one as OutputValue, cons(two as OutputValue, NIL)) as never;
  const results = Object.values(await session.run<OutputValue>({ l, o }));
  expect(results).toEqual([
    cons(two as OutputValue, cons(one as OutputValue, NIL)),
    { constructor: 'Some', fields: [2] },
  ]);
  await session.dispose();
});

test('functions of the page are called by their names, beside those of the lender', async () => {
  const { session } = await open(
    `extern def @"lender.ten"(%k: int) -> int
     extern def @pick(%l: List[int], %x: Tensor[(n,), float32]) -> (float, Option[int])
     def @main(%x: Tensor[(n,), float32]) {
       let %p = @pick(Cons(@"lender.ten"(#0), Nil), neg(%x));
       (%p.0, %p.1)
     }`,
    {
      functions: {
        pick: async (l, x) => {
          const { fields } = l as { fields: readonly OutputValue[] };
          return [
            Number((x as Tensor).data[1]) / 2,
            { constructor: 'Some', fields: [Number(fields[0])] },
          ];
        },
      },
    },
  );
  const results = await session.run<OutputValue>({ x: Tensor.from([1, 3]) });
  expect(Object.values(results)).toEqual([-1.5, { constructor: 'Some', fields: [10] }]);
  await session.dispose();
});

test('functions go in both directions, are called and leave nothing', async () => {
  const { session, remote, device } = await open(
    `extern def @same(%f: fn (int) -> int) -> fn (int) -> int
     def @main(%f: fn (Tensor[(n,), float32]) -> Tensor[(n,), float32], %by: Tensor[(n,), float32]) {
       (fn (%x: Tensor[(n,), float32]) { mul(%f(%x), %by) }, #3)
     }
     def @use(%g: fn (Tensor[(2,), float32]) -> Tensor[(2,), float32], %k: int) {
       (%g([1f, 2f]), @same(fn (%i: int) { int_add(%i, %k) })(#1))
     }`,
    { functions: { same: (f) => f as ProgramFunction } },
  );
  const twice = (x: OutputValue): Tensor =>
    Tensor.from([...(x as Tensor).data].map((v) => Number(v) * 2));
  const [scale] = Object.values(
    await session.run<OutputValue>({ f: twice, by: Tensor.from([1, 10]) }),
  ) as [ProgramFunction];
  expect(numbers(await scale(Tensor.from([1, 2])))).toEqual([2, 40]);
  const used = await session.run<OutputValue>({ g: scale, k: 4 }, { function: 'use' });
  expect(Object.values(used).map(numbers)).toEqual([[2, 40], 5]);
  expect((await session.memory()).functions).toBe(2);
  scale.dispose();
  await settle();
  expect((await session.memory()).functions).toBe(1);
  await expect(scale(Tensor.from([1, 2]))).rejects.toThrow('got one that was disposed of');
  await session.dispose();
  await settle();
  expect(device.counters().bytesLive).toBe(0);
  expect(remote.counters()).toMatchObject({ callsPending: 0 });
});

test('errors of the page end the run with their class; wrong results name the call', async () => {
  const text = `extern def @f(%k: int) -> int
    def @main(%k: int) { int_add(@f(%k), #1) }`;
  const run = async (f: () => unknown): Promise<unknown> => {
    const { session } = await open(text, { functions: { f: f as never } });
    return session.run({ k: 1 }).catch((error: unknown) => error);
  };
  const thrown = await run(() => {
    throw new RangeError('nothing to sample');
  });
  expect(String(thrown)).toContain('ir:2:34, declared at ir:1:12: nothing to sample');
  expect(String(await run(() => 'a'))).toContain(
    'ir:2:34, declared at ir:1:12: result of f: got string "a", expected int.',
  );
});

test('a program that lacks functions is refused at once', async () => {
  await expect(
    open('extern def @a(%k: int) -> int\n def @main(%k: int) { @a(%k) }', { functions: {} }),
  ).rejects.toThrow('no definition of a (packed)');
});

test('a call that waits for the page ends with an abort, a disposal or the connection', async () => {
  const text = `extern def @forever(%k: int) -> int
    def @main(%k: int) { int_add(@forever(%k), #1) }`;
  const functions = { forever: () => new Promise<never>(() => undefined) };
  const { session, served } = await open(text, { functions });
  const controller = new AbortController();
  const aborted = session.run({ k: 1 }, { signal: controller.signal });
  await settle();
  controller.abort(new Error('enough'));
  await expect(aborted).rejects.toThrow('enough');
  const lost = session.run({ k: 1 });
  await settle();
  served.close();
  await expect(lost).rejects.toMatchObject({ name: 'RemoteLostError' });
  const other = await open(text, { functions });
  const disposed = other.session.run({ k: 1 });
  await settle();
  await Promise.all([
    expect(disposed).rejects.toThrow('The session was disposed.'),
    other.session.dispose(),
  ]);
});

test('nodes of a model are computed by functions of the page', async () => {
  const model = writeOnnxModel({
    opset: 17,
    opsets: { 'my.domain': 1 },
    inputs: [{ name: 'x', dtype: 'float32', shape: ['n'] }],
    nodes: [
      { op: 'Op', domain: 'my.domain', inputs: ['x'], outputs: ['a'], attributes: { by: 3 } },
      { op: 'Neg', inputs: ['a'], outputs: ['y'] },
    ],
    outputs: ['y'],
  });
  const { remote } = await openConnection({ devices: [createHostDevice()] });
  const session = await Session.load(model, {
    remote,
    functions: {
      'my.domain::Op': {
        type: ({ inputs }) => ({ dtype: 'float32', shape: inputs[0]?.shape ?? [] }),
        run: ([x], { by }) => Tensor.from([...(x?.data ?? [])].map((v) => Number(v) * Number(by))),
      },
    },
  });
  expect(numbers((await session.run({ x: Tensor.from([1, -2]) }))['y'])).toEqual([-3, 6]);
  await session.dispose();
});
