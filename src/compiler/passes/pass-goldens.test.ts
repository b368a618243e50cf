import { describe, expect, test } from 'vitest';
import { inferModule } from '../inference/infer-module.ts';
import { parseModule } from '../ir/text/parse.ts';
import { printModule } from '../ir/text/print.ts';
import { allPasses, type PassParameters, runPasses } from '../pass-table.ts';
import type { Pass } from './pass.ts';

function passNamed(name: string, parameters?: PassParameters): Pass {
  const pass = allPasses(parameters).find((candidate) => candidate.name === name);
  if (pass === undefined) throw new Error(`no pass ${name}`);
  return pass;
}

/** Those that find something to do in what they made. */
const REPEATING: ReadonlySet<string> = new Set(['dispatch-by-shape', 'name-unknown-dims']);

/** The program in text form after one pass, which leaves alone what it has made. */
function after(name: string, text: string, parameters?: PassParameters): string {
  const pass = passNamed(name, parameters);
  const result = runPasses(parseModule(text), [pass]);
  if (!REPEATING.has(name)) {
    expect(printModule(runPasses(result, [pass]))).toBe(printModule(result));
  }
  return printModule(result);
}

describe('what a pass does', () => {
  test('bind-dims', () => {
    const text = 'def @main(%x: Tensor[(n, m + n), float32]) { reshape(%x, shape=[n * (m + n)]) }';
    expect(after('bind-dims', text, { dims: { n: 2 } })).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(2, (m + 2)), float32]) {
        reshape(%x, shape=[(2 * (m + 2))])
      }
      "
    `);
  });

  test('infer-types', () => {
    const text = `def @main(%x: Tensor[(n,), float32]) { let %f = fn (%y) { add(%y, 1f) }; %f(%x) }`;
    expect(after('infer-types', text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
        let %f: fn (Tensor[(n,), float32]) -> Tensor[(n,), float32] = fn (%y: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
          add(%y, 1f)
        };
        %f(%x)
      }
      "
    `);
  });

  test('inline', () => {
    const text = `def @main(%x: Tensor[(n,), float32]) { @twice(exp(%x)) }
      def @twice(%x: Tensor[(n,), float32]) { add(%x, %x) }`;
    expect(after('inline', text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
        let %x_1: Tensor[(n,), float32] = exp(%x);
        add(%x_1, %x_1)
      }

      def @twice(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
        add(%x, %x)
      }
      "
    `);
  });

  test('name-unknown-dims', () => {
    const text = `def @main(%list: List[Tensor[(?,), float32]]) {
      match (%list) { Cons(%x, _) => add(%x, 1f), Nil => [1f] }
    }`;
    expect(after('name-unknown-dims', text)).toMatchInlineSnapshot(`
      "type List[A] { Cons(A, List[A]), Nil }

      def @main(%list: List[Tensor[(?,), float32]]) -> Tensor[(?,), float32] {
        match (%list) {
          Cons(%x: Tensor[(d0,), float32], _) => add(%x, 1f),
          Nil => [1f],
        }
      }
      "
    `);
  });

  test('to-graph', () => {
    const text = `def @main(%x: Tensor[(n,), float32], %c: int) {
      let %y = exp(%x);
      let %z = neg(%y);
      let %unused = abs(%x);
      if (%c) { add(%y, %z) } else { add(%y, 1f) }
    }`;
    expect(after('to-graph', text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32], %c: int) {
        %0 = exp(%x);
        let %z = neg(%0);
        if (%c) {
          add(%0, %z)
        } else {
          add(%0, 1f)
        }
      }
      "
    `);
  });

  test('fold-constants', () => {
    const text = 'def @main(%x: Tensor[(n,), float32]) { add(%x, mul(2f, add(1f, 3f))) }';
    expect(after('fold-constants', text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32]) {
        add(%x, 8f)
      }
      "
    `);
  });

  test('simplify', () => {
    const text = `def @main(%x: Tensor[(n, m), float32]) {
      transpose(transpose(mul(add(%x, 0f), 1f), perm=[1, 0]), perm=[1, 0])
    }`;
    expect(after('simplify', text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, m), float32]) {
        %x
      }
      "
    `);
  });

  test('fold-affine-into-weights', () => {
    const text = `def @main(%x: Tensor[(n, 1, h, w), float32]) {
      batch_norm(%x, [2f], [3f], [1f], [4f], epsilon=0)
    }`;
    expect(after('fold-affine-into-weights', text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 1, h, w), float32]) {
        %0 = mul(%x, meta[0]);
        add(%0, meta[1])
      }

      meta[0]: Tensor[(1, 1, 1, 1), float32]
      meta[1]: Tensor[(1, 1, 1, 1), float32]
      "
    `);
  });

  test('dispatch-by-shape', () => {
    const dispatch = {
      main: {
        x: {
          0: [
            [1, 2],
            [2, 4],
          ],
        },
      },
    } as const;
    const text = 'def @main(%x: Tensor[(n,), float32]) { exp(%x) }';
    expect(after('dispatch-by-shape', text, { dispatch })).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32], bounds={n: (1, 3)}) -> Tensor[(n,), float32] {
        %0 = dim(%x, axis=0);
        %1 = int_lt(%0, #2);
        if (%1) {
          %2 = @main.n_1(%x);
          reshape(%2, shape=["n"])
        } else {
          @main.n_2_3(%x)
        }
      }

      def @main.n_1(%x: Tensor[(1,), float32]) -> Tensor[(1,), float32] {
        exp(%x)
      }

      def @main.n_2_3(%x: Tensor[(n_2_3,), float32], bounds={n_2_3: (2, 3)}) -> Tensor[(n_2_3,), float32] {
        exp(%x)
      }
      "
    `);
  });

  test('eliminate-common-subexpressions', () => {
    const text = `def @main(%x: Tensor[(n,), float32], %c: int) {
      %y = add(exp(%x), exp(%x));
      if (%c) { add(%y, exp(%x)) } else { sub(%y, exp(%x)) }
    }`;
    expect(after('eliminate-common-subexpressions', text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32], %c: int) {
        %0 = exp(%x);
        %1 = add(%0, %0);
        if (%c) {
          add(%1, %0)
        } else {
          sub(%1, %0)
        }
      }
      "
    `);
  });

  test('place-devices', () => {
    const text = `def @main(%x: Tensor[(n, 4), float64], %y: Tensor[(n, 4), float32]) {
      %0 = greater(add(%x, 1f64), 2f64);
      where(%0, relu(%y), %y)
    }`;
    expect(after('place-devices', text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4), float64], %y: Tensor[(n, 4), float32]) {
        %0 = device_copy(%x, device="host");
        %1 = add(%0, 1f64, on_device="host");
        %2 = greater(%1, 2f64, on_device="host");
        %3 = device_copy(%2, device="session");
        %4 = relu(%y);
        where(%3, %4, %y)
      }
      "
    `);
  });

  test('fuse', () => {
    const text = `def @main(%x: Tensor[(n, 4), float32], %w: Tensor[(4, 4), float32]) {
      softmax(relu(add(matmul(exp(%x), %w), 1f)), axis=-1)
    }`;
    expect(after('fuse', text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4), float32], %w: Tensor[(4, 4), float32]) {
        %0 = fn (%p0: Tensor[(n, 4), float32], %p1: Tensor[(4, 4), float32], %p2: Tensor[(), float32], primitive="exp_matmul_add_relu") {
          %1 = exp(%p0);
          %2 = matmul(%1, %p1);
          %3 = add(%2, %p2);
          relu(%3)
        };
        %4 = %0(%x, %w, 1f);
        %5 = fn (%p0_1: Tensor[(n, 4), float32], primitive="softmax") {
          softmax(%p0_1, axis=-1)
        };
        %5(%4)
      }
      "
    `);
  });

  test('to-anf', () => {
    const text = `def @main(%x: Tensor[(n,), float32], %c: int) {
      %y = exp(%x);
      if (%c) { add(%y, neg(%y)) } else { %x }
    }`;
    expect(after('to-anf', text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32], %c: int) {
        if (%c) {
          let %v0: Tensor[(n,), float32] = exp(%x);
          let %v1: Tensor[(n,), float32] = neg(%v0);
          add(%v0, %v1)
        } else {
          %x
        }
      }
      "
    `);
  });
});

