import { describe, expect, test } from 'vitest';
import { textAfter } from '../../testing/text-after.ts';

/** The program with its calls in primitive functions. */
const fused = (text: string): string => textAfter(['fuse'], text);

/** The operators of each kernel, in order. */
const kernels = (text: string): string[] =>
  Array.from(fused(text).matchAll(/primitive="([^"]*)"/g), ([, name = '']) => name);

describe('64-bit integers', () => {
  test('divisions, which compile slowly, are eight in a kernel at most', () => {
    const chain = (dtype: string) => {
      const lets = Array.from({ length: 20 }, (_, i) => `%y${i + 1} = div(%y${i}, %w);`).join('\n');
      return kernels(`def @main(%y0: Tensor[(n,), ${dtype}], %w: Tensor[(n,), ${dtype}]) {
        ${lets}
        %y20
      }`).map((name) => name.split('_').length);
    };
    expect(chain('int64')).toEqual([8, 8, 4]);
    expect(chain('int32')).toEqual([20]);
  });

  test('a sign costs little', () => {
    const text = `def @main(%x: Tensor[(n, 8), int64]) { reduce_sum(relu(%x), axes=[1]) }`;
    expect(kernels(text)).toEqual(['relu_reduce_sum']);
  });
});

describe('float64', () => {
  test('fuses on the host as float32 does', () => {
    const sum = (name: string) =>
      kernels(`def @main(%x: Tensor[(n, 8), float64]) { reduce_sum(${name}(%x), axes=[1]) }`);
    expect(sum('relu')).toEqual(['relu_reduce_sum']);
    expect(sum('clip')).toEqual(['clip_reduce_sum']);
    expect(sum('erf')).toEqual(['erf', 'reduce_sum']);
  });
});

describe('behind an anchor', () => {
  test('GELU that is spelled out stays in the kernel of the product', () => {
    const text = `def @main(%x: Tensor[(n, 8), float32], %w: Tensor[(8, 6), float32], %b: Tensor[(6,), float32]) {
      %y = add(matmul(%x, %w), %b);
      mul(mul(%y, 0.5f), add(erf(mul(%y, 0.70710677f)), 1f))
    }`;
    expect(fused(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 8), float32], %w: Tensor[(8, 6), float32], %b: Tensor[(6,), float32]) -> Tensor[(n, 6), float32] {
        %0 = fn (%p0: Tensor[(n, 8), float32], %p1: Tensor[(8, 6), float32], %p2: Tensor[(6,), float32], %p3: Tensor[(), float32], %p4: Tensor[(), float32], %p5: Tensor[(), float32], primitive="matmul_add_mul_mul_erf_add_mul") {
          %1 = matmul(%p0, %p1);
          %2 = add(%1, %p2);
          %3 = mul(%2, %p3);
          %4 = mul(%2, %p4);
          %5 = erf(%4);
          %6 = add(%5, %p5);
          mul(%3, %6)
        };
        %0(%x, %w, %b, 0.5f, 0.70710677f, 1f)
      }
      "
    `);
  });

  test('views between two calls are inside, the last one is not', () => {
    const text = `def @main(%x: Tensor[(6, 4), float32], %w: Tensor[(4, 8), float32], %r: Tensor[(2, 3, 8), float32]) {
      reshape(relu(add(reshape(matmul(%x, %w), shape=[2, 3, 8]), %r)), shape=[6, 8])
    }`;
    expect(fused(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(6, 4), float32], %w: Tensor[(4, 8), float32], %r: Tensor[(2, 3, 8), float32]) -> Tensor[(6, 8), float32] {
        %0 = fn (%p0: Tensor[(6, 4), float32], %p1: Tensor[(4, 8), float32], %p2: Tensor[(2, 3, 8), float32], primitive="matmul_reshape_add_relu") {
          %1 = matmul(%p0, %p1);
          %2 = reshape(%1, shape=[2, 3, 8]);
          %3 = add(%2, %p2);
          relu(%3)
        };
        %4 = %0(%x, %w, %r);
        reshape(%4, shape=[6, 8])
      }
      "
    `);
  });

  test('what is broadcast further is not', () => {
    expect(
      kernels(`def @main(%x: Tensor[(n, 8), float32], %y: Tensor[(n, 8), float32]) {
        sub(%y, neg(reduce_sum(%x, axes=[1], keepdims=true)))
      }`),
    ).toMatchInlineSnapshot(`
      [
        "reduce_sum_neg",
        "sub",
      ]
    `);
  });

  test('a value that a second anchor reads too ends the kernel', () => {
    expect(
      kernels(`def @main(%x: Tensor[(8, 8), float32]) {
        %y = matmul(%x, %x);
        %z = relu(%y);
        add(sigmoid(%z), matmul(%z, %x))
      }`),
    ).toMatchInlineSnapshot(`
      [
        "matmul_relu",
        "sigmoid_matmul_add",
      ]
    `);
  });

  test('a value that leaves the scope ends the kernel', () => {
    expect(
      kernels(`def @main(%x: Tensor[(8, 8), float32]) {
        %y = matmul(%x, %x);
        (%y, neg(relu(%y)))
      }`),
    ).toMatchInlineSnapshot(`
      [
        "matmul",
        "relu_neg",
      ]
    `);
  });
});

