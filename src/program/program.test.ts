import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { printModule } from '../compiler/index.ts';
import {
  array,
  concat,
  configure,
  counters,
  f32,
  type NdArray,
  program,
  relu,
  softmax,
} from './index.ts';

beforeAll(() => configure({ device: 'host' }));
afterAll(() => configure({}));

describe('a program', () => {
  test('is plain IR, with sizes by name', async () => {
    const f = program({ x: f32('n', 4), w: f32(4, 3) }, ({ x, w }) => softmax(x.matmul(w)));
    expect(printModule(f.module)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4), float32], %w: Tensor[(4, 3), float32], results=["result"]) {
        %0 = matmul(%x, %w);
        softmax(%0)
      }
      "
    `);
    const y = f({ x: [[1, 0, 0, 0]], w: Array.from({ length: 4 }, () => [1, 1, 1]) });
    expect(y.shape).toEqual([1, 3]);
    const [a = 0, b = 0] = await y.data();
    expect(a).toBeCloseTo(1 / 3);
    expect(b).toBeCloseTo(1 / 3);
  });

  test('takes and gives objects and arrays', async () => {
    const f = program(
      { layers: [{ w: f32(2, 2) }, { w: f32(2, 2) }], x: f32('n', 2) },
      ({ layers: [first, second], x }) => {
        const hidden = relu(x.matmul(first.w));
        return { hidden, out: [hidden.matmul(second.w), hidden.sum()] };
      },
    );
    const w = array([
      [1, 0],
      [0, -1],
    ]);
    const { hidden, out } = f({ layers: [{ w }, { w }], x: [[2, 3]] });
    expectTypeOf(hidden).toEqualTypeOf<NdArray>();
    expect(await hidden.toArray()).toEqual([[2, 0]]);
    expect(await out[0].toArray()).toEqual([[2, 0]]);
    expect(await out[1].item()).toBe(2);
  });

  test('is called by another one', async () => {
    const double = program(f32('n'), (x) => x.mul(2));
    const f = program({ x: f32(3) }, ({ x }) => double(double(x)).add(1));
    expect(printModule(f.module)).toMatchInlineSnapshot(`
      "private def @program(%x: Tensor[(n,), float32]) {
        mul(%x, 2f)
      }

      def @main(%x: Tensor[(3,), float32], results=["result"]) {
        %0 = @program(%x);
        %1 = @program(%0);
        add(%1, 1f)
      }
      "
    `);
    expect(await f({ x: [1, 2, 3] }).toArray()).toEqual([5, 9, 13]);
  });

  test('errors name the line in the body, and of a call', () => {
    const here = (): string =>
      /:(\d+):\d+\)?$/.exec(new Error().stack?.split('\n')[2] ?? '')?.[1] ?? '';
    let line = '';
    const f = program(
      { x: f32('n', 4), w: f32(3, 3) },
      ({ x, w }) => ((line = here()), x.matmul(w)),
    );
    const complaint =
      'matmul: got float32 (n, 4) and float32 (3, 3), expected rank 1 or more, and as many columns in a as rows in b.';
    expect(() => f.module).toThrow(complaint);
    expect(() => f.module).toThrow(new RegExp(`program\\.test\\.ts:${line}:\\d+: matmul`));
    const g = program({ x: f32('n', 2), y: f32('n') }, ({ x, y }) => x.sum(1).add(y));
    expect(() => ((line = here()), g({ x: [[1, 2]], y: [1, 2] }))).toThrow(
      'got Tensor[(2,), float32] for y, expected Tensor[(n,), float32] (n is 1).',
    );
    expect(() => g({ x: [[1, 2]] } as never)).toThrow(
      new RegExp(
        'program\\.test\\.ts:\\d+:\\d+: got an object with x, expected an object with x, y for arguments\\.$',
      ),
    );
    expect(() => array([1, 2]).add([1, 2, 3])).toThrow(/program\.test\.ts:\d+:\d+: add: got/);
  });

  test('results of one program are arguments of others, on the device', async () => {
    const f = program(f32('n'), (x) => x.add(1));
    const g = program(f32('n'), (x) => x.mul(10));
    expect(await g(f(g([1, 2]))).toArray()).toEqual([110, 210]);
  });

  test('results of one device are arguments on another', async () => {
    const options = { worker: false } as const;
    const onHost = program({ x: f32('n') }, ({ x }) => x.add(1), { ...options, device: 'host' });
    const onWasm = program({ x: f32('n') }, ({ x }) => x.mul(2), { ...options, device: 'wasm' });
    expect(await onHost({ x: onWasm({ x: onHost({ x: [1, 2] }) }) }).toArray()).toEqual([5, 7]);
  });
});

describe('eager arrays', () => {
  test('are computed when they are read, and compiled once', async () => {
    const a = array([
      [1, 2],
      [3, 4],
    ]);
    const run = () => a.matmul(a).add(1).relu().data();
    expect([...(await run())]).toEqual([8, 11, 16, 23]);
    const { compiled } = counters();
    expect([...(await run())]).toEqual([8, 11, 16, 23]);
    expect(counters().compiled).toBe(compiled);
  });

  test('a size may be a formula of a hundred levels', async () => {
    const long = program({ x: f32('n') }, ({ x }) => {
      let y: NdArray = x;
      for (let i = 0; i < 50; i++) y = concat([y, x], { axis: 0 }).slice([0, 2 ** 31 - 1, 3]);
      return y;
    });
    const x = Array.from({ length: 20 }, (_, i) => i);
    let wanted = x;
    for (let i = 0; i < 50; i++) wanted = [...wanted, ...x].filter((_, at) => at % 3 === 0);
    expect(await long({ x }).toArray()).toEqual(wanted);
  });

  test('slices, reductions and shapes', async () => {
    const x = array([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    expect(await x.slice(1).toArray()).toEqual([4, 5, 6]);
    expect(await x.slice(null, [1, 3]).toArray()).toEqual([
      [2, 3],
      [5, 6],
    ]);
    expect(await x.slice(null, -1).toArray()).toEqual([3, 6]);
    expect(await x.slice(null, array([2, 0], 'int32')).toArray()).toEqual([
      [3, 1],
      [6, 4],
    ]);
    expect(await x.sum(0).toArray()).toEqual([5, 7, 9]);
    expect(await x.mean().item()).toBe(3.5);
    expect(await x.reshape(3, -1).transpose().toArray()).toEqual([
      [1, 3, 5],
      [2, 4, 6],
    ]);
    expect(await x.max(1, { keepDims: true }).toArray()).toEqual([[3], [6]]);
  });
});
