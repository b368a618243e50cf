import { expect, test } from 'vitest';
import { compile } from '../compiler/compile.ts';
import { parseModule } from '../compiler/index.ts';
import { RuntimeError, UsageError } from '../core/errors.ts';
import { type LoadOptions, type OutputValue, Session, Tensor } from './index.ts';

const bytes = (text: string): Uint8Array => compile(parseModule(text)).toBytes();

const load = (text: string, options: LoadOptions = {}): Promise<Session> =>
  Session.load(bytes(text), { worker: false, device: 'host', ...options });

const plain = (value: OutputValue | undefined): unknown => {
  if (value instanceof Tensor) return [...value.data].map(Number);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null && 'fields' in value) {
    const head = 'constructor' in value && Object.hasOwn(value, 'constructor');
    return { [head ? String(value.constructor) : 'tag']: value.fields.map(plain) };
  }
  return value;
};

const LISTS = `
  type Shape { Circle(Tensor[(), float32]), Box(float, float), Point }
  def @main(%shapes: List[Shape], %pair: (Tensor[(n,), float32], (int, float))) {
    let %added: List[Shape] = Cons(Box(#2.0, %pair.1.1), %shapes);
    (@reverse(%added), (%pair.1.0, relu(%pair.0)), @length(%shapes))
  }`;

test('tuples and data go in and come out by the names of constructors', async () => {
  const session = await load(LISTS);
  expect(session.inputs).toEqual([
    { name: 'shapes', dtype: 'any', shape: [], type: 'List[Shape]' },
    { name: 'pair', dtype: 'any', shape: [], type: '(Tensor[(n,), float32], (int, float))' },
  ]);
  const circle = { constructor: 'Circle', fields: [new Tensor('float32', Float32Array.of(3), [])] };
  const point = { constructor: 'Point', fields: [] };
  const nil = { constructor: 'Nil', fields: [] };
  const cons = (head: typeof circle | typeof point, tail: typeof nil) => ({
    constructor: 'Cons',
    fields: [head, tail],
  });
  const shapes = cons(circle, cons(point, nil) as typeof nil);
  const results = await session.run<OutputValue>({
    shapes,
    pair: [Tensor.from([-1, 2]), [7, 2]],
  });
  expect(Object.values(results).map(plain)).toEqual([
    {
      Cons: [
        { Point: [] },
        { Cons: [{ Circle: [[3]] }, { Cons: [{ Box: [2, 2] }, { Nil: [] }] }] },
      ],
    },
    [7, [0, 2]],
    2,
  ]);
  await session.dispose();
});

test('inputs of another type are refused by their place in the type', async () => {
  const session = await load(LISTS);
  const nil = { constructor: 'Nil', fields: [] };
  const pair = [Tensor.from([1]), [7, 0.5]];
  const run = (inputs: Parameters<Session['run']>[0]): Promise<string> =>
    session.run(inputs).then(
      () => 'accepted',
      (error: unknown) => String(error).split('\n')[0] ?? '',
    );
  expect(await run({ shapes: nil, pair })).toBe('accepted');
  expect(await run({ shapes: nil, pair: [Tensor.from([1]), [7.5, 0.5]] })).toMatchInlineSnapshot(
    `"RuntimeError: main, parameter pair: got float 7.5, expected int."`,
  );
  expect(await run({ shapes: { constructor: 'Cone', fields: [] }, pair })).toMatchInlineSnapshot(
    `"RuntimeError: main, parameter shapes: got Cone of 0 fields, expected List[Shape], { constructor, fields }: Cons of 2 fields or Nil of 0 fields."`,
  );
  expect(await run({ shapes: [nil], pair })).toMatchInlineSnapshot(
    `"RuntimeError: main, parameter shapes: got an array of 1, expected List[Shape], { constructor, fields }: Cons of 2 fields or Nil of 0 fields."`,
  );
  expect(await run({ shapes: nil, pair: [Tensor.from([1])] })).toMatchInlineSnapshot(
    `"RuntimeError: main, parameter pair: got an array of 1, expected (Tensor[(n,), float32], (int, float))."`,
  );
  await expect(session.run({ shapes: [null as never], pair })).rejects.toBeInstanceOf(UsageError);
  await session.dispose();
});

const CALLS = `
  extern def @pick(%logits: Tensor[(n,), float32], %state: (int, List[int])) -> (int, List[int])
  extern def @note(%k: int) -> ()
  def @main(%x: Tensor[(n,), float32]) {
    let %first = @pick(%x, (#1, Nil));
    let %second = @pick(neg(%x), (%first.0, %first.1));
    let %u = @note(%second.0);
    (%second.0, @length(%second.1), mul(%x, reshape(tensor_of(%second.0, dtype="float32"), shape=[])))
  }`;

test('programs call functions of the page', async () => {
  const notes: unknown[] = [];
  const session = await load(CALLS, {
    functions: {
      pick: async (logits, state) => {
        const [count, list] = state as [number, OutputValue];
        const data = logits instanceof Tensor ? [...logits.data].map(Number) : [];
        await Promise.resolve();
        return [
          count + data.indexOf(Math.max(...data)),
          { constructor: 'Cons', fields: [count, list as never] },
        ];
      },
      note: (k) => {
        notes.push(k);
      },
    },
  });
  const results = await session.run<OutputValue>({ x: Tensor.from([1, 5, -2]) });
  expect(Object.values(results).map(plain)).toEqual([4, 2, [4, 20, -8]]);
  expect(notes).toEqual([4]);
  await session.dispose();
});

test('errors of functions end the run; wrong results are named', async () => {
  const run = async (give: () => never): Promise<unknown> => {
    const session = await load(CALLS, { functions: { pick: give, note: () => undefined } });
    const outcome = await session.run({ x: Tensor.from([1]) }).then(
      () => 'accepted',
      (error: unknown) => error,
    );
    await session.dispose();
    return outcome;
  };
  expect(
    await run(() => {
      throw new RangeError('no more tokens');
    }),
  ).toMatchObject({ message: expect.stringContaining('no more tokens') as string });
  const wrong = await run(() => [1, 2] as never);
  expect(wrong).toBeInstanceOf(RuntimeError);
  expect(String(wrong).split('\n')[0]).toMatchInlineSnapshot(
    `"RuntimeError: ir:5:18, declared at ir:2:14: result of pick: got int 2, expected List[int], { constructor, fields }: Cons of 2 fields or Nil of 0 fields."`,
  );
});

test('missing functions are named before anything runs', async () => {
  await expect(load(CALLS, { functions: { pick: () => 0 } })).rejects.toThrow('note (packed)');
  await expect(load(CALLS, { functions: { pick: 3 as never } })).rejects.toThrow(
    'expected a function',
  );
});
