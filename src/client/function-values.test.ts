import { expect, test } from 'vitest';
import { compile } from '../compiler/compile.ts';
import { parseModule } from '../compiler/index.ts';
import { RuntimeError, UsageError } from '../core/errors.ts';
import { type LoadOptions, type OutputValue, Session, Tensor } from './index.ts';
import { ownGpu } from '../testing/own-gpu.ts';
import type { ProgramFunction } from './values/session-value.ts';

const load = (text: string, options: LoadOptions = {}): Promise<Session> =>
  Session.load(compile(parseModule(text)).toBytes(), { worker: false, device: 'host', ...options });

const numbers = (value: OutputValue | undefined): unknown =>
  value instanceof Tensor ? [...value.data].map(Number) : value;

const CLOSURES = `
  def @main(%by: Tensor[(n,), float32], %k: int) {
    (fn (%x: Tensor[(n,), float32]) { mul(%x, %by) }, (%k, fn (%l: List[int]) -> List[int] {
      Cons(int_mul(%k, #2), @reverse(%l))
    }))
  }`;

async function closures(session: Session, by: number[]) {
  const results = Object.values(await session.run<OutputValue>({ by: Tensor.from(by), k: 21 }));
  const [scale, pair] = results as [ProgramFunction, [number, ProgramFunction]];
  return { scale, extend: pair[1], k: pair[0] };
}

test('functions of a program are called from the page until they are disposed of', async () => {
  const session = await load(CLOSURES);
  const before = await session.memory();
  expect(before.functions).toBe(0);
  const { scale, extend, k } = await closures(session, [2, 3]);
  expect(k).toBe(21);
  expect((await session.memory()).functions).toBe(2);
  expect(numbers(await scale(Tensor.from([1, 10])))).toEqual([2, 30]);
  expect(numbers(await scale(Tensor.from([5, 6])))).toEqual([10, 18]);
  const nil = { constructor: 'Nil', fields: [] };
  const list = { constructor: 'Cons', fields: [1, { constructor: 'Cons', fields: [2, nil] }] };
  expect(await extend(list)).toEqual({
    constructor: 'Cons',
    fields: [42, { constructor: 'Cons', fields: [2, { constructor: 'Cons', fields: [1, nil] }] }],
  });
  const running = scale(Tensor.from([1, 1]));
  scale.dispose();
  scale.dispose();
  expect(numbers(await running)).toEqual([2, 3]);
  await expect(scale(Tensor.from([1, 1]))).rejects.toThrow(
    'function of a program: got one that was disposed of, expected a live one.',
  );
  extend[Symbol.dispose]();
  const after = await session.memory();
  expect(after.functions).toBe(0);
  expect(after.liveBytes).toBe(before.liveBytes);
  await session.dispose();
});

test('arguments of functions are checked by their types', async () => {
  const session = await load(CLOSURES);
  const { scale, extend } = await closures(session, [2, 3]);
  await expect(scale(3)).rejects.toBeInstanceOf(RuntimeError);
  await expect(scale(3)).rejects.toThrow('function, argument 0: got int 3, expected Tensor[(');
  await expect(scale()).rejects.toThrow('function: got 0 arguments, expected 1.');
  await expect(extend({ constructor: 'None', fields: [] })).rejects.toThrow(
    'got None of 0 fields, expected List[int]',
  );
  await expect(scale(Tensor.from([1, 2, 3]))).rejects.toThrow();
  await session.dispose();
  await expect(scale(Tensor.from([1, 1]))).rejects.toBeInstanceOf(UsageError);
});

const APPLY = `
  def @main(%f: fn (Tensor[(n,), float32], int) -> Tensor[(n,), float32], %x: Tensor[(n,), float32]) {
    let %y = %f(%x, #3);
    %f(add(%y, %y), #4)
  }
  def @curry(%f: fn (int, int) -> int, %a: int) { fn (%b: int) { %f(%a, %b) } }
  def @twice(%f: fn (int) -> int, %a: int) { %f(%f(%a)) }
  def @pairs(%p: (fn (int) -> int, int)) { %p.0(%p.1) }`;

