import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { array, configure, f32, grad, type NdArray, program, random, scan, u32 } from '../index.ts';

beforeAll(() => configure({ device: 'host' }));
afterAll(() => configure({}));

const numbers = async (x: NdArray): Promise<number[]> => [...(await x.data())].map(Number);

describe('random', () => {
  test("keys are the generator's known answers, and those of jax.random", async () => {
    // The known answer for a key and a counter of zeros.
    expect(await numbers(random.foldIn([0, 0], 0))).toEqual([0x6b200159, 0x99ba4efe]);
    expect(await numbers(random.split(random.key(0), 1))).toEqual([0x6b200159, 0x99ba4efe]);
    expect(await numbers(random.key(2 ** 32 + 5))).toEqual([1, 5]);
    expect(await numbers(random.key(-1))).toEqual([0xffffffff, 0xffffffff]);
    const [first = 0] = await numbers(random.normal(random.key(42)));
    expect(first).toBeCloseTo(-0.028304616, 6);
  });

  test('the same key gives the same, in programs and outside, whatever the sizes are called', async () => {
    const f = program({ k: u32(2), like: f32('n', 'm') }, ({ k, like }) =>
      random.bits(k, like.shape),
    );
    const k = random.key(7);
    const inside = f({ k, like: Array.from({ length: 5 }, () => [0, 0, 0]) });
    expect(inside.shape).toEqual([5, 3]);
    expect(await numbers(inside)).toEqual(await numbers(random.bits(k, [5, 3])));
    const row = await numbers(random.bits(k, [15]));
    expect(await numbers(inside)).toEqual(row);
    const [a, b] = [random.split(k).slice(0), random.split(k).slice(1)];
    expect(await numbers(random.bits(a, [4]))).not.toEqual(await numbers(random.bits(b, [4])));
  });

  test('distributions have their moments', async () => {
    const n = 2000;
    const mean = (values: readonly number[]) =>
      values.reduce((sum, x) => sum + x, 0) / values.length;
    const moments = async (x: NdArray) => {
      const values = await numbers(x);
      const m = mean(values);
      return [m, mean(values.map((value) => (value - m) ** 2)), values] as const;
    };
    const k = random.key(3);
    const [um, uv, us] = await moments(random.uniform(k, [n], { min: -2, max: 4 }));
    expect([um, uv]).toEqual([expect.closeTo(1, 0), expect.closeTo(3, 0)]);
    expect(us.every((u) => u >= -2 && u < 4)).toBe(true);
    const [nm, nv] = await moments(random.normal(k, [n]));
    expect(nm).toBeCloseTo(0, 1);
    expect(nv).toBeCloseTo(1, 1);
    const [em, ev] = await moments(random.exponential(k, [n]));
    expect([em, ev]).toEqual([expect.closeTo(1, 1), expect.closeTo(1, 0)]);
    const [gm] = await moments(random.gumbel(k, [n]));
    expect(gm).toBeCloseTo(0.5772, 1);
    const [bm] = await moments(random.bernoulli(k, [n], 0.25));
    expect(bm).toBeCloseTo(0.25, 1);
    const [im, , is] = await moments(random.integers(k, [n], { min: -3, max: 4 }));
    expect(im).toBeCloseTo(0, 0);
    expect([...new Set(is)].toSorted((a, b) => a - b)).toEqual([-3, -2, -1, 0, 1, 2, 3]);
    const draws = await numbers(random.categorical(k, array([0, Math.log(3)]).broadcastTo(n, 2)));
    expect(mean(draws)).toBeCloseTo(0.75, 1);
    const order = await numbers(random.permutation(k, 50));
    expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i));
    expect(order).not.toEqual(order.toSorted((a, b) => a - b));
  });

  test('keys are carried by loops, and samples have derivatives', async () => {
    // A random walk whose steps are drawn inside.
    const walk = program({ k: u32(2), steps: f32('t'), scale: f32() }, ({ k, steps, scale }) =>
      grad((s: NdArray) => {
        const [end] = scan({ k, x: 0 }, steps, ({ k: own, x }) => {
          const keys = random.split(own);
          const next = x.add(random.normal(keys.slice(1)).mul(s));
          return [{ k: keys.slice(0), x: next }, next];
        });
        return end.x;
      })(scale),
    );
    let own = random.key(1);
    let sum = 0;
    for (let i = 0; i < 3; i++) {
      const keys = random.split(own);
      sum += await random.normal(keys.slice(1)).item();
      own = keys.slice(0);
    }
    expect(await walk({ k: random.key(1), steps: [0, 0, 0], scale: 2 }).item()).toBeCloseTo(sum, 5);
  });

  test('what is no key is refused', () => {
    expect(() => random.normal([1, 2, 3])).toThrow(
      /random\.test\.ts:\d+:\d+: got Tensor\[\(3,\), uint32\], expected a key, Tensor\[\(2,\), uint32\]\. random\.key makes one/,
    );
    expect(() => random.key(0.5)).toThrow('got the seed 0.5, expected an integer');
  });
});
