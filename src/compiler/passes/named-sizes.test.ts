import { expect, test } from 'vitest';
import { parseModule } from '../ir/text/parse.ts';
import { printModule } from '../ir/text/print.ts';
import { compile } from '../compile.ts';
import { runPasses } from '../pass-table.ts';
import { verifyModule } from '../verify/verify-module.ts';
import { toGraph } from './to-graph.ts';

/** The program after some passes of the pipeline. */
function after(text: string, ...passes: string[]): Record<string, string> {
  const found: Record<string, string> = {};
  compile(parseModule(text), {
    dump: (pass, module) => {
      if (passes.includes(pass)) found[pass] = `\n${printModule(module)}`;
    },
  });
  return found;
}

test('a let that only names a size stays, and tells kernels the size', () => {
  const text = `
    def @main(%s: Tensor[(1,), int64], %x: Tensor[(n, 2), float32]) {
      let %named: Tensor[(0, k), int32] = sizes(%s);
      slice(%x, starts=[k, 0], ends=[n, 2])
    }
  `;
  expect(after(text, 'to-graph', 'to-anf')).toMatchInlineSnapshot(`
    {
      "to-anf": "
    def @main(%s: Tensor[(1,), int64], %x: Tensor[(n, 2), float32]) -> Tensor[(?, 2), float32] {
      let %v0: Tensor[(1,), int64] = device_copy(%s, device="host");
      %0 = fn (%p0: Tensor[(1,), int64], primitive="sizes", device="host") {
        sizes(%p0)
      };
      let %named: Tensor[(0, k), int32] = %0(%v0);
      %1 = fn (%p0_1: Tensor[(n, 2), float32], %p1: Tensor[(0, k), int32], primitive="slice") {
        slice(%p0_1, starts=[k, 0], ends=[n, 2])
      };
      %1(%x, %named)
    }
    ",
      "to-graph": "
    def @main(%s: Tensor[(1,), int64], %x: Tensor[(n, 2), float32]) -> Tensor[(?, 2), float32] {
      let %named: Tensor[(0, k), int32] = sizes(%s);
      slice(%x, starts=[k, 0], ends=[n, 2])
    }
    ",
    }
  `);
});

test('a size without a name gets one, once', () => {
  const text = `
    def @main(%x: Tensor[(n,), float32]) {
      let %at: Tensor[(1, k), int64] = nonzero(%x);
      (%at, nonzero(neg(%x)))
    }
  `;
  expect(after(text, 'name-unknown-dims')).toMatchInlineSnapshot(`
    {
      "name-unknown-dims": "
    def @main(%x: Tensor[(n,), float32]) -> (Tensor[(1, ?), int64], Tensor[(1, ?), int64]) {
      let %at: Tensor[(1, k), int64] = nonzero(%x);
      let %v0: Tensor[(n,), float32] = neg(%x);
      let %named: Tensor[(1, d0), int64] = nonzero(%v0);
      (%at, %named)
    }
    ",
    }
  `);
});

test('two names of one size are both kept', () => {
  const text = `
    def @main(%s: Tensor[(1,), int64]) {
      let %a: Tensor[(0, j), int32] = sizes(%s);
      let %b: Tensor[(0, k), int32] = sizes(%s);
      (full(shape=[j], value=1), full(shape=[k], value=2))
    }
  `;
  expect(after(text, 'eliminate-common-subexpressions', 'to-anf')).toMatchInlineSnapshot(`
    {
      "eliminate-common-subexpressions": "
    def @main(%s: Tensor[(1,), int64]) -> (Tensor[(?,), float32], Tensor[(?,), float32]) {
      %0 = sizes(%s);
      let %a: Tensor[(0, j), int32] = %0;
      let %b: Tensor[(0, k), int32] = %0;
      %1 = full(shape=["j"], value=1);
      %2 = full(shape=["k"], value=2);
      (%1, %2)
    }
    ",
      "to-anf": "
    def @main(%s: Tensor[(1,), int64]) -> (Tensor[(?,), float32], Tensor[(?,), float32]) {
      let %v0: Tensor[(1,), int64] = device_copy(%s, device="host");
      %0 = fn (%p0: Tensor[(1,), int64], primitive="sizes", device="host") {
        sizes(%p0)
      };
      let %b: Tensor[(0, k), int32] = %0(%v0);
      let %a: Tensor[(0, j), int32] = %b;
      %1 = fn (primitive="full") {
        full(shape=["j"], value=1)
      };
      let %v1: Tensor[(j,), float32] = %1();
      %2 = fn (primitive="full") {
        full(shape=["k"], value=2)
      };
      let %v2: Tensor[(k,), float32] = %2();
      (%v1, %v2)
    }
    ",
    }
  `);
});

test('a name that nothing mentions goes, and its value with it', () => {
  const text = `
    def @main(%s: Tensor[(1,), int64], %x: Tensor[(n,), float32]) {
      let %named: Tensor[(0, k), int32] = sizes(%s);
      exp(%x)
    }
  `;
  expect(after(text, 'to-graph')).toMatchInlineSnapshot(`
    {
      "to-graph": "
    def @main(%s: Tensor[(1,), int64], %x: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
      exp(%x)
    }
    ",
    }
  `);
});

test('to-graph keeps a let whose name a closure or an attribute still mentions', () => {
  const text = `
    def @main(%x: Tensor[(n,), float32]) {
      let %y: Tensor[(j,), float32] = concat(%x, %x, axis=0);
      let %z: Tensor[(k,), float32] = concat(%y, %x, axis=0);
      let %w: Tensor[(m,), float32] = neg(%x);
      %f = fn (%a: Tensor[(k,), float32], %b: Tensor[(own,), float32]) {
        let %c: Tensor[(own,), float32] = neg(%b);
        (add(%a, full(shape=[j + n], value=1)), %c)
      };
      (%f(%z, %x), add(%w, %w))
    }
  `;
  const graph = runPasses(parseModule(text), [toGraph]);
  verifyModule(graph);
  expect(printModule(graph)).toMatchInlineSnapshot(`
    "def @main(%x: Tensor[(n,), float32]) {
      let %y: Tensor[(j,), float32] = concat(%x, %x, axis=0);
      let %z: Tensor[(k,), float32] = concat(%y, %x, axis=0);
      %0 = fn (%a: Tensor[(k,), float32], %b: Tensor[(own,), float32]) {
        %1 = full(shape=[(j + n)], value=1);
        %2 = add(%a, %1);
        %3 = neg(%b);
        (%2, %3)
      };
      %4 = %0(%z, %x);
      %5 = neg(%x);
      %6 = add(%5, %5);
      (%4, %6)
    }
    "
  `);
  expect(compile(graph).functions).toHaveLength(2);
});
