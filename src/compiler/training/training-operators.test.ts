import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import { DEVICES } from '../../device/testing/node-devices.ts';
import type { Device } from '../../device/device.ts';
import { compile } from '../compile.ts';
import { OPTIMIZER_SIGNATURES, type OptimizerName } from '../ir/operators/training-operators.ts';
import { parseModule } from '../ir/text/parse.ts';
import { loadProgram } from '../testing/load-program.ts';
import { REFERENCE_OPTIMIZERS, type ReferenceState } from './testing/reference-optimizers.ts';

const f32 = (shape: readonly number[], values: readonly number[]) =>
  HostTensor.from('float32', shape, values);
const step = (value: number) => HostTensor.from('int32', [], [value]);

type Settings = Readonly<Record<string, number | boolean>>;

const OPTIMIZERS: readonly (readonly [OptimizerName, Settings])[] = [
  ['sgd', {}],
  ['sgd', { decay: 0.1 }],
  ['momentum', {}],
  ['momentum', { momentum: 0.8, dampening: 0.3, decay: 0.1 }],
  ['momentum', { nesterov: true }],
  ['adagrad', {}],
  ['adam', {}],
  ['adam', { beta1: 0.8, beta2: 0.95, epsilon: 1e-6, decay: 0.1 }],
  ['adamw', { decay: 0.2 }],
  ['lion', { decay: 0.1 }],
];

/** A program of one call of an optimiser for `(n, 2)`. */
function optimizerProgram(name: OptimizerName, settings: Settings): string {
  const slots = OPTIMIZER_SIGNATURES[name].slots.map((slot) => `%${slot}`);
  const attributes = Object.entries(settings).map(([key, value]) => `, ${key}=${value}`);
  const tensors = ['%w', '%g', ...slots].map((v) => `${v}: Tensor[(n, 2), float32]`);
  return `def @main(${tensors.join(', ')}, %rate: Tensor[(), float32], %step: Tensor[(), int32]) {
    ${name}(${['%w', '%g', ...slots].join(', ')}, %rate, %step${attributes.join('')})
  }`;
}

// The host and one WebGPU, which have formulas of their own; wasm renders those of the host's.

