import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { printModule } from '../../../compiler/index.ts';
import {
  array,
  configure,
  data,
  f32,
  grad,
  i32,
  If,
  jvp,
  loop,
  match,
  maxPoolIndices,
  type NdArray,
  type Program,
  program,
  random,
  repeatTimes,
  scan,
  vmap,
} from '../../index.ts';

beforeAll(() => configure({ device: 'host' }));
afterAll(() => configure({}));

const XS = [
  [1, 2, 3],
  [-4, 5, -6],
];

describe('vmap', () => {
  test('straight lines: what is mapped, what is not, and where the axes lie', async () => {
    const dot = (a: NdArray, b: NdArray) => a.mul(b).sum();
    expect(await vmap(dot)(XS, XS).toArray()).toEqual([14, 77]);
    expect(await vmap(dot, { inAxes: [0, null] })(XS, [1, 1, 1]).toArray()).toEqual([6, -5]);
    const table = vmap(vmap(dot, { inAxes: [null, 0] }), { inAxes: [0, null] });
    expect(await table(XS, XS).toArray()).toEqual([
      [14, -12],
      [-12, 77],
    ]);
    const columns = vmap((x: NdArray) => x.mul([1, 10]), { inAxes: 1, outAxes: -1 });
    expect(await columns(XS).toArray()).toEqual([
      [1, 2, 3],
      [-40, 50, -60],
    ]);
    const tree = vmap(
      ({ x, w }: { x: NdArray; w: NdArray }) => ({ y: x.matmul(w), same: w.sum() }),
      {
        inAxes: [{ x: 0, w: null }],
      },
    );
    const { y, same } = tree({ x: XS, w: [[1], [0], [1]] });
    expect([await y.toArray(), await same.toArray()]).toEqual([
      [[4], [-10]],
      [2, 2],
    ]);
  });

  test('of a program is a program, for any number of places', async () => {
    const norm = program({ x: f32('n') }, ({ x }) => x.square().sum().sqrt());
    const norms = vmap(norm);
    expectTypeOf(norms).toEqualTypeOf<Program<{ readonly x: ReturnType<typeof f32> }, NdArray>>();
    expect(await norms({ x: [[3, 4]] }).toArray()).toEqual([5]);
    expect(
      await norms({
        x: [
          [3, 4, 0],
          [0, 0, 2],
          [1, 0, 0],
        ],
      }).toArray(),
    ).toEqual([5, 2, 1]);
  });

  test('If chooses at each place; one that is the same for all runs one branch', async () => {
    const f = (x: NdArray) =>
      If(
        x.sum().greater(0),
        () => x.sqrt(),
        () => x.mul(0),
      );
    expect(
      await vmap(f)([
        [4, 9],
        [-1, -1],
      ]).toArray(),
    ).toEqual(
      [
        [2, 3],
        [0, 0],
      ].map((row) => row.map((v) => expect.closeTo(v, 5))),
    );
    const g = program({ xs: f32('n', 2), flag: f32() }, ({ xs, flag }) =>
      vmap((x: NdArray) =>
        If(
          flag.greater(0),
          () => x.sum(),
          () => 7,
        ),
      )(xs),
    );
    expect(
      await g({
        xs: [
          [1, 2],
          [3, 4],
        ],
        flag: 1,
      }).toArray(),
    ).toEqual([3, 7]);
    expect(
      await g({
        xs: [
          [1, 2],
          [3, 4],
        ],
        flag: 0,
      }).toArray(),
    ).toEqual([7, 7]);
  });

  test('loops of a fixed count, also where a later step maps what the first does not', async () => {
    const power = (x: NdArray) =>
      repeatTimes(3, { y: 1, z: 0 }, ({ y, z }) => ({ y: y.mul(x), z: y.add(z) }));
    const { y, z } = vmap(power)([2, 3]);
    expect([await y.toArray(), await z.toArray()]).toEqual([
      [8, 27],
      [7, 13],
    ]);
    const rnn = program({ h: f32(2), xs: f32('b', 't', 2), w: f32(2, 2) }, ({ h, xs, w }) =>
      vmap((x: NdArray) =>
        scan(h, x, (s, row) => {
          const next = s.matmul(w).add(row);
          return [next, next];
        }),
      )(xs),
    );
    const rows = [
      [
        [1, 0],
        [0, 1],
      ],
      [
        [2, 2],
        [1, 1],
      ],
      [
        [0, 0],
        [0, 5],
      ],
    ];
    const [last, all] = rnn({
      h: [1, 1],
      xs: rows,
      w: [
        [1, 1],
        [0, 1],
      ],
    });
    expect(await last.toArray()).toEqual([
      [2, 5],
      [4, 8],
      [1, 8],
    ]);
    expect(await all.toArray()).toEqual([
      [
        [2, 2],
        [2, 5],
      ],
      [
        [3, 4],
        [4, 8],
      ],
      [
        [1, 2],
        [1, 8],
      ],
    ]);
    const steps = (x: NdArray, n: NdArray) =>
      loop(
        { x, n },
        (s) => s.n.greater(0),
        (s) => ({ x: s.x.mul(2), n: s.n.sub(1) }),
      ).x;
    expect(await vmap(steps, { inAxes: [0, null] })([1, 5], 3).toArray()).toEqual([8, 40]);
  });

  test('derivatives of each place, and of all places', async () => {
    const loss = program({ w: f32(3), x: f32(3), y: f32() }, ({ w, x, y }) =>
      x.mul(w).sum().sub(y).square(),
    );
    const each = vmap(grad(loss, { argnames: 'w' }), { inAxes: [{ w: null, x: 0, y: 0 }] });
    const args = { w: [1, 0, 1], x: XS, y: [3, 0] };
    expect(await each(args).toArray()).toEqual([
      [2, 4, 6],
      [80, -100, 120],
    ]);
    const mean = program({ w: f32(3), x: f32('n', 3), y: f32('n') }, (given) =>
      grad((w: NdArray) =>
        vmap(loss, { inAxes: [{ w: null, x: 0, y: 0 }] })({ ...given, w }).mean(),
      )(given.w),
    );
    expect(await mean(args).toArray()).toEqual([41, -48, 63]);
    const hessian = (x: NdArray) =>
      vmap(
        (v: NdArray) =>
          jvp(
            grad((u: NdArray) => u.pow(3).sum()),
            [x],
            [v],
          )[1],
      )([
        [1, 0],
        [0, 1],
      ]);
    expect(
      await vmap(hessian)([
        [1, 2],
        [3, 4],
      ]).toArray(),
    ).toEqual([
      [
        [6, 0],
        [0, 12],
      ],
      [
        [18, 0],
        [0, 24],
      ],
    ]);
  });

  test('random numbers by a key for each place', async () => {
    const keys = random.split(random.key(5), 3);
    const rows = await vmap((key: NdArray) => random.normal(key, [2]))(keys).toArray();
    const alone = await Promise.all(
      [0, 1, 2].map((i) => random.normal(keys.slice(i), [2]).toArray()),
    );
    expect(rows).toEqual(alone);
  });

  test('operators without a rule go from place to place', async () => {
    const images = array(Array.from({ length: 48 }, (_, i) => Math.sin(i))).reshape(3, 1, 1, 4, 4);
    const indices = (x: NdArray) => maxPoolIndices(x, { kernel: [2, 2] });
    expect(
      printModule(program({ x: f32('n', 1, 1, 4, 4) }, ({ x }) => vmap(indices)(x)).module),
    ).toContain('scan');
    const alone = [0, 1, 2].map((i) => indices(images.slice(i)).toArray());
    expect(await vmap(indices)(images).toArray()).toEqual(await Promise.all(alone));
    const scaled = vmap((x: NdArray, w: NdArray) => x.matmul(w).add(1));
    expect(await scaled([[1, 2]], [[3, 4]]).toArray()).toEqual([12]);
  });

  test('what cannot be mapped is named, with its line', () => {
    const List = data('List', (self) => ({ Cons: { head: f32(), tail: self }, Nil: {} }));
    const count = program({ n: i32() }, i32(), ({ n }, self) =>
      If(
        n.less(1),
        () => 0,
        () => self({ n: n.sub(1) }).add(1),
      ),
    );
    const of = (f: (x: NdArray) => unknown) => expect(() => vmap(f)([1, 2]));
    of((x) =>
      loop(
        x,
        (y) => y.less(9),
        (y) => y.mul(2),
      ),
    ).toThrow(
      /vmap\.test\.ts:\d+:\d+: got loop, which goes on as its elements say, under vmap, expected straight lines, If of arrays, and loops of a fixed count/,
    );
    of((x) => count({ n: x.astype('int32') })).toThrow(
      /got the recursion of program, which goes on as its elements say, under vmap/,
    );
    of((x) =>
      match(List.Cons({ head: x, tail: List.Nil() }), { Cons: ({ head }) => head, Nil: () => 0 }),
    ).toThrow(/vmap\.test\.ts:\d+:\d+: got a call of a constructor, under vmap/);
    expect(() => vmap((x: NdArray, y: NdArray) => x.add(y))([1, 2], [1, 2, 3])).toThrow(
      /got 2 places in argument 0, 3 in 1, expected as many in each/,
    );
    expect(() => vmap((x: NdArray) => x)(3)).toThrow(
      /got Tensor\[\(\), float32\] as argument 0, expected an array with axis 0, to map over\. inAxes has null/,
    );
  });
});
