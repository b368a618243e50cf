import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { printModule } from '../../compiler/index.ts';
import {
  array,
  configure,
  counters,
  customGradient,
  f32,
  grad,
  i32,
  If,
  jvp,
  loop,
  type NdArray,
  program,
  scan,
  stopGradient,
  valueAndGrad,
  vjp,
} from '../index.ts';

beforeAll(() => configure({ device: 'host' }));
afterAll(() => configure({}));

describe('grad', () => {
  test('of relu is 0 at 0, as elsewhere, and lets NaN through', async () => {
    const slope = grad(({ x }: { x: NdArray }) => x.relu().sum());
    const f = program({ x: f32(4) }, ({ x }) => slope({ x }).x);
    const found = await f({ x: [-1, 0, 2, Number.NaN] }).data();
    expect([...found]).toEqual([0, 0, 1, 1]);
  });

  test.each(['max', 'min'] as const)('of %s is shared by equal elements', async (name) => {
    const sign = name === 'max' ? 1 : -1;
    const slope = grad(({ x }: { x: NdArray }) => x[name](1).sum());
    const f = program({ x: f32(2, 4) }, ({ x }) => slope({ x }).x);
    const x = [
      [3, 1, 3, 2],
      [0, 5, 4, 1],
    ].map((row) => row.map((value) => sign * value));
    expect([...(await f({ x }).data())]).toEqual([0.5, 0, 0.5, 0, 0, 1, 0, 0]);
  });

  const loss = program({ w: f32(2), x: f32('n', 2), y: f32('n') }, ({ w, x, y }) =>
    x.matmul(w).sub(y).square().sum(),
  );
  const args = {
    w: [1, 2],
    x: [
      [1, 0],
      [2, 1],
    ],
    y: [0, 1],
  };

  test('of a program is a program, with respect to what is named', async () => {
    const one = grad(loss, { argnames: 'w' });
    expectTypeOf(one(args)).toEqualTypeOf<NdArray>();
    expect(printModule(one.module)).toMatchInlineSnapshot(`
      "private def @program(%w: Tensor[(2,), float32], %x: Tensor[(n, 2), float32], %y: Tensor[(n,), float32]) {
        %0 = matmul(%x, %w);
        %1 = sub(%0, %y);
        %2 = mul(%1, %1);
        reduce_sum(%2, axes=[], keepdims=false)
      }

      def @main(%w: Tensor[(2,), float32], %x: Tensor[(n, 2), float32], %y: Tensor[(n,), float32], results=["result"]) {
        %0 = fn (%w_1: Tensor[(2,), float32]) {
          @program(%w_1, %x, %y)
        };
        %1 = gradient(%0);
        %2 = %1(%w);
        %2.1.0
      }
      "
    `);
    expect(await one(args).toArray()).toEqual([14, 6]);
    const { w, x } = grad(loss, { argnames: ['w', 'x'] })(args);
    expect(await w.toArray()).toEqual([14, 6]);
    expect(await x.toArray()).toEqual([
      [2, 4],
      [6, 12],
    ]);
    const [value, all] = valueAndGrad(loss)(args);
    expect(await value.item()).toBe(10);
    expect(await all.y.toArray()).toEqual([-2, -6]);
  });

  test('of functions in a body: objects, lists, what is captured', async () => {
    const f = program({ p: { w: f32(), b: [f32(), f32()] }, n: i32() }, ({ p, n }) => {
      const scale = n.astype('float32');
      const [value, { w, b }] = valueAndGrad(({ w, b: [first, second] }: typeof p) =>
        w.mul(first).mul(scale).add(second.square()),
      )(p);
      return { value, w, b };
    });
    const { value, w, b } = f({ p: { w: 2, b: [3, 5] }, n: 7 });
    expect(await Promise.all([value, w, ...b].map((x) => x.item()))).toEqual([67, 21, 14, 10]);
  });

  test('of functions outside of programs, compiled once', async () => {
    const f = (x: NdArray, y: NdArray) => x.pow(3).mul(y).sum();
    const dx = grad(f);
    expect(await dx(array([1, 2]), array([1, 10])).toArray()).toEqual([3, 120]);
    const { compiled } = counters();
    expect(await dx([2, 1], [1, 1]).toArray()).toEqual([12, 3]);
    expect(counters().compiled).toBe(compiled);
    const [a, b] = grad(f, { argnums: [0, 1] })([1, 2], [1, 10]);
    expect(await b.toArray()).toEqual([1, 8]);
    expect(await a.toArray()).toEqual([3, 120]);
    let power = 2;
    const changing = grad((x: NdArray) => x.pow(power));
    expect(await changing(3).item()).toBe(6);
    power = 3;
    expect(await changing(3).item()).toBe(27);
  });

  test('composes: second derivatives, Hessian-vector products', async () => {
    const f = (x: NdArray) => x.pow(4);
    expect(await grad(grad(f))(2).item()).toBe(48);
    expect(await grad(grad(grad(f)))(2).item()).toBe(48);
    const g = (x: NdArray) =>
      x
        .pow(3)
        .sum()
        .add(x.slice(0).mul(x.slice(1)));
    const hvp = program({ x: f32(2), v: f32(2) }, ({ x, v }) => jvp(grad(g), [x], [v]));
    const [slope, product] = hvp({ x: [1, 2], v: [1, 10] });
    expect(await slope.toArray()).toEqual([5, 13]);
    expect(await product.toArray()).toEqual([16, 121]);
    expect(await jvp(grad(g), [[1, 2]], [[1, 10]])[1].toArray()).toEqual([16, 121]);
  });

  test('through control flow and calls of programs', async () => {
    const power = program(
      { x: f32(), y: f32() },
      ({ x, y }) =>
        loop(
          { y, k: 0 },
          ({ k }) => k.less(3),
          ({ y: z, k }) => ({ y: z.mul(x), k: k.add(1) }),
        ).y,
    );
    const f = program(f32(), (x) =>
      grad((z: NdArray) =>
        If(
          z.greater(0),
          () => power({ x: z, y: 2 }),
          () => z.mul(5),
        ),
      )(x),
    );
    expect(await f(2).item()).toBe(24);
    expect(await f(-2).item()).toBe(5);
    const rnn = program({ h: f32(), xs: f32('t'), w: f32() }, ({ h, xs, w }) =>
      grad((weight: NdArray) =>
        scan(h, xs, (s, x) => {
          const next = s.mul(weight).add(x);
          return [next, next];
        })[1].sum(),
      )(w),
    );
    // h0 = 1; h1 = w + 1, h2 = w^2 + w + 1; their sum has the derivative 2 w + 2
    expect(await rnn({ h: 1, xs: [1, 1], w: 3 }).item()).toBe(8);
  });

  test('hasAux, vjp, stopGradient, customGradient', async () => {
    const f = program({ w: f32(2), x: f32(2) }, ({ w, x }) => {
      const y = w.mul(x);
      return [y.sum(), { y, best: y.argmax() }];
    });
    const [[value, { y, best }], dw] = valueAndGrad(f, { argnames: 'w', hasAux: true })({
      w: [1, 2],
      x: [3, 4],
    });
    expect([await value.item(), await y.toArray(), await best.item(), await dw.toArray()]).toEqual([
      11,
      [3, 8],
      1,
      [3, 4],
    ]);
    const [product, [da, db]] = vjp(
      (a: NdArray, b: NdArray) => a.mul(b),
      [
        [1, 2],
        [3, 4],
      ],
      [1, 10],
    );
    expect([await product.toArray(), await da.toArray(), await db.toArray()]).toEqual([
      [3, 8],
      [3, 40],
      [1, 20],
    ]);
    expect(await grad((x: NdArray) => x.mul(stopGradient(x)))(3).item()).toBe(3);
    const clipped = customGradient(
      (x: NdArray) => x.mul(1),
      ({ cotangent }) => [cotangent.clip(-1, 1)],
    );
    expect(await grad((x: NdArray) => clipped(x).mul(100))(3).item()).toBe(1);
  });

  test('errors name what is wrong, and the line', () => {
    const of = (work: () => unknown) => expect(work);
    of(() => grad((x: NdArray) => x.mul(2))([1, 2])).toThrow(
      /grad\.test\.ts:\d+:\d+: got Tensor\[\(2,\), float32\] as the result of the function, expected a float of rank 0/,
    );
    of(() => grad((x: NdArray) => x.sum())(array([1, 2], 'int32'))).toThrow(
      /got Tensor\[\(2,\), int32\] as argument 0, which has no derivatives, expected floats\. Say by argnums/,
    );
    of(() => grad(loss, { argnames: 'v' as 'w' })(args)).toThrow(
      /got the gradient with respect to "v", expected w, x, y\./,
    );
    of(() => grad((x: NdArray) => x.sum(), { argnums: 1 })([1])).toThrow(
      /got the gradient with respect to argument 1, expected only argument 0/,
    );
    of(() => jvp((x: NdArray) => x.sum(), [[1, 2]], [[1, 2, 3]])).toThrow(
      /got Tensor\[\(3,\), float32\] as the tangent of 0, expected Tensor\[\(2,\), float32\]/,
    );
  });
});
