import { expect, test } from 'vitest';
import { compile } from '../compile.ts';
import { parseModule } from '../ir/text/parse.ts';
import { printModule } from '../ir/text/print.ts';
import { fuse } from './fuse/fuse.ts';
import { inline } from './inline.ts';
import { runPasses } from '../pass-table.ts';
import { toGraph } from './to-graph.ts';

const KERNEL = `kernel @k(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
  wgsl = "fn main() {}", grid = [n, 1, 1], workgroup = [1, 1, 1], host = @host
}
`;

test('the alternative of a kernel and what only it reads become one primitive with the kernel', () => {
  const text = `${KERNEL}
    def @host(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] { neg(softmax(exp(%x), axis=0)) }
    def @main(%x: Tensor[(n,), float32]) { let %y = abs(%x); relu(@k(add(%y, %y))) }`;
  const module = runPasses(parseModule(text), [inline, toGraph, fuse]);
  const main = module.functions.get('main');
  if (main === undefined) throw new Error('no main');
  const shown = { ...module, functions: new Map([['main', main]]) };
  expect(printModule(shown)).toMatchInlineSnapshot(`
    "def @main(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
      %0 = fn (%p0: Tensor[(n,), float32], primitive="abs_add") {
        %1 = abs(%p0);
        add(%1, %1)
      };
      %2 = %0(%x);
      %3 = fn (%p0_1: Tensor[(n,), float32], primitive="k_relu") {
        %4 = exp(%p0_1);
        %5 = softmax(%4, axis=0);
        %6 = neg(%5);
        %7 = wgsl_kernel(%p0_1, %6, params=["n"], sizes=["n"], grid=[n, 1, 1], workgroup=[1, 1, 1], name="k", code="fn main() {}", shape=["n"], dtype="float32", alternative=true);
        relu(%7)
      };
      %3(%2)
    }
    "
  `);
});

test('an alternative that is more than operators is refused', () => {
  const text = `${KERNEL}
    def @host(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
      if (dim(%x, axis=0)) { @host(neg(%x)) } else { %x }
    }`;
  expect(() => compile(parseModule(text))).toThrowErrorMatchingInlineSnapshot(
    `[UnsupportedError: ir:1:8: got an alternative for the host that calls functions or branches, expected operators on tensors, or small functions of such.]`,
  );
});

test('an alternative that the program reads too is computed for that, once', () => {
  const text = `${KERNEL}
    def @host(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] { neg(%x) }
    def @main(%x: Tensor[(n,), float32]) { (@k(%x), @host(%x)) }`;
  const { primitives } = compile(parseModule(text));
  const operators = primitives.map(({ body }) => body.map(({ op }) => op).join());
  // That of @host changes its parameter in place.
  expect(operators.toSorted()).toEqual(['neg', 'neg', 'neg,wgsl_kernel', 'wgsl_kernel']);
});

test('equal kernels are stored once', () => {
  const text = `${KERNEL}
    def @host(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] { neg(%x) }
    def @main(%x: Tensor[(n, 2), float32], %y: Tensor[(m,), float32]) {
      (@k(%y), @k(reshape(%x, shape=[n * 2])), @k(%y))
    }`;
  const { primitives } = compile(parseModule(text));
  const kernels = primitives.filter(({ body }) => body.some(({ op }) => op === 'wgsl_kernel'));
  expect(kernels.map(({ name, params }) => [name, params.map(({ shape }) => shape)])).toEqual([
    ['k.1', [['n']]],
    ['k.2', [[{ op: 'mul', left: 'n', right: 2 }]]],
  ]);
});
