import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HostTensor } from '../core/host-tensor.ts';
import type { Attributes } from '../core/primitive-function.ts';
import { elementCount, rowMajorStrides, type Shape } from '../core/shape.ts';
import { firstDifference } from '../testing/all-close.ts';
import { seededRandom } from '../testing/random.ts';
import { caseResult } from './case-tensors.ts';
import { type ConvolutionPlan, convolveByTap, convolveByProduct } from './convolution.ts';
import { erf } from './erf.ts';
import { multiplyMatrices, packStrided } from './matrix-product.ts';
import { floatPower, integerPower } from './pow.ts';
import { opDefinition } from './registry.ts';
import type { WindowAxis } from './window.ts';

const SUMS = { rtol: 1e-6, atol: 1e-6 };
const RUNS = { seed: 7, numRuns: 60 };

function randomTensor(shape: Shape, seed: number): HostTensor {
  const random = seededRandom(seed);
  const values = Array.from({ length: elementCount(shape) }, () => random() * 4 - 2);
  return HostTensor.from('float32', shape, values);
}

function run(name: string, inputs: readonly HostTensor[], attributes: Attributes = {}): HostTensor {
  return caseResult(opDefinition(name), { title: name, inputs, attributes }, inputs);
}

const at = (tensor: HostTensor, index: number): number => Number(tensor.elements[index]);

/** The coordinates of every element of a shape, in row-major order. */
function allCoordinates(shape: Shape): number[][] {
  const strides = rowMajorStrides(shape);
  return Array.from({ length: elementCount(shape) }, (_, index) =>
    shape.map((dim, axis) => Math.floor(index / (strides[axis] ?? 1)) % dim),
  );
}

const size = (max: number) => fc.integer({ min: 1, max });

describe('matrix product', () => {
  test('the blocked product equals three loops, across block borders', () => {
    const sizes = fc.tuple(size(70), size(140), size(270));
    fc.assert(
      fc.property(sizes, fc.nat(), ([m, n, k], seed) => {
        const [a, b] = [randomTensor([m, k], seed), randomTensor([k, n], seed + 1)];
        const expected = HostTensor.zeros('float32', [m, n]);
        for (let i = 0; i < m; i++) {
          for (let j = 0; j < n; j++) {
            let sum = 0;
            for (let p = 0; p < k; p++) sum += at(a, i * k + p) * at(b, p * n + j);
            expected.elements[i * n + j] = sum;
          }
        }
        expect(firstDifference(run('matmul', [a, b]), expected, SUMS)).toBeUndefined();
      }),
      { ...RUNS, numRuns: 25 },
    );
  });

  test('gemm equals matmul of transposed operands, scaled and added', () => {
    const sizes = fc.tuple(size(9), size(9), size(9));
    fc.assert(
      fc.property(sizes, fc.boolean(), fc.boolean(), ([m, n, k], transA, transB) => {
        const [a, b] = [randomTensor([m, k], m), randomTensor([k, n], n)];
        const c = randomTensor([m, 1], k);
        const flip = (x: HostTensor) => run('transpose', [x], { perm: [1, 0] });
        const product = run('matmul', [a, b]);
        const expected = HostTensor.from(
          'float32',
          [m, n],
          Array.from({ length: m * n }, (_, i) => at(product, i) * 0.5 - at(c, Math.floor(i / n))),
        );
        const actual = run('gemm', [transA ? flip(a) : a, transB ? flip(b) : b, c], {
          alpha: 0.5,
          beta: -1,
          trans_a: transA,
          trans_b: transB,
        });
        expect(firstDifference(actual, expected, SUMS)).toBeUndefined();
      }),
      RUNS,
    );
  });

  test('each element is stored once', () => {
    const seen = new Map<string, number>();
    const elements = new Float32Array(130 * 3);
    const pack = packStrided({ elements, offset: 0, laneStride: 3, depthStride: 1 });
    const store = (row: number, column: number): void => {
      seen.set(`${row},${column}`, (seen.get(`${row},${column}`) ?? 0) + 1);
    };
    multiplyMatrices({ m: 67, n: 130, k: 3, packA: pack, packB: pack, store });
    expect(seen.size).toBe(67 * 130);
    expect(new Set(seen.values())).toEqual(new Set([1]));
  });
});

const axisArbitrary: fc.Arbitrary<WindowAxis> = fc
  .record({
    size: size(20),
    kernel: size(4),
    stride: size(3),
    dilation: size(3),
    padBefore: fc.integer({ min: 0, max: 3 }),
    padAfter: fc.integer({ min: 0, max: 3 }),
  })
  .map((axis) => {
    const extent = axis.dilation * (axis.kernel - 1) + 1;
    const room = axis.size + axis.padBefore + axis.padAfter - extent;
    return { ...axis, count: room < 0 ? 0 : Math.floor(room / axis.stride) + 1 };
  })
  .filter((axis) => axis.count > 0);

