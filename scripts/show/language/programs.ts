import type { OutputValue, Session } from '../../../src/client/index.ts';
import type { LoadOptions } from '../../../src/client/index.ts';
import { type DeviceTensor, OpaqueValue, Tensor } from '../../../src/client/index.ts';
import {
  callFunction,
  compile,
  type Expr,
  extern,
  func,
  global,
  logarithmic,
  moduleOf,
  parseModule,
  type Pass,
  rewriteBodies,
  variable,
} from '../../../src/frontend/index.ts';
import {
  coreOperators,
  defineElementwise,
  formula as f,
  Operators,
} from '../../../src/ops/index.ts';
import { otherDomainModel } from '../../../src/testing/other-domain-model.ts';

/** A program of the table, with what it is to give on every device. */
export interface ShownProgram {
  readonly title: string;
  readonly source: () => Uint8Array;
  readonly options?: LoadOptions;
  readonly run: (session: Session) => Promise<unknown>;
  readonly expected: unknown;
}

const program =
  (text: string, options: Parameters<typeof compile>[1] = {}) =>
  (): Uint8Array =>
    compile(parseModule(text, { operators: options.operators }), options).toBytes();

/** Results as plain data. */
export function plain(value: OutputValue | undefined): unknown {
  if (value instanceof Tensor) return Array.from(value.data, Number);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null && 'fields' in value) {
    const name = 'tag' in value ? value.tag : value.constructor;
    return { [name]: value.fields.map(plain) };
  }
  return value;
}

const PRIVATE = `
private def @square(%x: Tensor[(n,), float32]) { mul(%x, %x) }
private def @power(%x: Tensor[(n,), float32], %n: int) -> Tensor[(n,), float32] {
  if (int_lt(%n, #2)) { %x } else { mul(%x, @power(%x, int_sub(%n, #1))) }
}
def @main(%x: Tensor[(n,), float32]) { add(@square(%x), @power(%x, #3)) }
`;

const JAGGED = `
def @rows(%list: List[Tensor[(?,), float32]]) -> List[Tensor[(?,), float32]] {
  @map(fn (%row: Tensor[(?,), float32]) -> Tensor[(?,), float32] { @doubled(%row) }, %list)
}
def @doubled(%row: Tensor[(n,), float32]) -> Tensor[(?,), float32] { add(%row, %row) }
def @sum(%total: Tensor[(), float32], %row: Tensor[(n,), float32]) -> Tensor[(), float32] {
  add(%total, reduce_sum(%row, axes=[0], keepdims=false))
}
def @main(%list: List[Tensor[(?,), float32]]) {
  %doubled = @rows(%list);
  (@foldl(fn (%total: Tensor[(), float32], %row: Tensor[(?,), float32]) -> Tensor[(), float32] {
    @sum(%total, %row)
  }, 0f, %doubled), @length(%doubled))
}`;

const NUMBERS = `
def @main(%x: Tensor[(n,), float32], %k: int) {
  let %size: Tensor[(0, m), int32] = sizes_of(int_add(%k, #1));
  %half = reshape(tensor_of(float_div(float_from_int(%k), #2.0), dtype="float32"), shape=[]);
  (mul(%x, %half), full(shape=[m], value=7))
}`;

const FUNCTIONS = `
def @main(%f: fn (Tensor[(n,), float32]) -> Tensor[(n,), float32], %by: Tensor[(n,), float32]) {
  fn (%x: Tensor[(n,), float32]) { mul(%f(%x), %by) }
}`;

const SHAPES = `
type Shape { Circle(Tensor[(), float32]), Box(float, float), Point }
def @main(%shapes: List[Shape], %pair: (Tensor[(n,), float32], int)) {
  (@reverse(%shapes), (%pair.1, relu(%pair.0)))
}`;

