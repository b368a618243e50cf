import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { encodeFloat16 } from '../../../core/tensor/float16-arrays.ts';
import type { DType } from '../../../core/tensor/dtype.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { Attributes } from '../../../core/contracts/primitive-function.ts';
import { elementCount, type Shape } from '../../../core/tensor/shape.ts';
import { numberElements } from '../../../ops/elements.ts';
import { seededRandom } from '../../../core/random.ts';
import { evaluateModule } from '../../evaluation/evaluate-module.ts';
import { inferModule } from '../../inference/infer-module.ts';
import { call, constant, func, moduleOf, tuple, variable } from '../../ir/build.ts';
import type { Expr, Module, VarExpr } from '../../ir/expr.ts';
import { postOrder } from '../../ir/walk/visit.ts';
import { printModule } from '../../ir/text/print.ts';
import { TypeInference } from '../../inference/type-inference.ts';
import { verifyModule } from '../../verify/verify-module.ts';
import { foldAffineIntoWeights } from './fold-affine-into-weights.ts';

const image = variable('x', 'float32', ['n', 4, 5, 5]);
const rows = variable('x', 'float32', ['n', 4]);

function folded(x: VarExpr, body: Expr): Module {
  const module = inferModule(moduleOf({ main: func([x], body) }));
  const result = foldAffineIntoWeights.run(module, { types: new TypeInference() });
  verifyModule(result);
  const again = foldAffineIntoWeights.run(result, { types: new TypeInference() });
  expect(again, 'nothing is left to do').toBe(result);
  return result;
}

/** The body and the constants of the program after the pass. */
const text = (x: VarExpr, body: Expr): string => printModule(folded(x, body));

function expectUntouched(x: VarExpr, body: Expr): void {
  const module = inferModule(moduleOf({ main: func([x], body) }));
  expect(foldAffineIntoWeights.run(module, { types: new TypeInference() })).toBe(module);
}

function splat(shape: Shape, value: number): Expr {
  return constant(HostTensor.splat('float32', shape, value));
}

function vector(...values: readonly number[]): Expr {
  return constant(HostTensor.from('float32', [values.length], values));
}

function channels(...values: readonly number[]): Expr {
  return constant(HostTensor.from('float32', [values.length, 1, 1], values));
}

const conv = (attributes: Attributes = {}): Expr =>
  call('conv2d', [image, splat([2, 4, 1, 1], 0.5), vector(10, 20)], attributes);

const matmul = (): Expr => call('matmul', [rows, splat([4, 2], 0.5)]);