describe('what looks alike and is left alone', () => {
  test.each([
    ['bind-dims', 'def @main(%x: Tensor[(m,), float32]) { exp(%x) }'],
    ['infer-types', 'def @main(%x: Tensor[(m,), float32]) { exp(%x) }'],
    // A recursion.
    [
      'inline',
      `def @main(%i: int) { @down(%i) }
       def @down(%i: int) -> int { if (%i) { @down(int_sub(%i, #1)) } else { %i } }`,
    ],
    ['name-unknown-dims', 'def @main(%x: Tensor[(m,), float32]) { exp(%x) }'],
    // Inside of the branch the value would be computed on one way only.
    [
      'to-graph',
      'def @main(%x: Tensor[(m,), float32], %c: int) { let %y = exp(%x); if (%c) { %x } else { neg(%y) } }',
    ],
    ['fold-constants', 'def @main(%x: Tensor[(m,), float32]) { add(add(%x, 1f), 2f) }'],
    // The sum has another shape than %x.
    ['simplify', 'def @main(%x: Tensor[(1,), float32]) { add(%x, [0f, 0f]) }'],
    // The mean is no constant.
    [
      'fold-affine-into-weights',
      `def @main(%x: Tensor[(n, 1, h, w), float32], %m: Tensor[(1,), float32]) {
        batch_norm(%x, [2f], [3f], %m, [4f], epsilon=0)
      }`,
    ],
    ['dispatch-by-shape', 'def @main(%x: Tensor[(n,), float32]) { exp(%x) }'],
    // Neither branch is in the scope of the other.
    [
      'eliminate-common-subexpressions',
      'def @main(%x: Tensor[(m,), float32], %c: int) { if (%c) { exp(%x) } else { neg(exp(%x)) } }',
    ],
    // WebGPU has kernels for it; a view of what it has no kernels for needs none.
    [
      'place-devices',
      `def @main(%x: Tensor[(m,), float32], %y: Tensor[(m, 2), float64]) {
        (exp(%x), reshape(%y, shape=[m * 2]), dim(%y, axis=0))
      }`,
    ],
    // Arithmetic on ints is no kernel.
    ['fuse', 'def @main(%x: Tensor[(m,), float32]) { int_add(dim(%x, axis=0), #1) }'],
    ['to-anf', 'def @main(%x: Tensor[(m,), float32]) { let %y = exp(%x); neg(%y) }'],
  ])('by %s', (name, text) => {
    const module = inferModule(parseModule(text));
    expect(runPasses(module, [passNamed(name, { dims: { n: 2 } })])).toBe(module);
  });
});
