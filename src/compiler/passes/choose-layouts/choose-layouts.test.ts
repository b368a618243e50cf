import { describe, expect, test } from 'vitest';
import { inferModule } from '../../inference/infer-module.ts';
import { parseModule } from '../../ir/text/parse.ts';
import { printModule } from '../../ir/text/print.ts';
import { verifyModule } from '../../verify/verify-module.ts';
import { runNamed } from '../../testing/text-after.ts';

/** A program in graph form after the pass, which leaves alone what it has made, and after others. */
function after(text: string, ...names: string[]): string {
  const chosen = runNamed(['to-graph', 'choose-layouts'], inferModule(parseModule(text)));
  expect(runNamed(['choose-layouts'], chosen)).toBe(chosen);
  const result = runNamed(names, chosen);
  verifyModule(result);
  return printModule(result, { data: 'full' });
}

const FIRST = 'perm=[0, 3, 1, 2]';
const LAST = 'perm=[0, 2, 3, 1]';

describe('transposes between convolutions', () => {
  test('a chain of a model whose channels are last', () => {
    const text = `def @main(
      %x: Tensor[(n, 8, 8, 4), float32],
      %w: Tensor[(4, 4, 1, 1), float32],
      %bias: Tensor[(4,), float32]
    ) {
      let %a = transpose(conv2d(transpose(%x, ${FIRST}), %w), ${LAST});
      let %b = relu(add(%a, %bias));
      let %padded = pad(%b, pads=[0, 1, 0, 0, 0, 0, 2, 0]);
      let %both = concat(%padded, %padded, axis=3);
      let %part = slice(%both, starts=[0, 0, 0, 2], ends=[n, 9, 10, 6]);
      let %c = transpose(conv2d(transpose(%part, ${FIRST}), %w), ${LAST});
      reduce_mean(%c, axes=[1, 2])
    }`;
    expect(after(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 8, 8, 4), float32], %w: Tensor[(4, 4, 1, 1), float32], %bias: Tensor[(4,), float32]) -> Tensor[(n, 4), float32] {
        %0 = transpose(%x, perm=[0, 3, 1, 2]);
        %1 = conv2d(%0, %w);
        %2 = reshape(%bias, shape=[4, 1, 1]);
        %3 = add(%1, %2);
        %4 = relu(%3);
        %5 = pad(%4, pads=[0, 0, 1, 0, 0, 0, 0, 2], mode="constant", value=0);
        %6 = concat(%5, %5, axis=1);
        %7 = slice(%6, starts=[0, 2, 0, 0], ends=[n, 6, 9, 10], steps=[]);
        %8 = conv2d(%7, %w);
        reduce_mean(%8, axes=[2, 3], keepdims=false)
      }
      "
    `);
  });

  test('constants and what broadcasts are aligned', () => {
    const text = `def @main(%x: Tensor[(1, 4, 6, 6), float32], %v: Tensor[(6, 4), float32]) {
      let %a = transpose(%x, ${LAST});
      let %b = mul(add(%a, [1f, 2f, 3f, 4f]), 2f);
      let %c = add(%b, %v);
      let %d = softmax(%c);
      transpose(%d, ${FIRST})
    }`;
    expect(after(text, 'fold-constants')).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 4, 6, 6), float32], %v: Tensor[(6, 4), float32]) -> Tensor[(1, 4, 6, 6), float32] {
        %0 = add(%x, meta[0]);
        %1 = mul(%0, 2f);
        %2 = reshape(%v, shape=[1, 1, 6, 4]);
        %3 = transpose(%2, perm=[0, 3, 1, 2]);
        %4 = add(%1, %3);
        softmax(%4, axis=1)
      }

      meta[0]: Tensor[(4, 1, 1), float32] = base64
        "AACAPwAAAEAAAEBAAACAQA=="
      "
    `);
  });

  test('a product after a flattened tensor takes its weights in another order', () => {
    const text = `def @main(%x: Tensor[(n, 2, 1, 3), float32]) {
      let %rows = reshape(transpose(%x, ${LAST}), shape=[n, 6]);
      matmul(%rows, [[0f], [1f], [2f], [3f], [4f], [5f]])
    }`;
    expect(after(text, 'fold-constants')).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 2, 1, 3), float32]) -> Tensor[(n, 1), float32] {
        %0 = reshape(%x, shape=[n, 6]);
        matmul(%0, meta[0])
      }

      meta[0]: Tensor[(6, 1), float32] = base64
        "AAAAAAAAAEAAAIBAAACAPwAAQEAAAKBA"
      "
    `);
  });
});

describe('what stays', () => {
  test('transposes that others read anyway', () => {
    const text = `def @main(%x: Tensor[(1, 4, 6, 6), float32]) {
      %0 = transpose(%x, ${LAST});
      %1 = relu(%0);
      %2 = transpose(%1, ${FIRST});
      (%0, %1, %2)
    }`;
    expect(after(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 4, 6, 6), float32]) -> (Tensor[(1, 6, 6, 4), float32], Tensor[(1, 6, 6, 4), float32], Tensor[(1, 4, 6, 6), float32]) {
        %0 = transpose(%x, perm=[0, 2, 3, 1]);
        %1 = relu(%0);
        %2 = transpose(%1, perm=[0, 3, 1, 2]);
        (%0, %1, %2)
      }
      "
    `);
  });

  test('transposes in branches', () => {
    const text = `def @main(%x: Tensor[(1, 4, 6, 6), float32], %c: int) {
      %0 = transpose(%x, ${LAST});
      if (%c) { transpose(relu(%0), ${FIRST}) } else { %x }
    }`;
    expect(after(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 4, 6, 6), float32], %c: int) -> Tensor[(1, 4, 6, 6), float32] {
        if (%c) {
          %0 = transpose(%x, perm=[0, 2, 3, 1]);
          %1 = relu(%0);
          transpose(%1, perm=[0, 3, 1, 2])
        } else {
          %x
        }
      }
      "
    `);
  });
});
