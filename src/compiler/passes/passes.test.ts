import { describe, expect, test } from 'vitest';
import type { DType } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { evaluateModule } from '../evaluation/evaluate-module.ts';
import { call, constant, func, moduleOf, scalar, tuple, variable } from '../ir/build.ts';
import type { Expr, Module } from '../ir/expr.ts';
import { printModule } from '../ir/text/print.ts';
import { inferModule } from '../inference/infer-module.ts';
import { TypeInference } from '../inference/type-inference.ts';
import { bindDims } from './dims/bind-dims.ts';
import { eliminateCommonSubexpressions } from './eliminate-common-subexpressions.ts';
import { foldAffineIntoWeights } from './fold-affine/fold-affine-into-weights.ts';
import { foldConstants } from './fold-constants.ts';
import { fuse } from './fuse/fuse.ts';
import { inferTypes } from './infer-types.ts';
import type { Pass } from './pass.ts';
import { simplify } from './simplify.ts';

const x = variable('x', 'float32', [1, 3, 4, 4]);
const main = (body: Expr): Module => moduleOf({ main: func([x], body) });

function run(body: Expr, ...passes: readonly Pass[]): string {
  const context = { types: new TypeInference() };
  return printModule(passes.reduce((module, pass) => pass.run(module, context), main(body)));
}

function splat(shape: readonly number[], value: number): Expr {
  return constant(HostTensor.splat('float32', shape, value));
}

function values(shape: readonly number[], ...elements: readonly number[]): Expr {
  return constant(HostTensor.from('float32', shape, elements));
}

const CONV = { strides: [1, 1], pads: [0, 0, 0, 0], dilations: [1, 1], groups: 1 };

describe('every pass leaves alone what it has no business with', () => {
  const pooled = call('softmax', [call('max_pool', [x], { kernel: [2, 2] })], { axis: 1 });
  const nothing = inferModule(main(pooled));

  test.each([
    bindDims({ n: 2 }),
    inferTypes,
    foldConstants,
    simplify,
    foldAffineIntoWeights,
    eliminateCommonSubexpressions,
  ])('$name', (pass) => {
    expect(pass.run(nothing, { types: new TypeInference() })).toBe(nothing);
  });

  test('fuse, once everything is in primitive functions', () => {
    const context = { types: new TypeInference() };
    const fused = fuse.run(nothing, context);
    expect(fuse.run(fused, context)).toBe(fused);
  });
});

describe('infer-types', () => {
  test('names the node of the source model', () => {
    const bad = call('add', [x, values([2], 1, 2)], {}, { source: 'sum' });
    expect(() => run(bad, inferTypes)).toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: node "sum": add: got (1, 3, 4, 4) and (2,), expected shapes that broadcast (dimension -1 is 4 and 2). Dimensions must be equal or 1, aligned from the right.]`,
    );
  });

  test('an operator that does not exist', () => {
    expect(() => run(call('frobnicate', [x]), inferTypes)).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: got operator frobnicate, expected an operator that Weft has.]`,
    );
  });
});

