import { describe, expect, test } from 'vitest';
import { call, func, moduleOf, variable } from '../../ir/build.ts';
import { parseModule } from '../../ir/text/parse.ts';
import { printModule } from '../../ir/text/print.ts';
import { TypeInference } from '../../inference/type-inference.ts';
import { fuse } from './fuse.ts';
import { inferTypes } from '../infer-types.ts';

function fused(text: string): string {
  const context = { types: new TypeInference() };
  const typed = inferTypes.run(parseModule(text), context);
  return printModule(fuse.run(typed, context));
}

describe('kernels with symbols in attributes', () => {
  test('take a parameter whose shape tells the symbol', () => {
    expect(
      fused(`
        def @main(%table: Tensor[(64, 8), float32], %x: Tensor[(n, 8), float32], %y: Tensor[(m,), float32]) {
          exp(slice(%table, starts=[m, 0], ends=[m + n, 8]))
        }
      `),
    ).toMatchInlineSnapshot(`
      "def @main(%table: Tensor[(64, 8), float32], %x: Tensor[(n, 8), float32], %y: Tensor[(m,), float32]) -> Tensor[((min((m + n), 64) - min(m, 64)), 8), float32] {
        %0 = fn (%p0: Tensor[(64, 8), float32], %p1: Tensor[(n, 8), float32], %p2: Tensor[(m,), float32], primitive="slice_exp") {
          %1 = slice(%p0, starts=[m, 0], ends=[(m + n), 8]);
          exp(%1)
        };
        %0(%table, %x, %y)
      }
      "
    `);
  });

  test('take nothing where a tensor that they read tells it', () => {
    expect(
      fused(`
        def @main(%x: Tensor[(n, 1), float32], %y: Tensor[(n * 2,), float32]) {
          broadcast_to(%x, shape=[n, 4])
        }
      `),
    ).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 1), float32], %y: Tensor[((n * 2),), float32]) -> Tensor[(n, 4), float32] {
        %0 = fn (%p0: Tensor[(n, 1), float32], primitive="broadcast_to") {
          broadcast_to(%p0, shape=[n, 4])
        };
        %0(%x)
      }
      "
    `);
  });

  test('take what a function around them takes', () => {
    expect(
      fused(`
        def @main(%table: Tensor[(64,), float32]) {
          fn (%x: Tensor[(n,), float32]) { relu(slice(%table, starts=[n], ends=[64])) }
        }
      `),
    ).toMatchInlineSnapshot(`
      "def @main(%table: Tensor[(64,), float32]) -> fn (Tensor[(?,), float32]) -> Tensor[(?,), float32] {
        fn (%x: Tensor[(n,), float32]) -> Tensor[((64 - min(n, 64)),), float32] {
          %0 = fn (%p0: Tensor[(64,), float32], %p1: Tensor[(n,), float32], primitive="slice_relu") {
            %1 = slice(%p0, starts=["n"], ends=[64]);
            relu(%1)
          };
          %0(%table, %x)
        }
      }
      "
    `);
  });

  test('are refused where no variable tells it', () => {
    const table = variable('table', 'float32', [64]);
    const sliced = call('slice', [table], { starts: ['n'], ends: [9] });
    const module = moduleOf({ main: func([table], sliced) });
    expect(() =>
      fuse.run(module, { types: new TypeInference() }),
    ).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: slice: got the dimension n in an attribute, expected dimensions that tensors around the call have. Name the dimension in the type of a parameter of the function.]`,
    );
  });
});