describe('convolution', () => {
  const sizes = fc.record({ batch: size(2), groups: size(3), groupIn: size(5), groupOut: size(6) });

  function planOf(
    {
      batch,
      groups,
      groupIn,
      groupOut,
    }: Record<'batch' | 'groups' | 'groupIn' | 'groupOut', number>,
    rows: WindowAxis,
    columns: WindowAxis,
  ): ConvolutionPlan {
    const [channels, outChannels] = [groups * groupIn, groups * groupOut];
    const floats = (shape: Shape) =>
      new Float32Array(randomTensor(shape, shape.length).bytes.buffer);
    return {
      x: floats([batch, channels, rows.size, columns.size]),
      w: floats([outChannels, groupIn, rows.kernel, columns.kernel, 1]),
      bias: floats([outChannels]),
      y: new Float32Array(batch * outChannels * rows.count * columns.count),
      batch,
      channels,
      outChannels,
      groups,
      rows,
      columns,
    };
  }

  test('as a product and tap by tap it equals the definition', () => {
    fc.assert(
      fc.property(sizes, axisArbitrary, axisArbitrary, (counts, rows, columns) => {
        const plan = planOf(counts, rows, columns);
        const expected = defineConvolution(plan);
        for (const algorithm of [convolveByTap, convolveByProduct]) {
          plan.y.fill(Number.NaN);
          for (let image = 0; image < plan.batch; image++) {
            for (let group = 0; group < plan.groups; group++) algorithm(plan, image, group);
          }
          const shape = [plan.y.length];
          const actual = new HostTensor('float32', shape, plan.y);
          expect(
            firstDifference(actual, HostTensor.from('float32', shape, expected), SUMS),
          ).toBeUndefined();
        }
      }),
      RUNS,
    );
  });

  test('blocks of pixels may begin and end within a row of the image', () => {
    const axis = (count: number, padBefore: number): WindowAxis => ({
      size: count,
      kernel: 3,
      stride: 1,
      dilation: 1,
      padBefore,
      padAfter: 1,
      count: count + padBefore - 1,
    });
    const plan = planOf(
      { batch: 1, groups: 1, groupIn: 40, groupOut: 5 },
      axis(19, 1),
      axis(23, 1),
    );
    convolveByProduct(plan, 0, 0);
    const actual = new HostTensor('float32', [plan.y.length], plan.y);
    const expected = HostTensor.from('float32', [plan.y.length], defineConvolution(plan));
    expect(firstDifference(actual, expected, SUMS)).toBeUndefined();
  });
});

/** The definition: for each output element a sum over channels and taps, zero outside. */
function defineConvolution(plan: ConvolutionPlan): number[] {
  const { rows, columns, groups, channels, outChannels } = plan;
  const [groupIn, groupOut] = [channels / groups, outChannels / groups];
  return allCoordinates([plan.batch, outChannels, rows.count, columns.count]).map((coords) => {
    const [n = 0, k = 0, i = 0, j = 0] = coords;
    let sum = plan.bias?.[k] ?? 0;
    for (const [c = 0, r = 0, s = 0] of allCoordinates([groupIn, rows.kernel, columns.kernel])) {
      const y = i * rows.stride + r * rows.dilation - rows.padBefore;
      const x = j * columns.stride + s * columns.dilation - columns.padBefore;
      if (y < 0 || y >= rows.size || x < 0 || x >= columns.size) continue;
      const channel = Math.floor(k / groupOut) * groupIn + c;
      const weight = plan.w[((k * groupIn + c) * rows.kernel + r) * columns.kernel + s] ?? 0;
      sum += weight * (plan.x[((n * channels + channel) * rows.size + y) * columns.size + x] ?? 0);
    }
    return sum;
  });
}