test('functions of the page are inputs, and so are those of the program', async () => {
  const session = await load(APPLY);
  const scaled = async (x: OutputValue, by: OutputValue) => {
    await Promise.resolve();
    const data = x instanceof Tensor ? [...x.data] : [];
    return Tensor.from(data.map((v) => Number(v) * Number(by)));
  };
  const { result } = await session.run<OutputValue>({ f: scaled, x: Tensor.from([1, 2]) });
  expect(numbers(result)).toEqual([24, 48]);
  const add = (a: OutputValue, b: OutputValue) => Number(a) + Number(b);
  const curried = await session.run<ProgramFunction>({ f: add, a: 5 }, { function: 'curry' });
  const plusFive = curried['result'] as ProgramFunction;
  // The page's function is called after the run that it was given to.
  expect(await plusFive(2)).toBe(7);
  const twice = { function: 'twice' };
  expect(await session.run<number>({ f: plusFive, a: 1 }, twice)).toEqual({ result: 11 });
  const pair = { p: [(a: OutputValue) => Number(a) * 10, 4] };
  expect(await session.run<number>(pair, { function: 'pairs' })).toEqual({ result: 40 });
  const own = [plusFive, 4];
  expect(await session.run<number>({ p: own }, { function: 'pairs' })).toEqual({ result: 9 });
  const other = await load(APPLY);
  await expect(other.run({ f: plusFive, a: 1 }, twice)).rejects.toThrow(
    'input "f": got a function of another session',
  );
  await other.dispose();
  plusFive.dispose();
  expect((await session.memory()).functions).toBe(0);
  await session.dispose();
});

test('what a function of the page gives is checked; its errors end the run', async () => {
  const session = await load(APPLY);
  const run = (f: () => never) => session.run({ f, a: 1 }, { function: 'twice' });
  await expect(run(() => Tensor.from([1]) as never)).rejects.toThrow(
    'got float32 tensor (1,), expected int',
  );
  await expect(
    run(() => {
      throw new RangeError('no more');
    }),
  ).rejects.toThrow('no more');
  await expect(session.run({ x: Tensor.from([1]), f: 3 })).rejects.toThrow();
  await session.dispose();
});

test.each([
  ['alone on its device', {}],
  ['beside others, whose turns and memory are divided', { pin: true }],
])(
  'functions of the page take functions of the program, and give functions: %s',
  async (_, place) => {
    const kept: ProgramFunction[] = [];
    let ended: ProgramFunction | undefined;
    const session = await load(
      `extern def @twice(%f: fn (Tensor[(n,), float32]) -> Tensor[(n,), float32], %x: Tensor[(n,), float32])
       -> Tensor[(n,), float32]
     extern def @scaler(%by: float) -> (fn (int) -> float, int)
     extern def @same(%f: fn (int) -> int) -> fn (int) -> int
     def @main(%x: Tensor[(n,), float32], %by: Tensor[(), float32], %k: int) {
       let %y = @twice(fn (%z: Tensor[(n,), float32]) { mul(%z, %by) }, %x);
       let %pair = @scaler(#2.5);
       let %f = @same(fn (%i: int) { int_add(%i, %k) });
       (%y, (%pair.0)(%k), %f(#1))
     }`,
      {
        functions: {
          twice: async (f, x) => {
            if (typeof f !== 'function') throw new Error('no function');
            if (kept.length < 2) kept.push(f.keep());
            else ended = f;
            return (await f((await f(x as Tensor)) as Tensor)) as Tensor;
          },
          scaler: (by) => [(i: OutputValue) => Number(i) * Number(by), 0],
          same: (f) => f as ProgramFunction,
        },
        gpu: await ownGpu(),
        ...place,
      },
    );
    const by = new Tensor('float32', Float32Array.of(3), []);
    for (let step = 0; step < 3; step++) {
      const results = await session.run<OutputValue>({ x: Tensor.from([1, 2]), by, k: 4 });
      expect(Object.values(results).map(numbers)).toEqual([[9, 18], 10, 5]);
    }
    expect(numbers(await kept[0]?.(Tensor.from([1, 1])))).toEqual([3, 3]);
    await expect(ended?.(Tensor.from([1, 1]))).rejects.toThrow(
      'got one that was disposed of, expected a live one. One that a function of the page was given ends with that call; its method keep keeps it.',
    );
    expect((await session.memory()).functions).toBe(5);
    for (const f of kept) f.dispose();
    expect((await session.memory()).functions).toBe(3);
    await session.dispose();
  },
);
