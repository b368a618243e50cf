import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedNodeGpu } from '../testing/node-gpu.ts';
import { configure, f32, grad, type NdArray, program, random, scan, vmap } from './index.ts';

const X = [
  [0.5, -1, 2],
  [1, 0.25, -3],
];

/** Ports of what jax-js shows: a classifier, an RNN by scan, keys; forward, backward and mapped. */
const loss = (w: NdArray, x: NdArray) => x.matmul(w).tanh().square().mean();
const CASES = {
  'bits of a key': () => random.bits(random.key(9), [3, 5]),
  'uniform numbers': () => random.uniform(random.key(9), [7], { min: -1, max: 3 }),
  'normal numbers': () => random.normal(random.key(9), [7]),
  'a gradient': () => grad(loss)([[1], [2], [0.5]], X),
  'the gradient of each example': () => vmap(grad(loss), { inAxes: [null, 0] })([0.1, 0.2, 0.5], X),
  'the gradient of a recurrence': () =>
    program({ h: f32(3), xs: f32('t', 3), w: f32(3, 3) }, ({ h, xs, w }) =>
      grad((weights: NdArray) => {
        const [last] = scan(h, xs, (state, x) => {
          const next = state.matmul(weights).add(x).tanh();
          return [next, next.sum()];
        });
        return last.square().sum();
      })(w),
    )({
      h: [1, 0, 1],
      xs: [...X, ...X],
      w: [
        [0.1, 0.2, 0],
        [0, 0.3, 0.1],
        [0.5, 0, -0.2],
      ],
    }),
};

afterAll(() => configure({}));

const numbersOf = async (make: () => NdArray) => Array.from(await make().data(), Number);

/** Results of the host, by case. */
const wanted = new Map<string, readonly number[]>();
beforeAll(async () => {
  configure({ device: 'host', worker: false });
  for (const [name, make] of Object.entries(CASES)) wanted.set(name, await numbersOf(make));
});

describe.each(['host', 'wasm', 'webgpu'] as const)('on %s', (device) => {
  beforeAll(async () => {
    const gpu = device === 'webgpu' ? { gpu: await sharedNodeGpu() } : {};
    configure({ device, worker: false, ...gpu });
  });

  test.each(Object.entries(CASES))('%s', async (name, make) => {
    const got = await numbersOf(make);
    const expected = wanted.get(name) ?? [];
    expect(got).toHaveLength(expected.length);
    const isExact = name.startsWith('bits') || name.startsWith('uniform');
    for (const [i, value] of expected.entries()) {
      if (isExact) expect(got[i]).toBe(value);
      else expect(got[i]).toBeCloseTo(value, 4);
    }
  });
});
