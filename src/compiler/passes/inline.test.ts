import { describe, expect, test } from 'vitest';
import { parseModule } from '../ir/text/parse.ts';
import { printModule } from '../ir/text/print.ts';
import { TypeInference } from '../inference/type-inference.ts';
import { inferTypes } from './infer-types.ts';
import { inline } from './inline.ts';

/** `@main` after the pass; undefined when nothing changed. */
function run(text: string): string | undefined {
  const context = { types: new TypeInference() };
  const module = inferTypes.run(parseModule(text), context);
  const result = inline.run(module, context);
  const main = result.functions.get('main');
  if (result === module || main === undefined) return undefined;
  return printModule({ ...result, functions: new Map([['main', main]]) });
}

describe('inline', () => {
  test('a function in a function, for the sizes of the call', () => {
    const text = `
      def @main(%x: Tensor[(4, m), float32]) { neg(@twice(exp(%x))) }
      def @twice(%x: Tensor[(n, k), float32]) -> Tensor[(n * 2, k), float32] { @double(%x) }
      def @double(%x: Tensor[(n, k), float32]) -> Tensor[(n * 2, k), float32] {
        reshape(concat(%x, %x, axis=1), shape=[n * 2, k])
      }`;
    expect(run(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(4, m), float32]) -> Tensor[(8, m), float32] {
        %0 = {
          let %x_1: Tensor[(4, m), float32] = exp(%x);
          let %x_2: Tensor[(4, m), float32] = %x_1;
          %1 = concat(%x_2, %x_2, axis=1);
          reshape(%1, shape=[8, m])
        };
        neg(%0)
      }
      "
    `);
  });

  test('an unknown size of a parameter does not name other unknown sizes', () => {
    const text = `
      def @grown(%x: Tensor[(?), float32], %c: int) -> Tensor[(?), float32] {
        if (%c) { @grown(concat(%x, %x, axis=0), #0) } else { %x }
      }
      def @both(%x: Tensor[(?), float32], %c: int) -> (Tensor[(?), float32], Tensor[(?), float32]) {
        let %y: Tensor[(?), float32] = @grown(%x, %c);
        (relu(%y), %x)
      }
      def @main(%x: Tensor[(4), float32]) { @both(%x, #1) }`;
    expect(run(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(4,), float32]) -> (Tensor[(?,), float32], Tensor[(?,), float32]) {
        let %x_1: Tensor[(4,), float32] = %x;
        let %c: int = #1;
        let %y: Tensor[(?,), float32] = @grown(%x_1, %c);
        %0 = relu(%y);
        (%0, %x_1)
      }
      "
    `);
  });

  test('names of sizes that a function knows only inside stay apart', () => {
    const text = `
      def @any(%x: Tensor[(m), float32], %c: int) -> Tensor[(?), float32] {
        if (%c) { @any(concat(%x, %x, axis=0), #0) } else { %x }
      }
      def @padded(%x: Tensor[(n), float32], %c: int) -> Tensor[(?), float32] {
        let %y: Tensor[(k), float32] = @any(%x, %c);
        add(%y, full(shape=[k], value=1, dtype="float32"))
      }
      def @main(%x: Tensor[(k), float32]) { (@padded(%x, #0), @padded(%x, #1)) }`;
    expect(run(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(k,), float32]) -> (Tensor[(?,), float32], Tensor[(?,), float32]) {
        %0 = {
          let %x_1: Tensor[(k,), float32] = %x;
          let %c: int = #0;
          let %y: Tensor[(k_1,), float32] = @any(%x_1, %c);
          %1 = full(shape=["k_1"], value=1, dtype="float32");
          add(%y, %1)
        };
        %2 = {
          let %x_2: Tensor[(k,), float32] = %x;
          let %c_1: int = #1;
          let %y_1: Tensor[(k_2,), float32] = @any(%x_2, %c_1);
          %3 = full(shape=["k_2"], value=1, dtype="float32");
          add(%y_1, %3)
        };
        (%0, %2)
      }
      "
    `);
  });

  test('two calls share nothing', () => {
    const text = `
      def @main(%c: int) { if (%c) { @zeros() } else { neg(@zeros()) } }
      def @zeros() -> Tensor[(3,), float32] { exp(full(shape=[3], value=0, dtype="float32")) }`;
    expect(run(text)).toMatchInlineSnapshot(`
      "def @main(%c: int) -> Tensor[(3,), float32] {
        if (%c) {
          %0 = full(shape=[3], value=0, dtype="float32");
          exp(%0)
        } else {
          %1 = full(shape=[3], value=0, dtype="float32");
          %2 = exp(%1);
          neg(%2)
        }
      }
      "
    `);
  });

  test.each([
    ['recursion', `def @main(%n: int) -> int { if (%n) { @main(int_sub(%n, #1)) } else { #0 } }`],
    [
      'mutual recursion',
      `def @main(%n: int) -> int { if (%n) { @other(%n) } else { #0 } }
       def @other(%n: int) -> int { @main(int_sub(%n, #1)) }`,
    ],
    ['a polymorphic function', `def @main(%n: int) { @same(%n) } def @same<A>(%a: A) -> A { %a }`],
    [
      'sizes that are compared when the program runs',
      `def @main(%a: Tensor[(m,), float32], %b: Tensor[(n,), float32]) { @sum(%a, %b) }
       def @sum(%a: Tensor[(n,), float32], %b: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
         add(%a, %b)
       }`,
    ],
    [
      'a function as a value',
      `def @main(%x: Tensor[(2,), float32]) { let %f = @g; (%f, %x) }
       def @g(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] { neg(%x) }`,
    ],
    [
      'a large function',
      `def @main(%x: Tensor[(2,), float32]) { @g(%x) }
       def @g(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] {
         ${'neg('.repeat(25)}%x${')'.repeat(25)}
       }`,
    ],
  ])('leaves alone %s', (_, text) => {
    expect(run(text)).toBeUndefined();
  });

  test('a function that is known where it is called, and nowhere else', () => {
    const text = `
      def @main(%x: Tensor[(n, 2), float32]) {
        let %f = fn (%y: Tensor[(n, 2), float32]) { add(exp(%y), %x) };
        let %g = fn (%y: Tensor[(n, 2), float32]) { neg(%y) };
        (%f(%x), %g(%g(%x)))
      }`;
    expect(run(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 2), float32]) -> (Tensor[(n, 2), float32], Tensor[(n, 2), float32]) {
        let %g: fn (Tensor[(n, 2), float32]) -> Tensor[(n, 2), float32] = fn (%y: Tensor[(n, 2), float32]) -> Tensor[(n, 2), float32] {
          neg(%y)
        };
        %0 = {
          let %y_1: Tensor[(n, 2), float32] = %x;
          %1 = exp(%y_1);
          add(%1, %x)
        };
        %2 = %g(%x);
        %3 = %g(%2);
        (%0, %3)
      }
      "
    `);
  });

  test('not a function that names a size itself', () => {
    const text = `
      def @main(%x: Tensor[(n, 2), bool]) {
        let %f = fn (%y: Tensor[(n, 2), bool]) {
          let %at: Tensor[(2, k), int64] = nonzero(%y);
          %at
        };
        %f(%x)
      }`;
    expect(run(text)).toBeUndefined();
  });
});