const SAMPLE = `
extern def @sample(%x: Tensor[(n,), float32], %state: (int, float)) -> (int, float)
def @main(%x: Tensor[(n,), float32]) {
  let %first = @sample(%x, (#1, #0.5));
  let %second = @sample(neg(%x), (%first.0, %first.1));
  (%second.0, %second.1)
}`;

/** (x + sqrt(x² + 4)) / 2 */
const squareplus = defineElementwise({
  name: 'squareplus',
  inputs: [{ name: 'x', dtypes: ['float32'] }],
  attributes: {},
  scalar: { formula: f.mul(0.5, f.add(f.X, f.sqrt(f.add(f.mul(f.X, f.X), 4)))) },
  tolerance: { rtol: 1e-5, atol: 1e-6 },
});
const operators = new Operators([...coreOperators, squareplus]);

/** Calls of `neg` become calls of `abs`: what a program gives shows that the pass ran. */
const negToAbs: Pass = {
  name: 'neg-to-abs',
  run: (module) =>
    rewriteBodies(module, (expr): Expr => {
      const isNeg =
        expr.kind === 'call' && expr.callee.kind === 'operator' && expr.callee.name === 'neg';
      return isNeg ? { ...expr, callee: { kind: 'operator', name: 'abs' } } : expr;
    }),
};

const STATE = `
def @main(
  %state: Tensor[(4, 2), float32], %at: Tensor[(1, 1), int32], %row: Tensor[(1, 2), float32],
  results=["state"]
) {
  scatter_nd(%state, %at, %row)
}`;

const OBJECTS = `
extern def @"shelf.open"(%key: int) -> Opaque[shelf]
extern def @"shelf.count"(%shelf: Opaque[shelf], %least: int) -> int
def @main(%key: int, %mine: Opaque[shelf]) {
  let %shelf = @"shelf.open"(%key);
  %counts = @map(fn (%one: Opaque[shelf]) { @"shelf.count"(%one, #3) }, Cons(%shelf, Cons(%mine, Nil)));
  (@"shelf.count"(%shelf, #2), %counts, %mine)
}`;

function builtWithExtern(): Uint8Array {
  const [x, y] = [variable('x', 'float32', ['n']), variable('y', 'float32', ['n'])];
  const type = { kind: 'tensor', dtype: 'float32', shape: ['n'] } as const;
  const main = func([x], callFunction(global('halve'), [x]));
  return compile(moduleOf({ halve: extern('my.halve', [y], type), main })).toBytes();
}

const NIL = { constructor: 'Nil', fields: [] };

const xs = (session: Session, values: readonly number[]): Promise<unknown> =>
  session.run({ x: Tensor.from([...values]) }).then(({ result }) => plain(result));

