import { describe, expect, test } from 'vitest';
import { inferModule } from '../../inference/infer-module.ts';
import { parseModule } from '../../ir/text/parse.ts';
import { f32, loadProgram } from '../../testing/load-program.ts';
import { textAfter } from '../../testing/text-after.ts';
import { inferTypes } from '../infer-types.ts';
import { lambdaLift } from './lambda-lift.ts';
import { runPasses } from '../../pass-table.ts';
import { toAnf } from '../to-anf.ts';

const lift = (text: string): string => textAfter(['to-anf', 'lambda-lift'], text);

describe('lambda-lift', () => {
  test('a closure that is a value, one that captures nothing, and one that is only called', () => {
    const text = `def @main(%x: Tensor[(), float32], %n: int) -> (Tensor[(), float32], int, int) {
      let %f = fn (%y: Tensor[(), float32]) { add(%x, %y) };
      let %g = fn (%k: int) { %k };
      let %h = fn (%k: int) { int_add(%k, %n) };
      (@apply(%f, %x), @apply(%g, %n), %h(%n))
    }
    def @apply<A>(%f: fn (A) -> A, %a: A) -> A { %f(%a) }`;
    expect(lift(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(), float32], %n: int) -> (Tensor[(), float32], int, int) {
        let %f: fn (Tensor[(), float32]) -> Tensor[(), float32] = make_closure(@main.fn, %x);
        let %g: fn (int) -> int = @main.fn_1;
        let %v0: Tensor[(), float32] = @apply<Tensor[(), float32]>(%f, %x);
        let %v1: int = @apply<int>(%g, %n);
        let %v2: int = @main.fn_2(%n, %n);
        (%v0, %v1, %v2)
      }

      def @main.fn(%y: Tensor[(), float32], %x: Tensor[(), float32], captured=1) -> Tensor[(), float32] {
        add(%x, %y)
      }

      def @main.fn_1(%k: int, captured=0) -> int {
        %k
      }

      def @main.fn_2(%k: int, %n: int, captured=1) -> int {
        int_add(%k, %n)
      }

      def @apply<A>(%f: fn (A) -> A, %a: A) -> A {
        %f(%a)
      }
      "
    `);
  });

  test('a closure that measures a captured tensor gets what tells the size too', () => {
    const text = `def @main(%x: Tensor[(n,), float32]) -> fn () -> int {
      let %y: Tensor[((n + 1),), float32] = pad(%x, pads=[0, 1]);
      fn () { dim(%y, axis=0) }
    }`;
    expect(lift(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32]) -> fn () -> int {
        let %y: Tensor[((n + 1),), float32] = pad(%x, pads=[0, 1]);
        make_closure(@main.fn, %y, %x)
      }

      def @main.fn(%y: Tensor[((n + 1),), float32], %x: Tensor[(n,), float32], captured=2) -> int {
        dim(%y, axis=0)
      }
      "
    `);
  });

  test('closures inside closures, and one that is returned', () => {
    const text = `def @main(%x: int) -> fn (int) -> (fn () -> int) {
      fn (%y: int) { fn () { int_add(int_mul(%x, #2), %y) } }
    }`;
    expect(lift(text)).toMatchInlineSnapshot(`
      "def @main(%x: int) -> fn (int) -> fn () -> int {
        make_closure(@main.fn, %x)
      }

      def @main.fn(%y: int, %x: int, captured=1) -> fn () -> int {
        make_closure(@main.fn_1, %x, %y)
      }

      def @main.fn_1(%x: int, %y: int, captured=2) -> int {
        let %v0: int = int_mul(%x, #2);
        int_add(%v0, %y)
      }
      "
    `);
  });

  test('a symbol that nothing in the function tells comes with a tensor', () => {
    const text = `def @main(%x: Tensor[(n,), float32], %s: Tensor[(), float32]) {
      let %f = fn () { let %g = fn () { broadcast_to(%s, shape=[n]) }; @call(%g) };
      @call(%f)
    }
    def @call(%f: fn () -> Tensor[(?,), float32]) -> Tensor[(?,), float32] { %f() }`;
    expect(lift(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32], %s: Tensor[(), float32]) -> Tensor[(?,), float32] {
        let %f: fn () -> Tensor[(?,), float32] = make_closure(@main.fn, %s, %x);
        @call(%f)
      }

      def @main.fn(%s: Tensor[(), float32], %x: Tensor[(n,), float32], captured=2) -> Tensor[(?,), float32] {
        let %g: fn () -> Tensor[(n,), float32] = make_closure(@main.fn_1, %s, %x);
        @call(%g)
      }

      def @main.fn_1(%s: Tensor[(), float32], %x: Tensor[(n,), float32], captured=2) -> Tensor[(n,), float32] {
        broadcast_to(%s, shape=["n"])
      }

      def @call(%f: fn () -> Tensor[(?,), float32]) -> Tensor[(?,), float32] {
        %f()
      }
      "
    `);
  });

  test('polymorphic functions, around closures and inside', () => {
    const text = `def @main<A>(%a: A, %k: int) -> (fn () -> A, (A, int), (A, A)) {
      let %with = fn<B>(%b: B) -> (A, B) { (%a, %b) };
      let %both = fn () -> (A, A) { %with<A>(%a) };
      (fn () { %a }, %with<int>(%k), %both())
    }`;
    expect(lift(text)).toMatchInlineSnapshot(`
      "def @main<A>(%a: A, %k: int) -> (fn () -> A, (A, int), (A, A)) {
        let %v0: fn () -> A = make_closure<A>(@main.fn_2, %a);
        let %v1: (A, int) = @main.fn<A, int>(%k, %a);
        let %v2: (A, A) = @main.fn_1<A>(%a);
        (%v0, %v1, %v2)
      }

      def @main.fn<A, B>(%b: B, %a: A, captured=1) -> (A, B) {
        (%a, %b)
      }

      def @main.fn_1<A>(%a: A, captured=1) -> (A, A) {
        @main.fn<A, A>(%a, %a)
      }

      def @main.fn_2<A>(%a: A, captured=1) -> A {
        %a
      }
      "
    `);
  });

  test('nothing where no function is inside another', () => {
    const text = `def @main(%x: Tensor[(), float32]) -> Tensor[(), float32] { @other(relu(%x)) }
    def @other(%x: Tensor[(), float32]) -> Tensor[(), float32] { neg(%x) }`;
    const module = runPasses(inferModule(parseModule(text)), [inferTypes, toAnf]);
    expect(runPasses(module, [lambdaLift])).toBe(module);
  });
});

describe('what was lifted runs', () => {
  test('sizes that only a captured tensor tells', async () => {
    const { run } = await loadProgram(`
      def @main(%x: Tensor[(n,), float32], %y: Tensor[(m,), float32]) {
        let %f = fn () { let %g = fn () { reshape(%y, shape=[n, 2]) }; @call(%g) };
        @call(%f)
      }
      def @call(%f: fn () -> Tensor[(?, ?), float32]) -> Tensor[(?, ?), float32] { %f() }`);
    expect(await run('main', f32([2], 0, 0), f32([4], 1, 2, 3, 4))).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test('a polymorphic closure in a polymorphic function, called in a closure', async () => {
    const { run } = await loadProgram(`
      def @main(%k: int) -> ((int, int), (int, int)) { @twice<int>(%k, %k) }
      def @twice<A>(%a: A, %k: int) -> ((A, int), (A, A)) {
        let %with = fn<B>(%b: B) -> (A, B) { (%a, %b) };
        let %both = fn () -> (A, A) { %with<A>(%a) };
        (%with<int>(%k), @call<(A, A)>(%both))
      }
      def @call<A>(%f: fn () -> A) -> A { %f() }`);
    const pair = [0, 3, 3];
    expect(await run('main', 3)).toEqual([0, pair, pair]);
  });
});
