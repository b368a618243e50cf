import { describe, expect, test } from 'vitest';
import { parseModule } from '../ir/text/parse.ts';
import { printModule } from '../ir/text/print.ts';
import { TypeInference } from '../inference/type-inference.ts';
import { eliminateCommonSubexpressions } from './eliminate-common-subexpressions.ts';
import { fuse } from './fuse/fuse.ts';
import { inferTypes } from './infer-types.ts';
import { nameUnknownDims } from './dims/name-unknown-dims.ts';
import type { Pass } from './pass.ts';

function run(text: string, ...passes: readonly Pass[]): string {
  const context = { types: new TypeInference() };
  const module = inferTypes.run(parseModule(text), context);
  const result = passes.reduce((current, pass) => pass.run(current, context), module);
  return printModule(result);
}

const unchanged = (text: string, pass: Pass): void => {
  expect(run(text, pass)).toBe(run(text));
};

describe('eliminate-common-subexpressions', () => {
  test('an expression gives way to its equal in the scope around it', () => {
    const text = `def @main(%c: int, %x: Tensor[(2,), float32]) {
      let %y = exp(%x);
      add(%y, if (%c) { neg(exp(%x)) } else { exp(%x) })
    }`;
    expect(run(text, eliminateCommonSubexpressions)).toMatchInlineSnapshot(`
      "def @main(%c: int, %x: Tensor[(2,), float32]) -> Tensor[(2,), float32] {
        %0 = exp(%x);
        let %y: Tensor[(2,), float32] = %0;
        %1 = if (%c) {
          neg(%0)
        } else {
          %0
        };
        add(%y, %1)
      }
      "
    `);
  });

  test('equal expressions in two branches, two closures, a branch and what comes after', () => {
    unchanged(
      `def @main(%c: int, %x: Tensor[(2,), float32]) {
        if (%c) { exp(%x) } else { if (%c) { neg(exp(%x)) } else { %x } }
      }`,
      eliminateCommonSubexpressions,
    );
    unchanged(
      `def @main(%x: Tensor[(2,), float32]) {
        (fn () { exp(%x) }, fn () { exp(%x) })
      }`,
      eliminateCommonSubexpressions,
    );
  });

  test('empty lists of different types', () => {
    unchanged(
      `def @main(%x: Tensor[(2,), float32]) {
        let %a: List[int] = Nil;
        let %b: List[Tensor[(2,), float32]] = Nil;
        (%a, %b)
      }`,
      eliminateCommonSubexpressions,
    );
  });
});

describe('fuse', () => {
  test('keeps to a scope: a branch, a clause, a closure', () => {
    const text = `def @main(%c: int, %x: Tensor[(2,), float32]) {
      %before = exp(neg(%x));
      %chosen = if (%c) { tanh(abs(%before)) } else { %before };
      sqrt(relu(%chosen))
    }`;
    expect(run(text, fuse)).toMatchInlineSnapshot(`
      "def @main(%c: int, %x: Tensor[(2,), float32]) -> Tensor[(2,), float32] {
        %0 = fn (%p0: Tensor[(2,), float32], primitive="neg_exp") {
          %1 = neg(%p0);
          exp(%1)
        };
        %2 = %0(%x);
        %3 = if (%c) {
          %4 = fn (%p0_1: Tensor[(2,), float32], primitive="abs_tanh") {
            %5 = abs(%p0_1);
            tanh(%5)
          };
          %4(%2)
        } else {
          %2
        };
        %6 = fn (%p0_2: Tensor[(2,), float32], primitive="relu_sqrt") {
          %7 = relu(%p0_2);
          sqrt(%7)
        };
        %6(%3)
      }
      "
    `);
  });

  test('a value with a let of its own stays what it is', () => {
    const text = `def @main(%x: Tensor[(2,), float32]) {
      let %y = exp(%x);
      fn () { neg(%y) }
    }`;
    expect(run(text, fuse)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(2,), float32]) -> fn () -> Tensor[(2,), float32] {
        %0 = fn (%p0: Tensor[(2,), float32], primitive="exp") {
          exp(%p0)
        };
        let %y: Tensor[(2,), float32] = %0(%x);
        fn () -> Tensor[(2,), float32] {
          %1 = fn (%p0_1: Tensor[(2,), float32], primitive="neg") {
            neg(%p0_1)
          };
          %1(%y)
        }
      }
      "
    `);
  });

  test('symbolic shapes that are surely equal', () => {
    const text = `def @main(%x: Tensor[(n, 2), float32], %y: Tensor[(m,), float32]) {
      (relu(mul(%x, 2f)), neg(concat(%y, %y, axis=0)))
    }`;
    expect(run(text, fuse)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 2), float32], %y: Tensor[(m,), float32]) -> (Tensor[(n, 2), float32], Tensor[((m * 2),), float32]) {
        %0 = fn (%p0: Tensor[(n, 2), float32], %p1: Tensor[(), float32], primitive="mul_relu") {
          %1 = mul(%p0, %p1);
          relu(%1)
        };
        %2 = %0(%x, 2f);
        %3 = fn (%p0_1: Tensor[(m,), float32], primitive="concat_neg") {
          %4 = concat(%p0_1, %p0_1, axis=0);
          neg(%4)
        };
        %5 = %3(%y);
        (%2, %5)
      }
      "
    `);
  });

  test('integers of the host and views are no kernels', () => {
    unchanged(
      `def @main(%x: Tensor[(n, 2), float32]) {
        (int_add(dim(%x, axis=0), #1), reshape(%x, shape=[n * 2]))
      }`,
      fuse,
    );
  });
});

describe('name-unknown-dims', () => {
  test('results of calls, fields, branches that differ', () => {
    const text = `type Rows { Rows(Tensor[(?,), float32]) }
    def @longer(%x: Tensor[(?,), float32]) -> Tensor[(?,), float32] { concat(%x, %x, axis=0) }
    def @main(%c: int, %rows: Rows, %x: Tensor[(n,), float32]) -> Tensor[(?,), float32] {
      match (%rows) { Rows(%y) => if (%c) { neg(%y) } else { exp(@longer(%x)) } }
    }`;
    expect(run(text, nameUnknownDims)).toMatchInlineSnapshot(`
      "type Rows { Rows(Tensor[(?,), float32]) }

      def @longer(%x: Tensor[(d0,), float32]) -> Tensor[(?,), float32] {
        concat(%x, %x, axis=0)
      }

      def @main(%c: int, %rows: Rows, %x: Tensor[(n,), float32]) -> Tensor[(?,), float32] {
        match (%rows) {
          Rows(%y: Tensor[(d0,), float32]) => if (%c) {
            neg(%y)
          } else {
            let %named: Tensor[(d1,), float32] = @longer(%x);
            exp(%named)
          },
        }
      }
      "
    `);
  });

  test('a let that nothing reads', () => {
    const text = `def @main(%x: Tensor[(n,), float32]) {
      let %unread: Tensor[(?,), float32] = neg(%x);
      %x
    }`;
    expect(run(text, nameUnknownDims)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
        let %unread: Tensor[(n,), float32] = neg(%x);
        %x
      }
      "
    `);
  });

  test('a program that knows its dimensions', () => {
    unchanged(
      `def @main(%x: Tensor[(n,), float32]) { @f(neg(%x)) }
    def @f(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] { %x }`,
      nameUnknownDims,
    );
  });
});