/** The rows that run on every device. */
export const PROGRAMS: readonly ShownProgram[] = [
  {
    title: 'a closure takes a tensor of any size',
    source: program(`
def @main(%x: Tensor[(2,), float32]) {
  %f = fn (%y: Tensor[(?,), float32]) -> Tensor[(?,), float32] { relu(%y) };
  %f(%x)
}`),
    run: (session) => xs(session, [-1, 2]),
    expected: [0, 2],
  },
  {
    title: 'a function that calls itself by its let',
    source: program(`
def @main(%x: Tensor[(n,), float32]) {
  let %power = fn (%k: int, %y: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
    if (%k) { %power(int_sub(%k, #1), mul(%y, %x)) } else { %y }
  };
  %power(#2, %x)
}`),
    run: (session) => xs(session, [-1, 2]),
    expected: [-1, 8],
  },
  {
    title: 'a list of a million is mapped and folded',
    source: program(`
def @numbers(%k: int, %l: List[int]) -> List[int] {
  if (%k) { @numbers(int_sub(%k, #1), Cons(%k, %l)) } else { %l }
}
def @main(%k: int) {
  @foldl(fn (%sum: int, %i: int) { int_add(%sum, %i) }, #0,
    @map(fn (%i: int) { int_mul(%i, #2) }, @numbers(%k, Nil)))
}`),
    run: async (session) => plain((await session.run<OutputValue>({ k: 1_000_000 }))['result']),
    expected: 1_000_001_000_000,
  },
  {
    title: 'a pass of the user changes a program',
    source: program('def @main(%x: Tensor[(n,), float32]) { neg(%x) }', {
      passes: [{ pass: negToAbs, after: 'inline' }],
    }),
    run: (session) => xs(session, [-1, 2]),
    expected: [1, 2],
  },
  {
    title: 'a rewrite rule as text changes a program',
    source: program('def @main(%x: Tensor[(n,), float32]) { exp(log(neg(%x))) }', {
      rules: ['exp(log(%a)) => %a'],
    }),
    run: (session) => xs(session, [1, -2]),
    expected: [-1, 2],
  },
  {
    title: 'an operator of the user',
    source: program('def @main(%x: Tensor[(n,), float32]) { squareplus(%x) }', { operators }),
    options: { operators },
    run: (session) => xs(session, [0, 1.5]),
    expected: [1, 2],
  },
  {
    title: 'a state is given away and changed in place, step after step',
    source: program(STATE),
    run: async (session) => {
      let state: Tensor | DeviceTensor = new Tensor('float32', new Float32Array(8), [4, 2]);
      const row = new Tensor('float32', Float32Array.of(1, 2), [1, 2]);
      const peaks = new Set<number>();
      for (let step = 0; step < 6; step++) {
        const at = new Tensor('int32', Int32Array.of(step % 4), [1, 1]);
        const given = { keep: ['state'], donate: ['state'] } as const;
        ({ state } = await session.run({ state, at, row }, given));
        if (step > 2) peaks.add((await session.memory()).peakBytes);
      }
      const values = state instanceof Tensor ? state : await state.read();
      return [plain(values), peaks.size];
    },
    expected: [[1, 2, 1, 2, 1, 2, 1, 2], 1],
  },
  {
    title: 'jagged lists are mapped and folded',
    source: program(JAGGED),
    run: async (session) => {
      const tail = { constructor: 'Cons', fields: [Tensor.from([10]), NIL] };
      const list = { constructor: 'Cons', fields: [Tensor.from([1, 2, 3]), tail] };
      return Object.values(await session.run<OutputValue>({ list })).map(plain);
    },
    expected: [[32], 2],
  },
  {
    title: 'numbers of the host are data and dimensions',
    source: program(NUMBERS),
    run: async (session) =>
      Object.values(await session.run<OutputValue>({ x: Tensor.from([2, 4]), k: 3 })).map(plain),
    expected: [
      [3, 6],
      [7, 7, 7, 7],
    ],
  },
  {
    title: 'a text calls JavaScript with tuples',
    source: program(SAMPLE),
    options: {
      functions: {
        sample: (x, state) => {
          const [count, rate] = state as [number, number];
          const best = x instanceof Tensor ? Math.max(...Array.from(x.data, Number)) : 0;
          return [count + best, rate / 2];
        },
      },
    },
    run: async (session) =>
      Object.values(await session.run<OutputValue>({ x: Tensor.from([1, -6, 4]) })).map(plain),
    expected: [11, 0.125],
  },
  {
    title: 'a program made with the builder calls JavaScript',
    source: builtWithExtern,
    options: {
      functions: {
        'my.halve': (x) =>
          Tensor.from((x instanceof Tensor ? Array.from(x.data, Number) : []).map((v) => v / 2)),
      },
    },
    run: (session) => xs(session, [1, 3]),
    expected: [0.5, 1.5],
  },
  {
    title: 'nodes of another domain of an ONNX model call JavaScript',
    source: otherDomainModel,
    options: {
      functions: {
        'my.domain::Op': {
          type: ({ inputs }) => ({ dtype: 'float32', shape: inputs[0]?.shape ?? [] }),
          run: ([x], { by }) =>
            Tensor.from((x ? Array.from(x.data, Number) : []).map((v) => v * Number(by))),
        },
      },
    },
    run: async (session) => plain((await session.run({ x: Tensor.from([1, -2, 3]) }))['y']),
    expected: [-3, -0, -9],
  },
  {
    title: 'tuples and data go in and come out by their names',
    source: program(SHAPES),
    run: async (session) => {
      const box = { constructor: 'Box', fields: [2, 0.5] };
      const tail = { constructor: 'Cons', fields: [{ constructor: 'Point', fields: [] }, NIL] };
      const shapes = { constructor: 'Cons', fields: [box, tail] };
      const inputs = { shapes, pair: [Tensor.from([-1, 2]), 7] };
      return Object.values(await session.run<OutputValue>(inputs)).map(plain);
    },
    expected: [{ Cons: [{ Point: [] }, { Cons: [{ Box: [2, 0.5] }, { Nil: [] }] }] }, [7, [0, 2]]],
  },
  {
    title: 'a function of the page goes in, a closure over it comes out and leaves nothing',
    source: program(FUNCTIONS),
    run: async (session) => {
      const twice = (x: OutputValue) =>
        Tensor.from((x instanceof Tensor ? Array.from(x.data, Number) : []).map((v) => v * 2));
      const inputs = { f: twice, by: Tensor.from([1, 10]) };
      const { result } = await session.run<OutputValue>(inputs);
      if (typeof result !== 'function') return 'no function';
      const value = plain(await result(Tensor.from([1, 2])));
      result.dispose();
      return [value, (await session.memory()).functions];
    },
    expected: [[2, 40], 0],
  },
  {
    title: 'an object of the page goes through a program, in data too, and comes back as itself',
    source: program(OBJECTS),
    options: {
      functions: {
        'shelf.open': (key) => new OpaqueValue('shelf', [Number(key), 2, 3]),
        'shelf.count': (shelf, least) =>
          (shelf instanceof OpaqueValue ? (shelf.value as number[]) : []).filter(
            (book) => book >= Number(least),
          ).length,
      },
    },
    run: async (session) => {
      const mine = new OpaqueValue('shelf', [5, 6]);
      const { result0, result1, result2 } = await session.run<OutputValue>({ key: 1, mine });
      return [plain(result0), plain(result1), result2 === mine];
    },
    expected: [2, { Cons: [1, { Cons: [2, { Nil: [] }] }] }, true],
  },
  {
    title: 'private functions run and are no entries of the session',
    source: program(PRIVATE),
    run: async (session) => {
      const { result } = await session.run<OutputValue>({ x: Tensor.from([1, 2]) });
      const refused = session.run({ x: Tensor.from([1]), n: 2 }, { function: 'power' }).then(
        () => 'accepted',
        (error: unknown) => String(error).includes('got function "power", expected one of main'),
      );
      return [plain(result), session.functions, await refused];
    },
    expected: [[2, 12], ['main'], true],
  },
  {
    title: 'clones for intervals of sizes, the last one open',
    source: program('def @main(%x: Tensor[(n,), float32]) { neg(%x) }', {
      dispatch: { main: { x: { 0: logarithmic({ min: 1, max: 3, open: true }) } } },
    }),
    run: async (session) => {
      const run = async (size: number) => {
        const { result } = await session.run({ x: Tensor.from(new Array<number>(size).fill(1)) });
        return result?.data.length;
      };
      return [session.functions.length, await run(1), await run(2), await run(300)];
    },
    expected: [4, 1, 2, 300],
  },
  {
    title: 'an error of a function of the page ends the run, with its message',
    source: program(SAMPLE),
    options: {
      functions: {
        sample: () => {
          throw new RangeError('nothing to sample');
        },
      },
    },
    run: (session) =>
      session.run({ x: Tensor.from([1]) }).then(
        () => 'accepted',
        (error: unknown) => String(error).includes('nothing to sample'),
      ),
    expected: true,
  },
];
