import { expect, test } from 'vitest';
import { compile } from '../../compiler/compile.ts';
import { parseModule } from '../../compiler/index.ts';
import { KERNEL_OPS } from '../../ops/tables/kernel-ops.ts';
import { sumAndProduct } from '../testing/test-programs.ts';
import { programWork } from './program-work.ts';

function workOf(text: string) {
  return programWork(compile(parseModule(text)), KERNEL_OPS);
}

test('a product counts its multiplications and additions, and the bytes of its tensors', () => {
  const work = workOf(`
    def @main(%a: Tensor[(64, 128), float32], %b: Tensor[(128, 32), float32]) { matmul(%a, %b) }`);
  expect(work).toEqual({
    launches: [
      { count: 1, operations: 2 * 64 * 128 * 32, bytes: 4 * (64 * 128 + 128 * 32 + 64 * 32) },
    ],
    onHost: [],
  });
});

test('a convolution takes the weights of a channel for each element', () => {
  const work = workOf(`
    def @main(%x: Tensor[(1, 8, 16, 16), float32], %w: Tensor[(4, 8, 3, 3), float32]) {
      conv2d(%x, %w, pads=[1, 1, 1, 1])
    }`);
  expect(work?.launches[0]?.operations).toBe(2 * 4 * 16 * 16 * 8 * 9);
});

test('symbols have sizes of their own: a batch is 1', () => {
  const operations = (text: string) => workOf(text)?.launches.map((launch) => launch.operations);
  const row = operations('def @main(%x: Tensor[(n, 256), float32]) { relu(%x) }');
  const rows = operations('def @main(%x: Tensor[(1, n, 256), float32]) { relu(%x) }');
  expect(row?.[0]).toBeGreaterThan(0);
  expect(rows?.[0]).toBe(128 * (row?.[0] ?? 0));
  expect(programWork(sumAndProduct(), KERNEL_OPS)?.launches).toEqual([
    { count: 1, operations: 128, bytes: 3 * 512 },
    { count: 1, operations: 128, bytes: 3 * 512 },
  ]);
});

test('functions count where they are called, recursions once', () => {
  const text = (depth: number): string => {
    const functions = Array.from(
      { length: depth },
      (_, i) => `
      def @f${i + 1}(%x: Tensor[(4, 4), float32]) -> Tensor[(4, 4), float32] {
        let %y = @f${i}(%x);
        @f${i}(%y)
      }`,
    );
    return `
      def @f0(%x: Tensor[(4, 4), float32]) -> Tensor[(4, 4), float32] { matmul(%x, %x) }
      ${functions.join('\n')}
      def @main(%x: Tensor[(4, 4), float32]) { @f${depth}(%x) }`;
  };
  const counts = (depth: number) =>
    programWork(
      compile(parseModule(text(depth)), { without: ['inline'] }),
      KERNEL_OPS,
    )?.launches.map(({ count }) => count);
  expect(counts(3)).toEqual([8]);
  // Each is looked at once.
  expect(counts(24)).toEqual([2 ** 24]);
});

test('nobody can tell for operators that are not known', () => {
  expect(programWork(sumAndProduct(), new Map())).toBeUndefined();
});