describe('in front of an anchor', () => {
  test('reductions compute what they read', () => {
    const text = `def @main(%x: Tensor[(n, 8), float32], %b: Tensor[(8,), float32]) {
      %y = exp(sub(%x, %b));
      reduce_sum(mul(%y, %y), axes=[1])
    }`;
    expect(fused(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 8), float32], %b: Tensor[(8,), float32]) -> Tensor[(n,), float32] {
        %0 = fn (%p0: Tensor[(n, 8), float32], %p1: Tensor[(8,), float32], primitive="sub_exp_mul_reduce_sum") {
          %1 = sub(%p0, %p1);
          %2 = exp(%1);
          %3 = mul(%2, %2);
          reduce_sum(%3, axes=[1])
        };
        %0(%x, %b)
      }
      "
    `);
  });

  test('a reduction finds by indices what it reads once, an anchor does not', () => {
    const call = (op: string) =>
      `def @main(%x: Tensor[(9, 8), float32]) { ${op.replace('Y', 'transpose(%x, perm=[1, 0])')} }`;
    expect(kernels(call('reduce_max(Y, axes=[1])'))).toEqual(['transpose_reduce_max']);
    expect(kernels(call('matmul(Y, %x)'))).toEqual(['transpose', 'matmul']);
  });

  test('an operator with a loop of its own stays out of the loops of a reduction', () => {
    expect(
      kernels(`def @main(%x: Tensor[(9, 8), float32]) {
        reduce_sum(mod(%x, clip(%x, min=-1, max=1)), axes=[1])
      }`),
    ).toEqual(['clip_mod', 'reduce_sum']);
  });

  const product = (rows: number, b: string) =>
    kernels(`def @main(%x: Tensor[(${rows}, 512), float32], %w: Tensor[(512, 512), uint8],
        %scale: Tensor[(), float32], %zero: Tensor[(), uint8],
        %scales: Tensor[(512,), float32], %zeros: Tensor[(512,), uint8], %v: Tensor[(512, 512), float32]) {
      matmul(%x, ${b})
    }`);

  test('weights are unpacked where few rows read them, else once', () => {
    const weights = 'dequantize(%w, %scale, %zero)';
    expect(product(1, weights)).toEqual(['dequantize_matmul']);
    expect(product(64, weights)).toEqual(['dequantize_matmul']);
    expect(product(256, weights)).toEqual(['dequantize', 'matmul']);
    const byColumn = 'dequantize(%w, %scales, %zeros)';
    expect(product(1, byColumn)).toEqual(['dequantize_matmul']);
    expect(product(64, byColumn)).toEqual(['dequantize', 'matmul']);
  });

  test('a convolution scales what few of its channels read', () => {
    const convolution = (channels: number, groups: number) =>
      kernels(`def @main(%x: Tensor[(1, 64, 56, 56), float32], %s: Tensor[(), float32],
          %w: Tensor[(${channels}, ${64 / groups}, 3, 3), float32]) {
        conv2d(mul(%x, %s), %w, pads=[1, 1, 1, 1], groups=${groups})
      }`);
    expect(convolution(64, 64)).toEqual(['mul_conv2d']);
    expect(convolution(64, 1)).toEqual(['mul', 'conv2d']);
  });

  test('functions are computed once for what is read often', () => {
    expect(product(64, 'exp(%v)')).toEqual(['exp', 'matmul']);
    expect(product(64, 'tanh(%v)')).toEqual(['tanh', 'matmul']);
    expect(product(64, 'neg(%v)')).toEqual(['neg_matmul']);
    expect(product(1, 'exp(%v)')).toEqual(['exp_matmul']);
  });

  test('a value that something else reads is in memory anyway', () => {
    expect(
      kernels(`def @main(%x: Tensor[(n, 8), float32]) {
        %y = neg(%x);
        (%y, reduce_sum(%y, axes=[1]))
      }`),
    ).toEqual(['neg', 'reduce_sum']);
  });
});

describe('without an anchor', () => {
  test('both sides of a diamond', () => {
    expect(
      kernels(`def @main(%x: Tensor[(n, 8), float32]) {
        %y = exp(%x);
        mul(add(%y, sigmoid(%y)), reshape(reshape(tanh(%y), shape=[n * 8]), shape=[n, 8]))
      }`),
    ).toMatchInlineSnapshot(`
      [
        "exp_sigmoid_add_tanh_reshape_reshape_mul",
      ]
    `);
  });

  test('what a move of data reads twice is computed once', () => {
    expect(
      kernels(`def @main(%x: Tensor[(n, 8), float32]) {
        %y = exp(%x);
        concat(neg(%y), %y, axis=0)
      }`),
    ).toMatchInlineSnapshot(`
      [
        "exp",
        "neg_concat",
      ]
    `);
  });

  test('a diamond of two lengths stays apart where sizes may differ', () => {
    expect(
      kernels(`def @main(%x: Tensor[(n, 1), float32], %z: Tensor[(n, m), float32]) {
        %y = exp(%x);
        mul(sub(%z, %y), sigmoid(%y))
      }`),
    ).toMatchInlineSnapshot(`
      [
        "exp",
        "sigmoid",
        "sub_mul",
      ]
    `);
  });
});

test('eight tensors fit a kernel, nine do not', () => {
  const sum = (count: number) => {
    const names = Array.from({ length: count }, (_, i) => `%v${i}`);
    const [first = '', ...others] = names;
    const body = others.reduce((left, right) => `add(${left}, ${right})`, `neg(${first})`);
    const params = names.map((name) => `${name}: Tensor[(4,), float32]`).join(', ');
    return kernels(`def @main(${params}) { relu(${body}) }`);
  };
  expect(sum(7)).toHaveLength(1);
  expect(sum(8)).toHaveLength(2);
});

test('a diamond comes whole or not at all', () => {
  const wide = (count: number) => {
    const names = Array.from({ length: count }, (_, i) => `%v${i}`);
    const body = names.reduce((left, name) => `add(${left}, mul(%y, ${name}))`, '%y');
    const params = names.map((name) => `${name}: Tensor[(4, 4), float32]`).join(', ');
    return kernels(`def @main(%x: Tensor[(4, 4), float32], ${params}) {
      %y = matmul(%x, %x);
      ${body}
    }`);
  };
  expect(wide(6).map((name) => name.split('_')[0])).toEqual(['matmul']);
  expect(wide(7)[0]).toBe('matmul');
});

test('at most 64 calls in a kernel', () => {
  const chain = (count: number) =>
    Array.from({ length: count }, () => 'neg').reduce((inner, op) => `${op}(${inner})`, '%x');
  const count = (length: number) =>
    kernels(`def @main(%x: Tensor[(4,), float32]) { ${chain(length)} }`).length;
  expect([64, 65, 128, 129].map(count)).toEqual([1, 2, 2, 3]);
});

test('nothing to do: functions, branches, views and kernels that are there already', () => {
  const text = `def @main(%x: Tensor[(n, 8), float32], %c: int) -> Tensor[((n * 8),), float32] {
  %0 = if (%c) {
    @main(%x, %c)
  } else {
    reshape(%x, shape=[(n * 8)])
  };
  reshape(%0, shape=[(n * 8)])
}
`;
  expect(fused(text)).toBe(text);
});
