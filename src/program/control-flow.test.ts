import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { printModule } from '../compiler/index.ts';
import {
  array,
  type ArraySpec,
  configure,
  data,
  f32,
  i32,
  If,
  loop,
  match,
  type NdArray,
  type Program,
  program,
  repeatTimes,
  scan,
  tanh,
} from './index.ts';

beforeAll(() => configure({ device: 'wasm' }));
afterAll(() => configure({}));

describe('control flow', () => {
  test('If runs one branch', async () => {
    const f = program({ x: f32('n') }, ({ x }) =>
      If(
        x.sum().greater(0),
        () => ({ y: x.sqrt(), sign: 1 }),
        () => ({ y: x.neg(), sign: -1 }),
      ),
    );
    expect(printModule(f.module)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32], results=["y","sign"]) {
        %0 = reduce_sum(%x, axes=[], keepdims=false);
        %1 = greater(%0, 0f);
        %2 = if (%1) {
          %3 = sqrt(%x);
          (%3, 1f)
        } else {
          %4 = neg(%x);
          (%4, -1f)
        };
        (%2.0, %2.1)
      }
      "
    `);
    const { y, sign } = f({ x: [4, 9] });
    expectTypeOf(y).toEqualTypeOf<NdArray>();
    expect(await y.toArray()).toEqual([2, 3]);
    expect(await sign.item()).toBe(1);
    expect(await f({ x: [-4, -9] }).sign.item()).toBe(-1);
  });

  test('loop carries a state while a condition holds, and uses what is around it', async () => {
    const f = program({ x: f32(), by: f32(), limit: f32() }, ({ x, by, limit }) =>
      loop(
        { x, steps: 0 },
        (state) => state.x.less(limit),
        (state) => ({ x: state.x.mul(by), steps: state.steps.add(1) }),
      ),
    );
    expect(printModule(f.module)).toMatchInlineSnapshot(`
      "private def @loop(%x: Tensor[(), float32], %steps: Tensor[(), float32], %limit: Tensor[(), float32], %by: Tensor[(), float32]) -> (Tensor[(), float32], Tensor[(), float32]) {
        %0 = less(%x, %limit);
        if (%0) {
          %1 = mul(%x, %by);
          %2 = add(%steps, 1f);
          @loop(%1, %2, %limit, %by)
        } else {
          (%x, %steps)
        }
      }

      def @main(%x: Tensor[(), float32], %by: Tensor[(), float32], %limit: Tensor[(), float32], results=["x","steps"]) {
        %0 = @loop(%x, 0f, %limit, %by);
        (%0.0, %0.1)
      }
      "
    `);
    const { x, steps } = f({ x: 1, by: 2, limit: 1000 });
    expect(await x.item()).toBe(1024);
    expect(await steps.item()).toBe(10);
  });

  test('repeatTimes counts on the host', async () => {
    const power = program({ x: f32(2, 2) }, ({ x }) =>
      repeatTimes(3, x, (y, i) => y.matmul(x).add(i.astype('float32'))),
    );
    expect(
      await power({
        x: [
          [1, 0],
          [0, 2],
        ],
      }).toArray(),
    ).toEqual(
      [
        [6, 4],
        [7, 21],
      ].map(() => expect.anything()),
    );
    const rows = program({ x: f32('n', 2) }, ({ x }) =>
      repeatTimes('n', 0, (count) => count.add(1)).add(x),
    );
    expect(
      await rows({
        x: [
          [0, 0],
          [0, 0],
          [0, 0],
        ],
      }).toArray(),
    ).toEqual([
      [3, 3],
      [3, 3],
      [3, 3],
    ]);
  });

  test('scan carries a state along an axis and collects', async () => {
    const rnn = program(
      { h: f32('b', 3), xs: f32('t', 'b', 2), w: f32(2, 3), u: f32(3, 3) },
      (p) => {
        const [last, hidden] = scan(p.h, p.xs, (h, x) => {
          const next = tanh(x.matmul(p.w).add(h.matmul(p.u)));
          return [next, { next, norm: next.square().sum(1) }];
        });
        return { last, ...hidden };
      },
    );
    const w = [
      [1, 0, 1],
      [0, 1, -1],
    ];
    const u = [
      [0.5, 0, 0],
      [0, 0.5, 0],
      [0, 0, 0.5],
    ];
    const xs = [[[1, 2]], [[3, -1]], [[0, 0.5]]];
    let h = [0, 0, 0];
    const expected = xs.map(([[a, b] = [0, 0]]) => {
      h = h.map((v, j) =>
        Math.tanh((a ?? 0) * (w[0]?.[j] ?? 0) + (b ?? 0) * (w[1]?.[j] ?? 0) + 0.5 * v),
      );
      return [...h];
    });
    const { last, next, norm } = rnn({ h: [[0, 0, 0]], xs, w, u });
    expect(next.shape).toEqual([3, 1, 3]);
    const found = [...(await next.data())].map(Number);
    for (const [i, value] of expected.flat().entries()) expect(found[i]).toBeCloseTo(value, 5);
    expect([...(await last.data())].map(Number)[2]).toBeCloseTo(expected[2]?.[2] ?? 0, 5);
    expect(norm.shape).toEqual([3, 1]);
  });

  test('scan in reverse, with integers', async () => {
    const f = program({ xs: i32('t') }, ({ xs }) =>
      scan(array(0, 'int32'), xs, (sum, x) => [sum.add(x), sum.add(x)], { reverse: true }),
    );
    const [total, sums] = f({ xs: array([1, 2, 3], 'int32') });
    expect(await total.item()).toBe(6);
    expect(await sums.toArray()).toEqual([6, 5, 3]);
  });

  test('a step that changes the type of the state is refused at its line', () => {
    const f = program({ x: f32('n') }, ({ x }) =>
      loop(
        x,
        (y) => y.sum().less(1),
        (y) => y.sum(),
      ),
    );
    expect(() => f.module).toThrow(
      /control-flow\.test\.ts:\d+:\d+: got Tensor\[\(\), float32\], expected Tensor\[\(n,\), float32\] for the next state of loop\. Sizes/,
    );
    expect(() =>
      loop(
        1,
        () => true,
        () => 2,
      ),
    ).toThrow(/got loop outside of a program, expected the body of program/);
  });
});

const List = data('List', (self) => ({ Cons: { head: f32(), tail: self }, Nil: {} }));

describe('data', () => {
  const sum = program({ list: List }, f32(), ({ list }, self) =>
    match(list, {
      Cons: ({ head, tail }) => head.add(self({ list: tail })),
      Nil: () => 0,
    }),
  );

  test('a recursive program takes a list apart', async () => {
    expect(printModule(sum.module)).toMatchInlineSnapshot(`
      "type List { Cons(Tensor[(), float32], List), Nil }

      def @main(%list: List, results=["result"]) -> Tensor[(), float32] {
        match (%list) {
          Cons(%head: Tensor[(), float32], %tail: List) => {
            %0 = @main(%tail);
            add(%head, %0)
          },
          Nil => 0f,
        }
      }
      "
    `);
    const list = List.Cons({ head: 1, tail: List.Cons({ head: 2, tail: List.Nil() }) });
    expect(await sum({ list }).item()).toBe(3);
  });

  test('a program makes data, which others take and the page reads', async () => {
    const Tree = data('Tree', (self) => ({
      Node: { sides: [self, self] },
      Leaf: { value: f32(2) },
    }));
    const make = program({ x: f32(2) }, ({ x }) => {
      const leaf = Tree.Leaf({ value: x });
      return Tree.Node({ sides: [leaf, Tree.Leaf({ value: x.mul(2) })] });
    });
    const mirror = program({ tree: Tree }, Tree, ({ tree }, self) =>
      match(tree, {
        Node: ({ sides: [left, right] }) =>
          Tree.Node({ sides: [self({ tree: right }), self({ tree: left })] }),
        _: () => tree,
      }),
    );
    const mirrored = await mirror({ tree: make({ x: [1, 2] }) }).read();
    expect(mirrored).toMatchObject({
      is: 'Node',
      sides: [{ is: 'Leaf', value: { shape: [2] } }, { is: 'Leaf' }],
    });
    const [first] = mirrored['sides'] as { value: { toNested(): unknown } }[];
    expect(first?.value.toNested()).toEqual([2, 4]);
  });

  test('programs call each other', async () => {
    const even: Program<{ n: ArraySpec }, NdArray> = program({ n: f32() }, f32(), ({ n }) =>
      If(
        n.less(1),
        () => 1,
        () => odd({ n: n.sub(1) }),
      ),
    );
    const odd: Program<{ n: ArraySpec }, NdArray> = program({ n: f32() }, f32(), ({ n }) =>
      If(
        n.less(1),
        () => 0,
        () => even({ n: n.sub(1) }),
      ),
    );
    expect(await even({ n: 7 }).item()).toBe(0);
    expect(await even({ n: 8 }).item()).toBe(1);
  });

  test('what does not fit is refused', () => {
    expect(() => data('list', () => ({}))).toThrow(
      'got the name "list", expected names that begin with a capital letter',
    );
    const f = program({ list: List }, ({ list }) => match(list, { Nil: () => 0 } as never));
    expect(() => f.module).toThrow(
      /got no case for Cons, expected one for each constructor of List\. A case _/,
    );
    const self = program({ x: f32() }, ({ x }): NdArray => self({ x }) as never);
    expect(() => self.module).toThrow(
      /got a call of main in its own body, expected a program that says what it gives/,
    );
  });
});