describe('fold-constants', () => {
  test('computes with the references', () => {
    const sum = call('add', [values([2], 1, 2), scalar(0.5)]);
    expect(
      run(call('add', [x, call('reshape', [sum], { shape: [2, 1, 1, 1] })]), foldConstants),
    ).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 3, 4, 4), float32]) {
        add(%x, meta[0])
      }

      meta[0]: Tensor[(2, 1, 1, 1), float32]
      "
    `);
  });

  test('keeps splats through elementwise operators and moves of data', () => {
    const big = [1024, 1024, 1024, 16];
    const product = call('mul', [splat(big, 3), scalar(2)]);
    const moved = call('transpose', [product], { perm: [3, 2, 1, 0] });
    const padded = call('pad', [moved], { pads: [0, 0, 0, 0, 1, 0, 0, 0], value: 6 });
    const joined = call('concat', [padded, splat([1, 1024, 1024, 1024], 6)], { axis: 0 });
    expect(run(joined, foldConstants)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 3, 4, 4), float32]) {
        meta[0]
      }

      meta[0]: Tensor[(18, 1024, 1024, 1024), float32] = 6f
      "
    `);
  });

  test('leaves large weights quantised, but for dtypes that kernels lack', () => {
    const floats = (dtype: DType, count: number): Expr => {
      const codes = Array.from({ length: count }, (_, i) => i % 3);
      const zero = constant(HostTensor.from(dtype, [], [1]));
      const weights = constant(HostTensor.from(dtype, [count], codes));
      return call('dequantize', [weights, scalar(0.5), zero]);
    };
    const isFolded = (weights: Expr) => !run(weights, foldConstants).includes('dequantize');
    expect(isFolded(floats('int8', 4096))).toBe(true);
    expect(isFolded(floats('int8', 4097))).toBe(false);
    expect(isFolded(floats('int4', 4097))).toBe(true);
  });

  test('a pad of another value is no splat', () => {
    const padded = call('pad', [splat([2], 6)], { pads: [0, 1], value: 1 });
    expect(run(padded, foldConstants)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 3, 4, 4), float32]) {
        [6f, 6f, 1f]
      }
      "
    `);
  });

  test('a tensor without inputs', () => {
    const full = call('full', [], { shape: [100, 100], value: 2, dtype: 'int32' });
    expect(run(full, foldConstants)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 3, 4, 4), float32]) {
        meta[0]
      }

      meta[0]: Tensor[(100, 100), int32] = 2
      "
    `);
  });

  test('leaves results that would only make the file larger', () => {
    const wide = call('broadcast_to', [values([2], 1, 2)], { shape: [2 ** 24, 2] });
    expect(run(wide, foldConstants)).toContain('broadcast_to([1f, 2f], shape=[16777216, 2])');
  });

  test('leaves large tables of two short lists to where they are read', () => {
    const range = (length: number): Expr =>
      values([length], ...Array.from({ length }, (_, i) => i));
    const table = (rows: number): string => {
      const column = call('reshape', [range(rows)], { shape: [rows, 1] });
      return run(call('add', [column, range(64)]), foldConstants);
    };
    expect(table(256)).not.toContain('add');
    expect(table(512)).toContain('add');
  });
});

describe('simplify', () => {
  const cast = (value: Expr, to: string) => call('cast', [value], { to });
  const rows: [string, Expr, string][] = [
    ['x + 0', call('add', [x, scalar(0)]), '%x'],
    ['0 + x', call('add', [scalar(0), x]), '%x'],
    ['x - 0', call('sub', [x, scalar(0)]), '%x'],
    ['0 - x', call('sub', [scalar(0), x]), 'sub(0f, %x)'],
    ['x * 1', call('mul', [x, splat([1, 3, 1, 1], 1)]), '%x'],
    ['x * 1 that broadcasts', call('mul', [x, splat([2, 3, 4, 4], 1)]), 'mul(%x, meta[0])'],
    ['x / 1', call('div', [x, scalar(1)]), '%x'],
    ['1 / x', call('div', [scalar(1), x]), 'div(1f, %x)'],
    ['x ** 2', call('pow', [x, scalar(2)]), 'mul(%x, %x)'],
    ['x ** 3', call('pow', [x, scalar(3)]), 'pow(%x, 3f)'],
    ['x ** 2 that broadcasts', call('pow', [x, splat([2, 3, 4, 4], 2)]), 'pow(%x, meta[0])'],
    ['-(-x)', call('neg', [call('neg', [x])]), '%x'],
    ['relu of relu', call('relu', [call('relu', [x])]), 'relu(%x)'],
    ['cast to the same', call('cast', [x], { to: 'float32' }), '%x'],
    ['casts there and back', call('cast', [cast(x, 'float64')], { to: 'float32' }), '%x'],
    ['cast of a widening cast', cast(cast(x, 'float64'), 'int32'), 'cast(%x, to="int32")'],
    ['casts that lose', cast(cast(x, 'int32'), 'float32'), '%0 = cast(%x, to="int32");'],
    ['pad by nothing', call('pad', [x], { pads: [0, 0, 0, 0, 0, 0, 0, 0] }), '%x'],
    ['concat of one', call('concat', [x], { axis: 1 }), '%x'],
    [
      'reshapes',
      call('reshape', [call('reshape', [x], { shape: [48] })], { shape: [3, 16] }),
      'reshape(%x, shape=[3, 16])',
    ],
    [
      'reshapes there and back',
      call('reshape', [call('reshape', [x], { shape: [48] })], { shape: [1, 3, 4, 4] }),
      '%x',
    ],
    [
      'transposes',
      call('transpose', [call('transpose', [x], { perm: [1, 2, 3, 0] })], { perm: [1, 0, 3, 2] }),
      'transpose(%x, perm=[2, 1, 0, 3])',
    ],
    [
      'transposes there and back',
      call('transpose', [call('transpose', [x], { perm: [1, 2, 3, 0] })], { perm: [3, 0, 1, 2] }),
      '%x',
    ],
    [
      'a slice of everything',
      call('slice', [x], { starts: [0, 0, 0, 0], ends: [1, 3, 4, 4], steps: [1, 1, 1, 1] }),
      '%x',
    ],
    [
      'a reversal',
      call('slice', [x], { starts: [0, 0, 0, -1], ends: [1, 3, 4, -9], steps: [1, 1, 1, -1] }),
      'slice(%x, starts=[0, 0, 0, -1], ends=[1, 3, 4, -9], steps=[1, 1, 1, -1])',
    ],
  ];

  test.each(rows)('%s', (_, body, expected) => {
    expect(run(body, simplify).split('\n')[1]).toBe(`  ${expected}`);
  });

  const dtypes = [
    ...(['float16', 'float32', 'float64', 'int8', 'int16', 'int32', 'int64'] as const),
    ...(['uint8', 'uint16', 'uint32', 'uint64'] as const),
  ];
  const edges = [-(2 ** 31), -40_000, -129, -128, -2.5, -1, 0, 1.75, 127, 128, 255, 300, 65_000];

  test.each(dtypes)('casts of %s by way of any dtype give the same once simplified', (from) => {
    const given = variable('given', 'float32', [edges.length]);
    const values = HostTensor.from('float32', [edges.length], edges);
    for (const between of dtypes) {
      for (const to of dtypes) {
        const body = cast(cast(cast(given, from), between), to);
        const module = moduleOf({ main: func([given], body) });
        const simplified = simplify.run(module, { types: new TypeInference() });
        expect(evaluateModule(simplified, 'main', [values]), `${between}, ${to}`).toEqual(
          evaluateModule(module, 'main', [values]),
        );
      }
    }
  });
});