describe.each(DEVICES)('operators of training on $title', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  test.each(OPTIMIZERS)('%s %o follows its paper for some steps', async (name, settings) => {
    const { run } = await loadProgram(optimizerProgram(name, settings), { device });
    const random = seededRandom(7);
    const count = OPTIMIZER_SIGNATURES[name].slots.length;
    let states = Array.from({ length: 6 }, (): ReferenceState => {
      return { w: random() * 2 - 1, slots: new Array<number>(count).fill(0) };
    });
    for (const number of [1, 2, 3, 4]) {
      const gradients = states.map(() => random() * 2 - 1);
      const slots = Array.from({ length: count }, (_, i) => states.map((s) => s.slots[i] ?? 0));
      const args = [states.map(({ w }) => w), gradients, ...slots].map((v) => f32([3, 2], v));
      const result = await run('main', ...args, f32([], [0.05]), step(number));
      const call = { rate: 0.05, step: number, settings };
      states = states.map((s, i) => REFERENCE_OPTIMIZERS[name](s, gradients[i] ?? 0, call));
      const got = [result].flat(4).map(Number);
      const wanted = [
        states.map(({ w }) => w),
        ...slots.map((_, i) => states.map((s) => s.slots[i] ?? 0)),
      ].flat();
      expect(got.length - wanted.length).toBe(1);
      for (const [i, value] of wanted.entries()) expect(got[i + 1]).toBeCloseTo(value, 5);
    }
  });

  test('bias corrections keep their digits in the first steps and lose none in late ones', async () => {
    const { run } = await loadProgram(optimizerProgram('adam', { epsilon: 0 }), { device });
    for (const number of [1, 2, 99, 101, 10_000]) {
      const call = { rate: 1, step: number, settings: { epsilon: 0 } };
      const before = { w: 0, slots: [0.02, 0.0003] };
      const { w } = REFERENCE_OPTIMIZERS.adam(before, 0.5, call);
      const [x, g, m, v] = [0, 0.5, 0.02, 0.0003].map((value) => f32([1, 2], [value, value]));
      if (!x || !g || !m || !v) throw new Error('internal');
      const result = await run('main', x, g, m, v, f32([], [1]), step(number));
      expect(Number([result].flat(4)[1]) / w).toBeCloseTo(1, 5);
    }
  });

  test('schedules of learning rates', async () => {
    const { run } = await loadProgram(
      `def @main(%s: Tensor[(), int32]) {
        (constant_rate(%s, rate=2, warmup=4), step_rate(%s, every=3, factor=0.5),
         exponential_rate(%s, every=10, factor=0.1), linear_rate(%s, warmup=2, steps=12, final=0.1),
         cosine_rate(%s, rate=3, warmup=2, steps=12, final=0.1), inverse_sqrt_rate(%s, warmup=4))
      }`,
      { device },
    );
    for (const s of [1, 2, 3, 4, 5, 7, 12, 40]) {
      const got = [await run('main', step(s))].flat(2).map(Number).slice(1);
      const progress = Math.min(Math.max((s - 2) / 10, 0), 1);
      const wanted = [
        2 * Math.min(1, s / 4),
        0.5 ** Math.floor((s - 1) / 3),
        0.1 ** ((s - 1) / 10),
        Math.min(1, s / 2) * (0.1 + 0.9 * (1 - progress)),
        3 * Math.min(1, s / 2) * (0.1 + (0.9 * (1 + Math.cos(Math.PI * progress))) / 2),
        Math.min(1, s / 4) * Math.sqrt(4 / Math.max(s, 4)),
      ];
      for (const [i, value] of wanted.entries()) expect(got[i]).toBeCloseTo(value, 5);
    }
  });

  test('losses, and their gradients', async () => {
    const { run } = await loadProgram(
      `def @loss(%x: Tensor[(n, 3), float32], %t: Tensor[(n,), int64], %p: Tensor[(n, 3), float32]) {
        (cross_entropy(%x, %t), cross_entropy(%x, %t, smoothing=0.1, ignore=1),
         cross_entropy(%x, %p), binary_cross_entropy(%x, %p), mean_squared_error(%x, %p),
         mean_absolute_error(%x, %p), huber(%x, %p, delta=0.5))
      }
      def @slope(%x: Tensor[(n, 3), float32], %t: Tensor[(n,), int64]) {
        gradient(fn (%x: Tensor[(n, 3), float32]) { cross_entropy(%x, %t, smoothing=0.1) })(%x).1.0
      }`,
      { device },
    );
    const random = seededRandom(3);
    const x = Array.from({ length: 4 }, () => Array.from({ length: 3 }, () => random() * 6 - 3));
    const p = x.map(() => {
      const row = [random(), random(), random()];
      const sum = row.reduce((a, b) => a + b);
      return row.map((value) => value / sum);
    });
    const targets = [2, 1, 0, 2];
    const given = [
      f32([4, 3], x.flat()),
      HostTensor.from('int64', [4], targets.map(BigInt)),
    ] as const;
    const got = [await run('loss', ...given, f32([4, 3], p.flat()))].flat(2).map(Number).slice(1);
    const mean = (values: readonly number[]) => values.reduce((a, b) => a + b) / values.length;
    const logs = x.map((row) => {
      const total = Math.log(row.reduce((sum, value) => sum + Math.exp(value), 0));
      return row.map((value) => value - total);
    });
    const pairs = x.flatMap((row, i) => row.map((v, j) => [v, p[i]?.[j] ?? 0] as const));
    const nll = logs.map((row, i) => -(row[targets[i] ?? 0] ?? 0));
    const smooth = nll.map((loss, i) => 0.9 * loss - 0.1 * mean(logs[i] ?? []));
    const wanted = [
      mean(nll),
      mean(smooth.filter((_, i) => targets[i] !== 1)),
      mean(logs.map((row, i) => -row.reduce((sum, v, j) => sum + v * (p[i]?.[j] ?? 0), 0))),
      mean(pairs.map(([v, y]) => Math.max(v, 0) - v * y + Math.log1p(Math.exp(-Math.abs(v))))),
      mean(pairs.map(([v, y]) => (v - y) ** 2)),
      mean(pairs.map(([v, y]) => Math.abs(v - y))),
      mean(
        pairs.map(([v, y]) => {
          const e = Math.abs(v - y);
          return e <= 0.5 ? e ** 2 / 2 : 0.5 * (e - 0.25);
        }),
      ),
    ];
    for (const [i, value] of wanted.entries()) expect(got[i]).toBeCloseTo(value, 5);
    const slope = [await run('slope', ...given)].flat(2).map(Number);
    const expected = logs.flatMap((row, i) =>
      row.map((v, j) => (Math.exp(v) - (j === targets[i] ? 0.9 : 0) - 0.1 / 3) / 4),
    );
    for (const [i, value] of expected.entries()) expect(slope[i]).toBeCloseTo(value, 5);
  });

  test('clipping by the global norm, and finding what is not finite', async () => {
    const { run } = await loadProgram(
      `def @main(%a: Tensor[(n,), float32], %b: Tensor[(2,), float32]) {
        (clip_by_global_norm(%a, %b, limit=2.5), all_finite(%a, %b), global_norm(%b))
      }`,
      { device },
    );
    const clipped = [await run('main', f32([1], [3]), f32([2], [0, 4]))].flat(4);
    expect(clipped).toEqual([0, 0, 1.5, 0, 2, 5, 1, 4]);
    const small = [await run('main', f32([1], [0.3]), f32([2], [0, 0.4]))].flat(4).map(Number);
    expect(small[2]).toBeCloseTo(0.3, 6);
    for (const value of [NaN, Infinity, -Infinity]) {
      const result = [await run('main', f32([2], [1, value]), f32([2], [0, 4]))].flat(4);
      expect(result.at(-2)).toBe(0);
    }
  });

  test('the factor of a loss in half precision grows and backs off', async () => {
    const { run } = await loadProgram(
      `def @main(%s: Tensor[(), float32], %g: Tensor[(), int32], %f: Tensor[(), bool]) {
        scale_loss(%s, %g, %f, interval=3)
      }`,
      { device },
    );
    const next = async (scale: number, good: number, finite: number) => {
      const f = HostTensor.from('bool', [], [finite]);
      return [await run('main', f32([], [scale]), step(good), f)].flat(2).slice(1);
    };
    expect(await next(8, 0, 1)).toEqual([8, 1]);
    expect(await next(8, 2, 1)).toEqual([16, 0]);
    expect(await next(8, 2, 0)).toEqual([4, 0]);
    expect(await next(1, 1, 0)).toEqual([1, 0]);
    expect(await next(2 ** 24, 2, 1)).toEqual([2 ** 24, 0]);
  });

  test('dropout keeps a share, by a key, and drops the same gradients', async () => {
    const { run } = await loadProgram(
      `def @f(%x: Tensor[(n, 500), float32], %k: Tensor[(), int32]) {
        dropout(%x, %k, ratio=0.25, stream=3)
      }
      def @main(%x: Tensor[(n, 500), float32], %k: Tensor[(), int32]) { @f(%x, %k) }
      def @slope(%x: Tensor[(n, 500), float32], %k: Tensor[(), int32]) {
        gradient(fn (%x: Tensor[(n, 500), float32]) { reduce_sum(@f(%x, %k)) })(%x).1.0
      }`,
      { device },
    );
    const ones = f32([2, 500], new Array<number>(1000).fill(1));
    const first = [await run('main', ones, step(1))].flat(2).map(Number);
    const kept = first.filter((value) => value > 0);
    expect(Math.abs(kept.length - 750)).toBeLessThan(50);
    for (const value of kept) expect(value).toBeCloseTo(4 / 3, 6);
    expect([await run('slope', ones, step(1))].flat(2).map(Number)).toEqual(first);
    const second = [await run('main', ones, step(2))].flat(2).map(Number);
    const same = second.filter((value, i) => value > 0 === (first[i] ?? 0) > 0).length;
    expect(Math.abs(same - 625)).toBeLessThan(60);
  });
});

test.each([
  ['sgd(%w, %w, %r, %r)', 'sgd: input step: got Tensor[(), float32], expected Tensor[(), int32]'],
  [
    'adam(%w, %w, %w, %s, %r, %s)',
    'adam: input 3: got Tensor[(), int32], expected a tensor of floats',
  ],
  [
    'sgd(%w, %r, %r, %s)',
    'sgd: input 1: got Tensor[(), float32], expected Tensor[(2, 3), float32]',
  ],
  [
    'cross_entropy(%w, %s)',
    'cross_entropy: input 1: got Tensor[(), int32], expected Tensor[(2,), int32]',
  ],
  ['cosine_rate(%s)', 'cosine_rate: attribute steps: got nothing, expected an integer'],
  ['adamw(%w, %w, %w, %w, %r, %s, beta=0.1)', 'adamw: got attribute beta, expected one of beta1'],
])('%s is refused', (text, message) => {
  const program = `def @main(%w: Tensor[(2, 3), float32], %r: Tensor[(), float32],
    %s: Tensor[(), int32]) { ${text} }`;
  expect(() => compile(parseModule(program))).toThrow(message);
});
