import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  array,
  configure,
  data,
  f32,
  grad,
  If,
  jvp,
  match,
  type NdArray,
  program,
  repeatTimes,
  scan,
  vmap,
} from '../../index.ts';

type Scalar = (x: NdArray) => NdArray;

const half = program({ x: f32() }, ({ x }) => x.sqrt().mul(x.greater(0).astype('float32')));
const Maybe = data('Maybe', () => ({ Some: { value: f32() }, None: {} }));
const positive = (then: Scalar, otherwise: Scalar = (x) => x.mul(0)): Scalar => {
  return (x) =>
    If(
      x.greater(0),
      () => then(x),
      () => otherwise(x),
    );
};

/** Functions of one number with places, and the first and second derivatives there. */
const CASES: readonly {
  readonly name: string;
  readonly f: Scalar;
  readonly xs: readonly number[];
  readonly first: readonly number[];
  /** Absent where to compile it takes long. */
  readonly second?: readonly number[];
}[] = [
  {
    name: 'sqrt',
    f: positive((x) => x.sqrt()),
    xs: [4, -1, 0],
    first: [0.25, 0, 0],
    second: [-1 / 32, 0, 0],
  },
  {
    name: 'log',
    f: positive((x) => x.log()),
    xs: [2, -1, 0],
    first: [0.5, 0, 0],
    second: [-0.25, 0, 0],
  },
  {
    name: '1 / x in the other branch',
    f: (x) =>
      If(
        x.equal(0),
        () => x.mul(3),
        () => array(1).div(x),
      ),
    xs: [2, 0, -1],
    first: [-0.25, 3, -1],
    second: [0.25, 0, -2],
  },
  {
    name: 'where no constant is safe',
    f: (x) =>
      If(
        x.greater(1),
        () => x.sub(1).log().add(x.sub(2).pow(0.5)),
        () => x.square(),
      ),
    xs: [3, 1, -2, 0],
    first: [1, 2, -4, 0],
    second: [-0.5, 2, 2, 2],
  },
  {
    name: 'an If in an If',
    f: positive((x) =>
      If(
        x.greater(1),
        () => x.sub(1).sqrt(),
        () => x.log().mul(x),
      ),
    ),
    xs: [2, 1, 0, -3],
    first: [0.5, 1, 0, 0],
    second: [-0.25, 1, 0, 0],
  },
  {
    name: 'one If after the other',
    f: (x) => {
      const y = positive(
        (u) => u.sqrt(),
        (u) => u,
      )(x);
      return positive(
        (u) => u.log(),
        () => y.add(x),
      )(y);
    },
    xs: [4, 0, -1],
    first: [0.125, 2, 2],
    second: [-1 / 32, 0, 0],
  },
  {
    name: 'a value that both branches and the rest read',
    f: (x) => {
      const y = x.add(1);
      return positive(
        () => y.sub(1).sqrt(),
        () => y.mul(2),
      )(x).add(y);
    },
    xs: [4, 0],
    first: [1.25, 3],
    second: [-1 / 32, 0],
  },
  {
    name: 'several results',
    f: (x) => {
      const { a, b } = If(
        x.greater(0),
        () => ({ a: x.sqrt(), b: x.log() }),
        () => ({ a: x, b: 1 }),
      );
      return a.add(b.mul(2));
    },
    xs: [1, 0],
    first: [2.5, 1],
    second: [-2.25, 0],
  },
  {
    name: 'a program in a branch',
    f: positive((x) => half({ x })),
    xs: [4, 0],
    first: [0.25, 0],
    second: [-1 / 32, 0],
  },
  {
    name: 'a loop in a branch',
    f: positive((x) => repeatTimes(2, x, (y) => y.log().add(3))),
    xs: [1, 0],
    first: [1 / 3, 0],
  },
  {
    name: 'in a loop',
    f: (x) =>
      repeatTimes(
        2,
        x,
        positive((y) => y.log()),
      ),
    xs: [Math.E, 1, -1],
    first: [1 / Math.E, 0, 0],
  },
  {
    name: 'a derivative in a branch',
    f: positive((x) => grad((u: NdArray) => u.sqrt())(x)),
    xs: [4, 0],
    first: [-1 / 32, 0],
    second: [3 / 256, 0],
  },
  {
    name: 'data in a branch',
    f: positive((x) =>
      match(Maybe.Some({ value: array(2) }), {
        Some: ({ value }) => x.log().mul(value),
        None: () => x,
      }),
    ),
    xs: [1, 0],
    first: [2, 0],
  },
];