describe('behind a product', () => {
  test('batch normalisation goes into the weights and bias of a convolution', () => {
    const statistics = [2, 1, 0.5, 3].map((value) => splat([2], value));
    const body = call('batch_norm', [conv(), ...statistics], { epsilon: 1 });
    expect(text(image, body)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4, 5, 5), float32]) -> Tensor[(n, 2, 5, 5), float32] {
        conv2d(%x, meta[0], [10.5f, 20.5f])
      }

      meta[0]: Tensor[(2, 4, 1, 1), float32] = 0.5f
      "
    `);
  });

  test('arithmetic with numbers is one change of weights', () => {
    const shifted = call('sub', [splat([], 1), call('div', [conv(), splat([], 4)])]);
    const body = call('mul', [shifted, channels(2, 2)]);
    expect(text(image, body)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4, 5, 5), float32]) -> Tensor[(n, 2, 5, 5), float32] {
        conv2d(%x, meta[0], [-3f, -8f])
      }

      meta[0]: Tensor[(2, 4, 1, 1), float32]
      "
    `);
  });

  test('a convolution without bias gets one, unless it is only scaled', () => {
    const plain = call('conv2d', [image, splat([2, 4, 1, 1], 0.5)]);
    expect(text(image, call('add', [plain, channels(1, 2)]))).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4, 5, 5), float32]) -> Tensor[(n, 2, 5, 5), float32] {
        conv2d(%x, meta[0], [1f, 2f])
      }

      meta[0]: Tensor[(2, 4, 1, 1), float32] = 0.5f
      "
    `);
    expect(text(image, call('mul', [plain, splat([], 2)]))).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4, 5, 5), float32]) -> Tensor[(n, 2, 5, 5), float32] {
        conv2d(%x, meta[0])
      }

      meta[0]: Tensor[(2, 4, 1, 1), float32] = 1f
      "
    `);
  });

  test('a matrix product keeps its sum behind it', () => {
    const sum = call('add', [matmul(), vector(1, 2)]);
    expect(text(rows, call('mul', [sum, splat([], 2)]))).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4), float32]) -> Tensor[(n, 2), float32] {
        %0 = matmul(%x, meta[0]);
        add(%0, [2f, 4f])
      }

      meta[0]: Tensor[(4, 2), float32] = 1f
      "
    `);
  });

  test('a gemm has its factors in the bias', () => {
    const weights = splat([2, 4], 0.5);
    const attributes = { alpha: 2, beta: 3, trans_b: true };
    const product = call('gemm', [rows, weights, vector(1, 2)], attributes);
    expect(text(rows, call('mul', [product, splat([], 2)]))).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4), float32]) -> Tensor[(n, 2), float32] {
        gemm(%x, meta[0], [6f, 12f], alpha=2, beta=1, trans_b=true)
      }

      meta[0]: Tensor[(2, 4), float32] = 1f
      "
    `);
  });

  test('across a reshape and a transpose', () => {
    const heads = call('reshape', [matmul()], { shape: ['n', 2, 1] });
    const moved = call('transpose', [heads], { perm: [1, 0, 2] });
    expect(text(rows, call('mul', [moved, splat([], 0.25)]))).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4), float32]) -> Tensor[(2, n, 1), float32] {
        %0 = matmul(%x, meta[0]);
        %1 = reshape(%0, shape=[n, 2, 1]);
        transpose(%1, perm=[1, 0, 2])
      }

      meta[0]: Tensor[(4, 2), float32] = 0.125f
      "
    `);
  });

  test('elsewhere batch normalisation is a multiplication and an addition', () => {
    const statistics = [2, 1, 0.5, 3].map((value) => splat([4], value));
    const body = call('batch_norm', [image, ...statistics], { epsilon: 1 });
    expect(text(image, body)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4, 5, 5), float32]) -> Tensor[(n, 4, 5, 5), float32] {
        %0 = mul(%x, meta[0]);
        add(%0, meta[1])
      }

      meta[0]: Tensor[(1, 4, 1, 1), float32] = 1f
      meta[1]: Tensor[(1, 4, 1, 1), float32] = 0.5f
      "
    `);
  });
});