describe('pooling', () => {
  test('windows over an all-ones image give 1, or the part that is image when padding counts', () => {
    const x = HostTensor.splat('float32', [1, 1, 6, 7], 1);
    const attributes = { kernel: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1], ceil_mode: true };
    expect(Array.from(run('avg_pool2d', [x], attributes).data, Number)).toEqual(
      Array.from({ length: 16 }, () => 1),
    );
    const counted = run('avg_pool2d', [x], { ...attributes, count_include_pad: true });
    expect(counted.shape).toEqual([1, 1, 4, 4]);
    // The last row hangs over the padding by one, which never counts: 2 rows of padded image.
    const firstRow = Array.from(counted.data, Number).slice(0, 5);
    expect(firstRow.map((value) => value.toFixed(3))).toEqual([
      '0.444',
      '0.667',
      '0.667',
      '0.444',
      '0.667',
    ]);
    expect(at(counted, 12)).toBeCloseTo(2 / 6);
  });

  test('NaN stays NaN wherever it stands in the window', () => {
    for (let place = 0; place < 4; place++) {
      const x = randomTensor([1, 1, 2, 2], place);
      x.elements[place] = Number.NaN;
      expect(at(run('max_pool2d', [x], { kernel: [2, 2] }), 0)).toBeNaN();
      expect(at(run('reduce_max', [x]), 0)).toBeNaN();
      expect(at(run('reduce_mean', [x]), 0)).toBeNaN();
    }
  });
});

describe('data movement', () => {
  const shapes = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 4 });

  test('slice takes the indices that counting one by one takes', () => {
    const bound = fc.integer({ min: -8, max: 8 });
    const step = fc.integer({ min: -3, max: 3 }).filter((value) => value !== 0);
    const axes = fc.array(fc.tuple(fc.integer({ min: 0, max: 6 }), bound, bound, step), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(axes, (list) => {
        const shape = list.map(([dim]) => dim);
        const x = randomTensor(shape, 3);
        const taken = list.map(([dim, start, end, by]) => countedRange(dim, [start, end, by]));
        const result = run('slice', [x], {
          starts: list.map(([, start]) => start),
          ends: list.map(([, , end]) => end),
          steps: list.map(([, , , by]) => by),
        });
        expect(result.shape).toEqual(taken.map((indices) => indices.length));
        const strides = rowMajorStrides(shape);
        const expected = allCoordinates(result.shape).map((coords) =>
          at(
            x,
            coords.reduce(
              (sum, c, axis) => sum + (taken[axis]?.[c] ?? 0) * (strides[axis] ?? 0),
              0,
            ),
          ),
        );
        expect(Array.from(result.data, Number)).toEqual(expected);
      }),
      { ...RUNS, numRuns: 300 },
    );
  });

  test('transposing there and back changes nothing', () => {
    fc.assert(
      fc.property(shapes, fc.nat(), (shape, seed) => {
        const random = seededRandom(seed);
        const keys = shape.map(() => random());
        const perm = shape.map((_, axis) => axis).sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0));
        const back = perm.map((_, axis) => perm.indexOf(axis));
        const x = randomTensor(shape, seed);
        const there = run('transpose', [x], { perm });
        const result = run('transpose', [there], { perm: back });
        expect(firstDifference(result, x, SUMS)).toBeUndefined();
      }),
      RUNS,
    );
  });

  test('slicing a concatenation gives its parts, for every dtype', () => {
    for (const dtype of ['float16', 'int64', 'uint8', 'bool', 'float64'] as const) {
      const [a, b] = [
        HostTensor.from(dtype, [2, 1], [1, 0]),
        HostTensor.from(dtype, [2, 2], [1, 0, 0, 1]),
      ];
      const whole = run('concat', [a, b], { axis: 1 });
      expect(whole.shape).toEqual([2, 3]);
      const part = run('slice', [whole], { starts: [0, 1], ends: [2, 3] });
      expect(part.elements).toEqual(b.elements);
    }
  });

  test('padding and cropping back changes nothing, in every mode', () => {
    fc.assert(
      fc.property(
        size(5),
        size(5),
        fc.constantFrom('constant', 'reflect', 'edge'),
        (h, w, mode) => {
          const x = randomTensor([h, w], h * 10 + w);
          const pads = [h - 1, 0, 0, w - 1];
          const padded = run('pad', [x], { pads, mode });
          expect(padded.shape).toEqual([2 * h - 1, 2 * w - 1]);
          const back = run('pad', [padded], { pads: pads.map((count) => -count) });
          expect(firstDifference(back, x, SUMS)).toBeUndefined();
        },
      ),
      RUNS,
    );
    const row = HostTensor.from('float32', [3], [1, 2, 3]);
    const padded = (mode: string) =>
      Array.from(run('pad', [row], { pads: [2, 2], mode }).data, Number);
    expect(padded('reflect')).toEqual([3, 2, 1, 2, 3, 2, 1]);
    expect(padded('edge')).toEqual([1, 1, 1, 2, 3, 3, 3]);
    expect(padded('constant')).toEqual([0, 0, 1, 2, 3, 0, 0]);
  });

  test('an elementwise operator broadcasts as broadcast_to does', () => {
    const dims = fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.boolean(), fc.boolean()), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(dims, fc.integer({ min: 0, max: 2 }), (list, drop) => {
        const shape = list.map(([dim]) => dim);
        const a = randomTensor(
          list.map(([dim, one]) => (one ? 1 : dim)),
          1,
        );
        const b = randomTensor(list.map(([dim, , one]) => (one ? 1 : dim)).slice(drop), 2);
        const full = HostTensor.zeros('float32', shape);
        const wide = (x: HostTensor) => run('broadcast_to', [x], { shape });
        const expected = run('sub', [run('add', [wide(a), full]), wide(b)]);
        const actual = run('sub', [run('add', [a, full]), b]);
        expect(firstDifference(actual, expected, SUMS)).toBeUndefined();
      }),
      { ...RUNS, numRuns: 200 },
    );
  });
});