/** Functions of a number with places and of one that is the same at all: the sum of the cotangents of the latter. */
const SHARED: readonly {
  readonly name: string;
  readonly f: (x: NdArray, w: NdArray) => NdArray;
  readonly w: number;
  readonly xs: readonly number[];
  readonly wanted: number;
}[] = [
  {
    name: 'a factor',
    f: (x, w) => positive((u) => u.log().mul(w))(x),
    w: 3,
    xs: [Math.E, 0, -1],
    wanted: 1,
  },
  {
    name: 'under a root',
    f: (x, w) => positive((u) => u.mul(w).sqrt())(x),
    w: 4,
    xs: [1, 0],
    wanted: 0.25,
  },
  { name: 'by itself', f: (x, w) => positive(() => w.log())(x), w: 0, xs: [0, -1], wanted: 0 },
  {
    name: 'in a derivative by itself',
    f: (_, w) => positive(() => grad((u: NdArray) => u.mul(w).sqrt())(w))(_),
    w: 0,
    xs: [0],
    wanted: 0,
  },
  {
    name: 'a divisor of none',
    f: (x, w) => positive((u) => u.div(w))(x),
    w: 0,
    xs: [-1, 0],
    wanted: 0,
  },
  {
    name: 'a matrix',
    f: (x, w) =>
      positive((u) => {
        const row = array([1, 2]).mul(u.log()).reshape(1, 2);
        return row
          .matmul(array([[1], [1]]).mul(w))
          .sum()
          .sqrt();
      })(x),
    w: 4,
    xs: [Math.exp(1 / 3), 0, -1],
    wanted: 0.25,
  },
  {
    name: 'in a program',
    f: (x, w) => positive((u) => weigh({ x: u, w }))(x),
    w: 3,
    xs: [Math.E, 0],
    wanted: 1,
  },
  {
    name: 'in a loop',
    f: (x, w) =>
      positive((u) => scan(u, array([1, 2]), (s, k) => [s.mul(w).mul(k).log(), s])[0])(x),
    w: 1,
    xs: [Math.E, 0],
    wanted: 2,
  },
];
const weigh = program({ x: f32(), w: f32() }, ({ x, w }) => x.log().mul(w));

const close = (numbers: readonly number[]) => numbers.map((number) => expect.closeTo(number, 5));

for (const device of ['host', 'wasm'] as const) {
  describe(`branches that places take, on ${device}`, () => {
    beforeAll(() => configure({ device }));
    afterAll(() => configure({}));

    test.each(CASES)('$name: derivatives as at each place', async ({ f, xs, first, ...more }) => {
      const second = device === 'host' ? more.second : undefined;
      const slope = grad(f);
      const bend = (x: NdArray) => jvp(slope, [x], [1])[1];
      const all = program({ xs: f32(xs.length) }, ({ xs: at }) => [
        vmap(slope)(at),
        grad((x: NdArray) => vmap(f)(x).sum())(at),
        vmap(vmap(slope))(at.reshape(1, xs.length)).reshape(xs.length),
        ...(second === undefined
          ? []
          : [vmap(bend)(at), grad((x: NdArray) => vmap(slope)(x).sum())(at)]),
      ]);
      const found = await Promise.all(all({ xs }).map((one) => one.toArray()));
      expect(found).toEqual([first, first, first, ...(second ? [second, second] : [])].map(close));
    });

    test.each(SHARED)('$name that is the same at all places', async ({ f, w, xs, wanted }) => {
      const sum = program({ xs: f32('n'), w: f32() }, ({ xs: at, w: of }) =>
        grad((own: NdArray) => vmap((x: NdArray) => f(x, own))(at).sum())(of),
      );
      expect(await sum({ xs, w }).item()).toBeCloseTo(wanted, 5);
    });
  });
}