describe('before a product', () => {
  test('batch normalisation that a convolution takes is not multiplied as well', () => {
    const statistics = [4, 2, 0.5, 3].map((value) => splat([4], value));
    const normed = call('batch_norm', [image, ...statistics], { epsilon: 1 });
    const body = call('conv2d', [normed, splat([2, 4, 1, 1], 0.5), vector(10, 20)]);
    expect(text(image, body)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4, 5, 5), float32]) -> Tensor[(n, 2, 5, 5), float32] {
        conv2d(%x, meta[0], [12f, 22f])
      }

      meta[0]: Tensor[(2, 4, 1, 1), float32] = 1f
      "
    `);
  });

  test('a scale of channels goes into the rows of a matrix', () => {
    const body = call('matmul', [call('mul', [rows, splat([4], 3)]), splat([4, 2], 0.5)]);
    expect(text(rows, body)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4), float32]) -> Tensor[(n, 2), float32] {
        matmul(%x, meta[0])
      }

      meta[0]: Tensor[(4, 2), float32] = 1.5f
      "
    `);
  });

  test('a shift goes into the bias where nothing is padded', () => {
    const shifted = call('add', [image, splat([], 1)]);
    const weights = splat([2, 4, 1, 1], 0.5);
    expect(text(image, call('conv2d', [shifted, weights]))).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4, 5, 5), float32]) -> Tensor[(n, 2, 5, 5), float32] {
        conv2d(%x, meta[0], [2f, 2f])
      }

      meta[0]: Tensor[(2, 4, 1, 1), float32] = 0.5f
      "
    `);
  });
});

describe('what looks alike and stays', () => {
  test('a shift before a padded convolution, and all before it', () => {
    const scaled = call('mul', [image, splat([], 2)]);
    const shifted = call('add', [scaled, splat([], 1)]);
    const weights = splat([2, 4, 1, 1], 0.5);
    expectUntouched(image, call('conv2d', [shifted, weights], { pads: [0, 0, 0, 1] }));
    const size = { size: [5, 5] };
    const transposed = splat([4, 2, 1, 1], 0.5);
    expectUntouched(image, call('conv_transpose', [shifted, transposed], size));
  });

  test.each<[string, Expr]>([
    ['a constant that varies along rows', call('mul', [conv(), vector(1, 2, 3, 4, 5)])],
    ['a constant that makes the result larger', call('mul', [conv(), splat([3, 1, 1, 1, 1], 2)])],
    ['a quotient of a constant', call('div', [splat([], 2), conv()])],
    ['a division by zero', call('div', [conv(), splat([], 0)])],
    [
      'weights that would overflow',
      call('mul', [call('mul', [conv(), splat([], 3e38)]), splat([], 10)]),
    ],
    ['weights that would lose digits', call('mul', [conv(), splat([], 1e-39)])],
    ['a value in between that is no constant', call('mul', [conv(), call('exp', [conv()])])],
    [
      'a call that the program puts on the host',
      { ...call('mul', [conv(), splat([], 2)]), onDevice: 'host' },
    ],
  ])('%s', (_, body) => expectUntouched(image, body));

  test('a product that another call reads', () => {
    const shared = conv();
    expectUntouched(image, tuple([call('mul', [shared, splat([], 2)]), shared]));
  });

  test('one addition behind a matrix product', () => {
    expectUntouched(rows, call('add', [matmul(), vector(1, 2)]));
  });

  test('numbers of 64 bits, which the weights would be rounded to', () => {
    const x = variable('x', 'float64', [2, 4]);
    const weights = constant(HostTensor.splat('float64', [4, 2], 0.5));
    const body = call('mul', [
      call('matmul', [x, weights]),
      constant(HostTensor.splat('float64', [], 2)),
    ]);
    expectUntouched(x, body);
  });

  test('integers', () => {
    const x = variable('x', 'int8', [2, 4]);
    const product = call('matmul_integer', [x, constant(HostTensor.splat('int8', [4, 2], 3))]);
    expectUntouched(x, call('mul', [product, constant(HostTensor.splat('int32', [], 2))]));
  });

  test('batch normalisation with computed statistics, and in float16 without a product', () => {
    const mean = call('reduce_mean', [image], { axes: [0, 2, 3], keepdims: false });
    const [scale, bias, variance] = [1, 0, 1].map((value) => splat([4], value));
    if (!scale || !bias || !variance) throw new Error('three constants');
    expectUntouched(image, call('batch_norm', [image, scale, bias, mean, variance]));
    const half = constant(HostTensor.splat('float16', [4], 0x3c00));
    const x = variable('x', 'float16', [1, 4, 2, 2]);
    expectUntouched(x, call('batch_norm', [x, half, half, half, half]));
  });
});

interface Form {
  readonly input: Shape;
  readonly weights: Shape;
  readonly channels: number;
  readonly op: string;
  readonly attributes?: Attributes;
  readonly bias?: Shape;
  readonly isLeft?: boolean;
  /** The axis of the channels, counted from the last one. */
  readonly place: number;
  readonly inputPlace?: number;
}

const FORMS: readonly Form[] = [
  {
    op: 'conv2d',
    input: [2, 4, 5, 6],
    weights: [6, 2, 3, 2],
    channels: 6,
    place: 2,
    attributes: { groups: 2, pads: [1, 0, 1, 0] },
    bias: [6],
  },
  {
    op: 'conv2d',
    input: [2, 4, 5, 6],
    weights: [4, 1, 3, 3],
    channels: 4,
    place: 2,
    attributes: { groups: 4 },
  },
  {
    op: 'conv3d',
    input: [1, 4, 3, 4, 3],
    weights: [3, 4, 2, 2, 1],
    channels: 3,
    place: 3,
    bias: [3],
  },
  {
    op: 'conv_transpose',
    input: [1, 4, 3, 3],
    weights: [4, 3, 2, 2],
    channels: 6,
    place: 2,
    attributes: { groups: 2, size: [6, 6], strides: [2, 2] },
    bias: [6],
  },
  { op: 'matmul', input: [2, 3, 4], weights: [4, 5], channels: 5, place: 0, inputPlace: 0 },
  { op: 'matmul', input: [2, 3, 4], weights: [2, 4, 5], channels: 5, place: 0, inputPlace: 0 },
  { op: 'matmul', input: [2, 3, 4], weights: [4], channels: 1, place: 0, inputPlace: 0 },
  { op: 'matmul', input: [4], weights: [4, 5], channels: 5, place: 0, inputPlace: 0 },
  {
    op: 'matmul',
    input: [2, 4, 3],
    weights: [5, 4],
    channels: 5,
    place: 1,
    inputPlace: 1,
    isLeft: true,
  },
  { op: 'matmul', input: [4], weights: [5, 4], channels: 5, place: 0, inputPlace: 0, isLeft: true },
  {
    op: 'gemm',
    input: [3, 4],
    weights: [4, 5],
    channels: 5,
    place: 0,
    inputPlace: 0,
    bias: [5],
    attributes: { alpha: 0.5, beta: 2 },
  },
  {
    op: 'gemm',
    input: [4, 3],
    weights: [5, 4],
    channels: 5,
    place: 0,
    inputPlace: 1,
    bias: [3, 1],
    attributes: { trans_a: true, trans_b: true },
  },
  {
    op: 'gemm',
    input: [3, 4],
    weights: [4, 5],
    channels: 5,
    place: 0,
    inputPlace: 0,
    bias: [3, 5],
    attributes: { beta: -1 },
  },
];

describe('the folded program computes what the program does', () => {
  const forms = FORMS.map(
    (form) => [`${form.op} of (${form.input.join()}) and (${form.weights.join()})`, form] as const,
  );
  for (const dtype of ['float32', 'float16'] as const) {
    test.each(forms)(`${dtype}: %s`, (_, form) => {
      let folds = 0;
      for (let seed = 0; seed < 40; seed++) {
        const { x, body, value } = grow(form, dtype, seed);
        const module = inferModule(moduleOf({ main: func([x], body) }));
        const after = folded(x, body);
        folds += after === module || operators(after) === operators(module) ? 0 : 1;
        expect(operators(after)).toBeLessThanOrEqual(operators(module));
        const expected = numbers(evaluateModule(module, 'main', [value]));
        const got = numbers(evaluateModule(after, 'main', [value]));
        const size = Math.max(1, ...expected.map(Math.abs));
        const tolerance = (dtype === 'float32' ? 4e-6 : 2e-2) * size;
        for (const [i, wanted] of expected.entries()) {
          expect(
            Math.abs((got[i] ?? Number.NaN) - wanted),
            `seed ${seed}, element ${i}`,
          ).toBeLessThan(tolerance);
        }
      }
      expect(folds).toBeGreaterThan(10);
    });
  }
});

function operators(module: Module): number {
  const [fn] = module.functions.values();
  return fn === undefined ? 0 : postOrder(fn.body).filter(({ kind }) => kind === 'call').length;
}

function numbers(value: unknown): number[] {
  if (!(value instanceof HostTensor)) throw new Error('no tensor');
  return Array.from(numberElements(value), Number);
}

/** A product among up to three scales and shifts on either side. */
function grow(form: Form, dtype: DType, seed: number) {
  const random = seededRandom(seed * 7919 + 1);
  const tensor = (shape: Shape): HostTensor => {
    const values = Array.from({ length: elementCount(shape) }, () => random() * 2 - 1 || 0.5);
    if (dtype !== 'float16') return HostTensor.from(dtype, shape, values);
    const bits = new Uint16Array(values.length);
    encodeFloat16(values, bits);
    return new HostTensor('float16', shape, bits);
  };
  const around = (expr: Expr, { count, place }: { count: number; place: number }): Expr => {
    let current = expr;
    for (let steps = Math.floor(random() * 4); steps > 0; steps--) {
      const shape = random() < 0.3 ? [] : [count, ...Array.from({ length: place }, () => 1)];
      const other = constant(tensor(shape));
      const op = ['mul', 'add', 'sub', 'mul'][Math.floor(random() * 4)] ?? 'mul';
      current = call(op, random() < 0.3 ? [other, current] : [current, other]);
    }
    return current;
  };
  const shape: readonly Dim[] = form.input;
  const x = variable('x', dtype, shape);
  const place = form.inputPlace ?? form.input.length - 2;
  const before = around(x, { count: 4, place });
  const weights = constant(tensor(form.weights));
  const operands = form.isLeft === true ? [weights, before] : [before, weights];
  if (form.bias !== undefined) operands.push(constant(tensor(form.bias)));
  const body = around(call(form.op, operands, form.attributes), {
    count: form.channels,
    place: form.place,
  });
  return { x, body, value: tensor(form.input) };
}