/** The indices from start up to end by step, of those that `dim` elements have. */
function countedRange(
  dim: number,
  [start, end, step]: readonly [number, number, number],
): number[] {
  const indices: number[] = [];
  const from = start < 0 ? start + dim : start;
  const to = end < 0 ? end + dim : end;
  for (let i = 0; i < dim; i++) {
    const index = step > 0 ? i : dim - 1 - i;
    const first = step > 0 ? Math.max(from, 0) : Math.max(Math.min(from, dim - 1), 0);
    const steps = (index - first) / step;
    const isBeforeEnd = step > 0 ? index < to : index > to;
    if (steps >= 0 && Number.isInteger(steps) && isBeforeEnd) indices.push(index);
  }
  return indices;
}

describe('scalar functions', () => {
  test('erf has the values of the tables', () => {
    // Abramowitz and Stegun, table 7.1.
    expect(erf(0)).toBe(0);
    expect(erf(0.5)).toBeCloseTo(0.5204998778, 10);
    expect(erf(1)).toBeCloseTo(0.8427007929, 10);
    expect(erf(-2)).toBeCloseTo(-0.995322265, 10);
    expect(erf(3.5)).toBeCloseTo(0.9999992569, 10);
    expect(erf(7)).toBe(1);
    expect(erf(Number.NaN)).toBeNaN();
  });

  test('pow follows IEEE for floats and wraps for integers', () => {
    expect(floatPower(1, Number.NaN)).toBe(1);
    expect(floatPower(-2, 3)).toBe(-8);
    expect(floatPower(-2, 0.5)).toBeNaN();
    expect(floatPower(0, -1)).toBe(Infinity);
    expect(integerPower(3, 40)).toBe(Number(BigInt.asIntN(32, 3n ** 40n)));
    expect(integerPower(-7, 13)).toBe(Number(BigInt.asIntN(32, (-7n) ** 13n)));
    expect([integerPower(-1, -3), integerPower(-1, -2), integerPower(5, -1)]).toEqual([-1, 1, 0]);
  });

  test('integer arithmetic wraps', () => {
    const ints = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    const exact = { add: (a: bigint, b: bigint) => a + b, sub: (a: bigint, b: bigint) => a - b };
    const wrapped = { ...exact, mul: (a: bigint, b: bigint) => a * b };
    fc.assert(
      fc.property(ints, ints, (a, b) => {
        for (const [name, combine] of Object.entries(wrapped)) {
          const result = combine(BigInt(a), BigInt(b));
          const tensors = (dtype: 'int32' | 'uint32') =>
            [a, b].map((value) => HostTensor.from(dtype, [], [value]));
          expect(at(run(name, tensors('int32')), 0)).toBe(Number(BigInt.asIntN(32, result)));
          expect(at(run(name, tensors('uint32')), 0)).toBe(Number(BigInt.asUintN(32, result)));
        }
      }),
      RUNS,
    );
  });

  test('NaN goes through comparisons of floats as numpy has it', () => {
    const nan = HostTensor.from('float32', [1], [Number.NaN]);
    const one = HostTensor.from('float32', [1], [1]);
    for (const [a, b] of [
      [nan, one],
      [one, nan],
    ] as const) {
      expect(at(run('maximum', [a, b]), 0)).toBeNaN();
      expect(at(run('minimum', [a, b]), 0)).toBeNaN();
      expect(['less', 'greater', 'equal'].map((name) => at(run(name, [a, b]), 0))).toEqual([
        0, 0, 0,
      ]);
    }
    expect(at(run('relu', [nan]), 0)).toBeNaN();
    expect(at(run('clip', [nan], { min: 0, max: 1 }), 0)).toBeNaN();
    expect(at(run('cast', [nan], { to: 'int32' }), 0)).toBe(0);
  });
});