describe('eliminate-common-subexpressions', () => {
  test('equal calls become one, whatever the order of attributes', () => {
    const pool = (attributes: Record<string, number[]>) => call('max_pool', [x], attributes);
    const body = call('add', [
      pool({ kernel: [2, 2], strides: [1, 1] }),
      call('mul', [pool({ strides: [1, 1], kernel: [2, 2] }), pool({ kernel: [2, 2] })]),
    ]);
    expect(run(body, eliminateCommonSubexpressions)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 3, 4, 4), float32]) {
        %0 = max_pool(%x, kernel=[2, 2], strides=[1, 1]);
        %1 = max_pool(%x, kernel=[2, 2]);
        %2 = mul(%0, %1);
        add(%0, %2)
      }
      "
    `);
  });

  test('-0 is not 0', () => {
    const body = tuple([call('add', [x, scalar(0)]), call('add', [x, scalar(-0)])]);
    expect(run(body, eliminateCommonSubexpressions)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 3, 4, 4), float32]) {
        %0 = add(%x, 0f);
        %1 = add(%x, -0f);
        (%0, %1)
      }
      "
    `);
  });
});

describe('fuse', () => {
  const conv = call('conv2d', [x, splat([3, 3, 1, 1], 1)], CONV);
  const bias = splat([3, 1, 1], 1);

  test('an anchor takes bias, residual and activation', () => {
    const body = call('relu', [call('add', [call('add', [conv, bias]), x])]);
    expect(run(body, fuse)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 3, 4, 4), float32]) {
        %0 = fn (%p0: Tensor[(1, 3, 4, 4), float32], %p1: Tensor[(3, 3, 1, 1), float32], %p2: Tensor[(3, 1, 1), float32], primitive="conv2d_add_add_relu") {
          %1 = conv2d(%p0, %p1, strides=[1, 1], pads=[0, 0, 0, 0], dilations=[1, 1], groups=1);
          %2 = add(%1, %p2);
          %3 = add(%2, %p0);
          relu(%3)
        };
        %0(%x, meta[0], meta[1])
      }

      meta[0]: Tensor[(3, 3, 1, 1), float32] = 1f
      meta[1]: Tensor[(3, 1, 1), float32] = 1f
      "
    `);
  });

  test('a value with two readers is computed once', () => {
    const body = call('mul', [conv, call('sigmoid', [conv])]);
    expect(run(body, fuse)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 3, 4, 4), float32]) {
        %0 = fn (%p0: Tensor[(1, 3, 4, 4), float32], %p1: Tensor[(3, 3, 1, 1), float32], primitive="conv2d_sigmoid_mul") {
          %1 = conv2d(%p0, %p1, strides=[1, 1], pads=[0, 0, 0, 0], dilations=[1, 1], groups=1);
          %2 = sigmoid(%1);
          mul(%1, %2)
        };
        %0(%x, meta[0])
      }

      meta[0]: Tensor[(3, 3, 1, 1), float32] = 1f
      "
    `);
  });

  test('two anchors stay apart, a reshape is no kernel', () => {
    const flat = call('reshape', [call('relu', [conv])], { shape: [1, 48] });
    const body = call('relu', [call('matmul', [flat, splat([48, 2], 1)])]);
    expect(run(body, fuse)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 3, 4, 4), float32]) {
        %0 = fn (%p0: Tensor[(1, 3, 4, 4), float32], %p1: Tensor[(3, 3, 1, 1), float32], primitive="conv2d_relu") {
          %1 = conv2d(%p0, %p1, strides=[1, 1], pads=[0, 0, 0, 0], dilations=[1, 1], groups=1);
          relu(%1)
        };
        %2 = %0(%x, meta[0]);
        %3 = reshape(%2, shape=[1, 48]);
        %4 = fn (%p0_1: Tensor[(1, 48), float32], %p1_1: Tensor[(48, 2), float32], primitive="matmul_relu") {
          %5 = matmul(%p0_1, %p1_1);
          relu(%5)
        };
        %4(%3, meta[1])
      }

      meta[0]: Tensor[(3, 3, 1, 1), float32] = 1f
      meta[1]: Tensor[(48, 2), float32] = 1f
      "
    `);
  });

  test('moves of data and elementwise calls share a kernel without an anchor', () => {
    const body = call('exp', [call('transpose', [call('neg', [x])], { perm: [0, 2, 3, 1] })]);
    expect(run(body, fuse)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 3, 4, 4), float32]) {
        %0 = fn (%p0: Tensor[(1, 3, 4, 4), float32], primitive="neg_transpose_exp") {
          %1 = neg(%p0);
          %2 = transpose(%1, perm=[0, 2, 3, 1]);
          exp(%2)
        };
        %0(%x)
      }
      "
    `);
  });

  test('a value that is broadcast is not computed again for each reader', () => {
    const row = call('exp', [call('slice', [x], { starts: [0, 0, 0, 0], ends: [1, 1, 1, 4] })]);
    expect(run(call('add', [x, row]), fuse)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 3, 4, 4), float32]) {
        %0 = fn (%p0: Tensor[(1, 3, 4, 4), float32], primitive="slice_exp") {
          %1 = slice(%p0, starts=[0, 0, 0, 0], ends=[1, 1, 1, 4]);
          exp(%1)
        };
        %2 = %0(%x);
        %3 = fn (%p0_1: Tensor[(1, 3, 4, 4), float32], %p1: Tensor[(1, 1, 1, 4), float32], primitive="add") {
          add(%p0_1, %p1)
        };
        %3(%x, %2)
      }
      "
    `);
  });

  test('no kernel touches more than eight tensors', () => {
    const inputs = Array.from({ length: 12 }, (_, i) => variable(`v${i}`, 'float32', [4]));
    const sum = inputs.reduce<Expr>(
      (left, right) => call('add', [left, right]),
      variable('w', 'float32', [4]),
    );
    const module = moduleOf({ main: func([...inputs], sum) });
    const fused = fuse.run(module, { types: new TypeInference() });
    const heads = printModule(fused)
      .split('\n')
      .filter((line) => line.includes('primitive='));
    expect(heads.map((line) => line.match(/%p\d/g)?.length)).toEqual([7, 7]);
  });
});
