import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../core/random.ts';
import {
  call,
  callFunction,
  construct,
  func,
  global,
  int,
  letIn,
  moduleOf,
  tuple,
  variable,
  variableOf,
} from '../ir/build.ts';
import type { Expr, Module } from '../ir/expr.ts';
import { parseModule } from '../ir/text/parse.ts';
import { printModule } from '../ir/text/print.ts';
import { randomModule } from '../testing/random-module.ts';
import { formatType, type Type } from '../ir/type.ts';
import { postOrder } from '../ir/walk/visit.ts';
import { TypeInference } from './type-inference.ts';
import { isElaborated } from './elaborate.ts';
import { inferModule } from './infer-module.ts';

const infer = (text: string): Module => inferModule(parseModule(text, { file: 'test.ir' }));
const typed = (text: string): string => printModule(infer(text));

/** The heads of the functions of a module after inference. */
function signatures(text: string): string {
  const module = infer(text);
  const types = new TypeInference(module);
  return [...module.functions]
    .map(([name, fn]) => `@${name}: ${formatType(types.of(fn))}`)
    .join('\n');
}

function errorOf(text: string): string {
  const module = parseModule(text, { file: 'test.ir' });
  try {
    inferModule(module, { texts: new Map([['test.ir', text]]) });
  } catch (thrown) {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  }
  return 'no error';
}

describe('what is written down', () => {
  test('closures, polymorphic map and fold', () => {
    expect(
      typed(`
        def @main(%xs: List[Tensor[(4), float32]]) {
          @foldl(
            fn (%a, %b) { add(%a, %b) },
            0f,
            @map(fn (%x) { let %y = relu(%x); reduce_sum(%y, axes=[0]) }, %xs)
          )
        }
      `),
    ).toMatchInlineSnapshot(`
      "type List[A] { Cons(A, List[A]), Nil }

      def @main(%xs: List[Tensor[(4,), float32]]) -> Tensor[(), float32] {
        %0 = fn (%a: Tensor[(), float32], %b: Tensor[(), float32]) -> Tensor[(), float32] {
          add(%a, %b)
        };
        %1 = fn (%x: Tensor[(4,), float32]) -> Tensor[(), float32] {
          let %y: Tensor[(4,), float32] = relu(%x);
          reduce_sum(%y, axes=[0])
        };
        %2 = @map<Tensor[(4,), float32], Tensor[(), float32]>(%1, %xs);
        @foldl<Tensor[(), float32], Tensor[(), float32]>(%0, 0f, %2)
      }

      def @map<A, B>(%f: fn (A) -> B, %list: List[A]) -> List[B] {
        %0 = @map_onto<A, B>(%f, %list, Nil<B>());
        @reverse<B>(%0)
      }

      def @map_onto<A, B>(%f: fn (A) -> B, %list: List[A], %mapped: List[B]) -> List[B] {
        match (%list) {
          Cons(%head: A, %tail: List[A]) => {
            %0 = %f(%head);
            %1 = Cons<B>(%0, %mapped);
            @map_onto<A, B>(%f, %tail, %1)
          },
          Nil => %mapped,
        }
      }

      def @foldl<A, B>(%f: fn (A, B) -> A, %initial: A, %list: List[B]) -> A {
        match (%list) {
          Cons(%head: B, %tail: List[B]) => {
            %0 = %f(%initial, %head);
            @foldl<A, B>(%f, %0, %tail)
          },
          Nil => %initial,
        }
      }

      def @reverse<A>(%list: List[A]) -> List[A] {
        @reverse_onto<A>(%list, Nil<A>())
      }

      def @reverse_onto<A>(%list: List[A], %rest: List[A]) -> List[A] {
        match (%list) {
          Cons(%head: A, %tail: List[A]) => {
            %0 = Cons<A>(%head, %rest);
            @reverse_onto<A>(%tail, %0)
          },
          Nil => %rest,
        }
      }
      "
    `);
  });

  test('polymorphic functions as values are wrapped, so that only calls have type arguments', () => {
    expect(
      typed(`
        def @id<A>(%x: A) -> A { %x }
        def @main(%xs: List[int]) -> (List[int], List[Option[int]]) {
          let %f = fn<B>(%y: B) -> B { @id(%y) };
          (@map(%f, @map(@id, %xs)), @map(Some, %xs))
        }
      `),
    ).toMatchInlineSnapshot(`
      "type List[A] { Cons(A, List[A]), Nil }

      type Option[A] { Some(A), None }

      def @id<A>(%x: A) -> A {
        %x
      }

      def @main(%xs: List[int]) -> (List[int], List[Option[int]]) {
        let %f: fn<B> (B) -> B = fn<B>(%y: B) -> B {
          @id<B>(%y)
        };
        %0 = fn (%a0: int) -> int {
          %f<int>(%a0)
        };
        %1 = fn (%a0_1: int) -> int {
          @id<int>(%a0_1)
        };
        %2 = @map<int, int>(%1, %xs);
        %3 = @map<int, int>(%0, %2);
        %4 = fn (%a0_2: int) -> Option[int] {
          Some<int>(%a0_2)
        };
        %5 = @map<int, Option[int]>(%4, %xs);
        (%3, %5)
      }

      def @map<A, B>(%f: fn (A) -> B, %list: List[A]) -> List[B] {
        %0 = @map_onto<A, B>(%f, %list, Nil<B>());
        @reverse<B>(%0)
      }

      def @map_onto<A, B>(%f: fn (A) -> B, %list: List[A], %mapped: List[B]) -> List[B] {
        match (%list) {
          Cons(%head: A, %tail: List[A]) => {
            %0 = %f(%head);
            %1 = Cons<B>(%0, %mapped);
            @map_onto<A, B>(%f, %tail, %1)
          },
          Nil => %mapped,
        }
      }

      def @reverse<A>(%list: List[A]) -> List[A] {
        @reverse_onto<A>(%list, Nil<A>())
      }

      def @reverse_onto<A>(%list: List[A], %rest: List[A]) -> List[A] {
        match (%list) {
          Cons(%head: A, %tail: List[A]) => {
            %0 = Cons<A>(%head, %rest);
            @reverse_onto<A>(%tail, %0)
          },
          Nil => %rest,
        }
      }
      "
    `);
  });

  test('a second time nothing changes', () => {
    const module = infer(`
      def @id<A>(%x: A) -> A { %x }
      def @main(%xs: List[int]) {
        let %f = fn<B>(%y: B) -> B { %y };
        let %g = fn (%y: Tensor[(m), float32]) { concat(%y, %y, axis=0) };
        (@map(%f, %xs), %g([1f]), @map(@id, %xs), @length(Nil))
      }
    `);
    expect(inferModule(module)).toBe(module);
    expect(isElaborated(module)).toBe(true);
  });

  test('random modules, and their nodes by themselves have the same types', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const module = randomModule({ random: seededRandom(seed), annotated: true });
      const inferred = inferModule(module);
      expect(isElaborated(inferred)).toBe(true);
      expect(inferModule(inferred)).toBe(inferred);
      const types = new TypeInference(inferred);
      for (const fn of inferred.functions.values()) {
        for (const expr of postOrder(fn.body)) {
          if (expr.kind !== 'operator') expect(formatType(types.of(expr))).not.toContain('_');
        }
        if (fn.resultType !== undefined) {
          expect(formatType(types.of(fn.body))).toBe(formatType(fn.resultType));
        }
      }
    }
  });
});

describe('signatures', () => {
  test('mutual recursion without annotated results', () => {
    expect(
      signatures(`
        def @main(%n: int) { @even(%n) }
        def @even(%n: int) { if (int_eq(%n, #0)) { #1 } else { @odd(int_sub(%n, #1)) } }
        def @odd(%n: int) { if (int_eq(%n, #0)) { #0 } else { @even(int_sub(%n, #1)) } }
      `),
    ).toMatchInlineSnapshot(`
      "@main: fn (int) -> int
      @even: fn (int) -> int
      @odd: fn (int) -> int"
    `);
  });

  test('symbols through matmul, concat and calls', () => {
    expect(
      signatures(`
        def @twice(%x: Tensor[(n, k), float32]) { concat(%x, %x, axis=0) }
        def @main(%a: Tensor[(b, m), float32], %w: Tensor[(m, 8), float32]) {
          let %y = matmul(%a, %w);
          (%y, @twice(%y), @twice(@twice(%a)), @twice([[1f, 2f]]))
        }
      `),
    ).toMatchInlineSnapshot(`
      "@twice: fn (Tensor[(n, k), float32]) -> Tensor[((n * 2), k), float32]
      @main: fn (Tensor[(b, m), float32], Tensor[(m, 8), float32]) -> (Tensor[(b, 8), float32], Tensor[((b * 2), 8), float32], Tensor[((b * 4), m), float32], Tensor[(2, 2), float32])"
    `);
  });

  test('a closure has symbols of its own and those around it', () => {
    expect(
      signatures(`
        def @main(%x: Tensor[(n), float32]) {
          let %f = fn (%y: Tensor[(m), float32]) { concat(%x, %y, axis=0) };
          (%f, %f([1f, 2f]), %f(%x), %f(%f(%x)))
        }
      `),
    ).toMatchInlineSnapshot(
      `"@main: fn (Tensor[(n,), float32]) -> (fn (Tensor[(?,), float32]) -> Tensor[(?,), float32], Tensor[((n + 2),), float32], Tensor[((n * 2),), float32], Tensor[((n * 3),), float32])"`,
    );
  });

  test('data types: a tree of tensors of unknown lengths', () => {
    expect(
      signatures(`
        def @sum(%tree: Tree[Tensor[(?), float32]]) -> Tensor[(), float32] {
          match (%tree) {
            Rose(%value, %children) =>
              add(reduce_sum(%value, axes=[0]), @foldl(fn (%a, %b) { add(%a, %b) }, 0f, @map(@sum, %children)))
          }
        }
        def @main(%x: Tensor[(n), float32]) {
          @sum(Rose([1f], Cons(Rose(%x, Nil), Cons(Rose([1f, 2f], Nil), Nil))))
        }
      `),
    ).toMatchInlineSnapshot(`
      "@sum: fn (Tree[Tensor[(?,), float32]]) -> Tensor[(), float32]
      @main: fn (Tensor[(n,), float32]) -> Tensor[(), float32]
      @map: fn<A, B> (fn (A) -> B, List[A]) -> List[B]
      @map_onto: fn<A, B> (fn (A) -> B, List[A], List[B]) -> List[B]
      @foldl: fn<A, B> (fn (A, B) -> A, A, List[B]) -> A
      @reverse: fn<A> (List[A]) -> List[A]
      @reverse_onto: fn<A> (List[A], List[A]) -> List[A]"
    `);
  });

  test('a function that returns a function', () => {
    expect(
      signatures(`
        def @compose<A, B, C>(%f: fn (B) -> C, %g: fn (A) -> B) -> fn (A) -> C {
          fn (%x) { %f(%g(%x)) }
        }
        def @main(%x: Tensor[(n), float32]) {
          let %h = @compose(fn (%t) { reduce_sum(%t, axes=[0]) }, fn (%t) { exp(%t) });
          %h(%x)
        }
      `),
    ).toMatchInlineSnapshot(`
      "@compose: fn<A, B, C> (fn (B) -> C, fn (A) -> B) -> fn (A) -> C
      @main: fn (Tensor[(n,), float32]) -> Tensor[(), float32]"
    `);
  });

  test('branches: one unknown dimension makes the result unknown', () => {
    expect(
      signatures(`
        def @main(%c: Tensor[(), bool], %x: Tensor[(4), float32], %y: Tensor[(?), float32]) {
          (if (%c) { %x } else { %y }, if (%c) { %y } else { %x }, if (#1) { Nil } else { Cons(%x, Nil) })
        }
      `),
    ).toMatchInlineSnapshot(
      `"@main: fn (Tensor[(), bool], Tensor[(4,), float32], Tensor[(?,), float32]) -> (Tensor[(?,), float32], Tensor[(?,), float32], List[Tensor[(4,), float32]])"`,
    );
  });

  test('the type of a variable names dimensions of its value', () => {
    expect(
      signatures(`
        def @f(%x: Tensor[(?), float32], %xs: List[Tensor[(?), float32]]) {
          let %y: Tensor[(k), float32] = %x;
          let %z: Tensor[(k * 2,), float32] = concat(%y, %y, axis=0);
          let %sum = match (%xs) {
            Cons(%head: Tensor[(m), float32], _) => add(%head, full(shape=[m], value=1, dtype="float32")),
            Nil => full(shape=[k], value=1, dtype="float32"),
          };
          (%z, add(%y, full(shape=[k], value=1, dtype="float32")), dim(%y, axis=0), %sum)
        }
        def @main(%x: Tensor[(n), float32]) { @f(%x, Nil) }
      `),
    ).toMatchInlineSnapshot(`
      "@f: fn (Tensor[(?,), float32], List[Tensor[(?,), float32]]) -> (Tensor[(?,), float32], Tensor[(?,), float32], int, Tensor[(?,), float32])
      @main: fn (Tensor[(n,), float32]) -> (Tensor[(?,), float32], Tensor[(?,), float32], int, Tensor[(?,), float32])"
    `);
  });

  test('integers and dimensions', () => {
    expect(
      signatures(`
        def @main(%x: Tensor[(n, 3), float32]) {
          let %f = fn (%i) { int_mul(%i, dim(%x, axis=0)) };
          %f(int_lt(dim(%x, axis=-1), #4))
        }
      `),
    ).toMatchInlineSnapshot(`"@main: fn (Tensor[(n, 3), float32]) -> int"`);
  });
});

describe('checks at run time', () => {
  const checksOf = (text: string): string[] => {
    const module = infer(text);
    const types = new TypeInference(module);
    return [...module.functions.values()].flatMap((fn) =>
      postOrder(fn).flatMap((expr) =>
        expr.kind === 'call' ? types.checks(expr).map(({ message }) => message) : [],
      ),
    );
  };

  test('of operators and of arguments', () => {
    expect(
      checksOf(`
        def @four(%x: Tensor[(4), float32]) -> Tensor[(4), float32] { %x }
        def @same(%x: Tensor[(k), float32], %y: Tensor[(k), float32]) -> Tensor[(k), float32] { %x }
        def @main(%x: Tensor[(n), float32], %y: Tensor[(m), float32], %z: Tensor[(?), float32]) {
          (add(%x, %y), @four(%x), @same(%x, %y), @same(%z, %x), @four(%z))
        }
      `),
    ).toMatchInlineSnapshot(`
      [
        "add: got (n,) and (m,), expected shapes that broadcast (dimension -1 is n and m). Dimensions must be equal or 1, aligned from the right.",
        "test.ir:5:25, argument 1: got dimension n, expected 4.",
        "test.ir:5:36, argument 2: got dimension m, expected n.",
        "test.ir:5:66, argument 1: got dimension ?, expected 4.",
      ]
    `);
  });

  test('none where equality is proved', () => {
    expect(
      checksOf(`
        def @even(%x: Tensor[(k), float32], %y: Tensor[((k * 2)), float32]) -> Tensor[(k), float32] { %x }
        def @main(%x: Tensor[(n), float32]) {
          let %y = concat(%x, %x, axis=0);
          (@even(%x, %y), add(%y, concat(%x, %x, axis=0)))
        }
      `),
    ).toEqual([]);
  });
});

describe('errors', () => {
  test('all of a module at once, in the order of the text', () => {
    expect(
      errorOf(`
def @main(%x: Tensor[(4), float32], %i: int) {
  let %a = add(%x, [1f, 2f]);
  let %b = @missing_argument(%x);
  let %c = relu(%i);
  (%a, %b, %c, if (%x) { %x } else { %i }, %x.0)
}
def @missing_argument(%x: Tensor[(4), float32], %y: int) -> int { %y }
`),
    ).toMatchInlineSnapshot(`
      "TypeCheckError: test.ir:3:12: add: got (4,) and (2,), expected shapes that broadcast (dimension -1 is 4 and 2). Dimensions must be equal or 1, aligned from the right.
      3 |   let %a = add(%x, [1f, 2f]);
        |            ^

      test.ir:4:12: got 1 argument, expected 2.
      4 |   let %b = @missing_argument(%x);
        |            ^

      test.ir:5:12, input 0: got int, expected a tensor. tensor_of(…, dtype="…") makes one of numbers of the host.
      5 |   let %c = relu(%i);
        |            ^

      test.ir:6:16, condition: got Tensor[(4,), float32], expected Tensor[(), bool] or int.
      6 |   (%a, %b, %c, if (%x) { %x } else { %i }, %x.0)
        |                ^

      test.ir:6:16, else: got int, expected Tensor[(4,), float32].
      6 |   (%a, %b, %c, if (%x) { %x } else { %i }, %x.0)
        |                ^

      test.ir:6:44: got field 0 of Tensor[(4,), float32], expected a tuple.
      6 |   (%a, %b, %c, if (%x) { %x } else { %i }, %x.0)
        |                                            ^"
    `);
  });

  test('more than twenty', () => {
    const lines = Array.from({ length: 25 }, (_, i) => `  let %v${i} = relu(#${i});`);
    const message = errorOf(`def @main() {\n${lines.join('\n')}\n  #0\n}`);
    const shown = message.match(/expected a tensor/g)?.length ?? 0;
    expect(shown).toBeGreaterThan(10);
    expect(message.endsWith(`and ${25 - shown} more errors`)).toBe(true);
    expect(message.length).toBeLessThanOrEqual(2000);
  });

  test('match: numbers of the host', () => {
    const text = (pattern: string, rest = ', _ => #0'): string =>
      `def @a(%i: int, %f: float, %t: Tensor[(), int32]) { match (${pattern}${rest} } }`;
    expect(errorOf(text('%i) { #3 => #1', ''))).toContain('got no clause for _, expected clauses');
    expect(errorOf(text('%f) { #3 => #1'))).toContain('clause 1: got float, expected int');
    expect(errorOf(text('%i) { #0.5 => #1'))).toContain('clause 1: got int, expected float');
    expect(errorOf(text('%t) { #3 => #1'))).toContain(
      'clause 1: got Tensor[(), int32], expected int',
    );
    expect(() => parseModule(text('%f) { #nan => #1'))).toThrow('a number: NaN equals nothing');
  });

  test('match: missing and wrong patterns', () => {
    expect(
      errorOf(`
def @a(%x: (List[int], Option[int])) -> int {
  match (%x) {
    (Cons(_, Cons(%h, _)), _) => %h,
    (Nil, Some(%v)) => %v,
    (_, None) => #0,
  }
}
def @b(%x: List[int]) -> int {
  match (%x) { Some(%v) => %v, None => #0 }
}
def @c(%x: List[int]) -> int {
  match (%x) { Cons(%v) => %v, Nil => #0 }
}
`),
    ).toMatchInlineSnapshot(`
      "TypeCheckError: test.ir:3:3: got no clause for (Cons(_, Nil), Some(_)), expected clauses for every value. Add one, or a clause for _.
      3 |   match (%x) {
        |   ^

      test.ir:10:3, clause 1: got List[int], expected Option[_].
      10 |   match (%x) { Some(%v) => %v, None => #0 }
         |   ^

      test.ir:10:3, clause 2: got List[int], expected Option[_].
      10 |   match (%x) { Some(%v) => %v, None => #0 }
         |   ^

      test.ir:13:3, clause 1: got Cons with 1 field, expected 2.
      13 |   match (%x) { Cons(%v) => %v, Nil => #0 }
         |   ^"
    `);
  });

  test('a type that would contain itself', () => {
    expect(errorOf('def @main() { fn (%f) { %f(%f) } }')).toMatchInlineSnapshot(`
      "TypeCheckError: test.ir:1:25: got _ where fn (_) -> _ is wanted, a type that would contain itself, expected a finite type. Annotate the parameters, or put the function into a data type.
      1 | def @main() { fn (%f) { %f(%f) } }
        |                         ^"
    `);
  });

  test('branches of different shapes', () => {
    expect(
      errorOf(`
def @main(%x: Tensor[(n), float32], %y: Tensor[(m), float32]) {
  if (#1) { %x } else { %y }
}
`),
    ).toMatchInlineSnapshot(`
      "TypeCheckError: test.ir:3:3, else: got Tensor[(m,), float32], expected Tensor[(n,), float32]. Declare a dimension as ? where it is known only when the program runs.
      3 |   if (#1) { %x } else { %y }
        |   ^"
    `);
  });

  test('type parameters are rigid', () => {
    expect(
      errorOf(`
def @f<A>(%x: A) -> A { relu(%x) }
def @g<A, B>(%x: A) -> B { %x }
`),
    ).toMatchInlineSnapshot(`
      "TypeCheckError: test.ir:2:25, input 0: got A, expected a tensor.
      2 | def @f<A>(%x: A) -> A { relu(%x) }
        |                         ^

      test.ir:3:14, result: got A, expected B.
      3 | def @g<A, B>(%x: A) -> B { %x }
        |              ^"
    `);
  });

  test('type parameters stay inside', () => {
    expect(
      errorOf(`
def @main(%i: int) {
  let %use = fn (%y) { %y };
  let %f = fn<A>(%x: A) -> A { %use(%x) };
  %f(%i)
}
`),
    ).toMatchInlineSnapshot(`
      "TypeCheckError: test.ir:3:3: got the type fn (A) -> A, expected a type without A, which only the polymorphic function inside knows.
      3 |   let %use = fn (%y) { %y };
        |   ^"
    `);
  });

  test('types that are not well-formed, calls of what is no function', () => {
    expect(
      errorOf(`

def @main(%f: fn<A>(A) -> A) {
  let %z: Tensor[((k + 1)), float32] = [1f];
  let %g = fn<A>(%x: A) -> A { fn<A>(%x: A) -> A { %x }(%x) };
  (%z.0, #1(#2), full(shape=[m], value=1, dtype="float32"))
}
`),
    ).toMatchInlineSnapshot(`
      "TypeCheckError: test.ir:3:5, parameter f: got the type of a polymorphic function, expected types without parameters of their own: only globals and let are polymorphic.
      3 | def @main(%f: fn<A>(A) -> A) {
        |     ^

      test.ir:4:3: got the dimension k, expected a symbol that a parameter or variable has as a dimension, or ?.
      4 |   let %z: Tensor[((k + 1)), float32] = [1f];
        |   ^

      test.ir:5:32: got the type parameter A again, expected another name than that of a function around it.
      5 |   let %g = fn<A>(%x: A) -> A { fn<A>(%x: A) -> A { %x }(%x) };
        |                                ^

      test.ir:6:10: got a call of int, expected a function.
      6 |   (%z.0, #1(#2), full(shape=[m], value=1, dtype="float32"))
        |          ^

      test.ir:6:18, attribute shape: got the dimension m, expected a symbol that a parameter or variable has as a dimension.
      6 |   (%z.0, #1(#2), full(shape=[m], value=1, dtype="float32"))
        |                  ^"
    `);
  });

  test('names that the module does not define', () => {
    const lost: Type = { kind: 'adt', name: 'Lost', args: [] };
    const free = variableOf('free');
    const body = tuple([callFunction(global('lost'), []), construct('Lost', []), free]);
    const module = moduleOf({ main: func([variableOf('x', lost)], body) });
    expect(() => inferModule(module)).toThrowErrorMatchingInlineSnapshot(`
      [TypeCheckError: @main, fn (%x), parameter x: got the type Lost, expected a type that the module defines.

      @main, @lost: got @lost, expected a function that the module defines.

      @main, Lost: got the constructor Lost, expected one that a type of the module has.

      @main, %free: got %free, which nothing binds here, expected a parameter, or a variable of a let or match around it.]
    `);
  });

  test('an operand may become wider before its rule is applied, and after', () => {
    expect(
      signatures(`
def @main(%a: Tensor[(4), float32], %b: Tensor[(?), float32]) {
  let %f = fn (%y) { exp(%y) };
  (%f(%a), %f(%b))
}
`),
    ).toMatchInlineSnapshot(
      `"@main: fn (Tensor[(4,), float32], Tensor[(?,), float32]) -> (Tensor[(?,), float32], Tensor[(?,), float32])"`,
    );
    expect(
      signatures(`
def @main(%x: Tensor[(n), float32], %l: List[Tensor[(?), float32]]) {
  relu(@foldl(fn (%a, %b) { concat(%a, neg(%b), axis=0) }, %x, %l))
}
`),
    ).toContain(
      '@main: fn (Tensor[(n,), float32], List[Tensor[(?,), float32]]) -> Tensor[(?,), float32]',
    );
    expect(
      errorOf(`
def @f(%a: Tensor[(4), float32], %i: int) { @g(%a, %i) }
def @g(%x, %i: int) { if (%i) { @f(exp(%x), %i) } else { @h(%x, %i) } }
def @h(%b: Tensor[(?), float32], %i: int) { @g(%b, %i) }
`),
    ).toMatchInlineSnapshot(`
      "TypeCheckError: test.ir:3:33, argument a: got Tensor[(?,), float32], expected Tensor[(4,), float32]. Annotate the result of @f, which calls itself.
      3 | def @g(%x, %i: int) { if (%i) { @f(exp(%x), %i) } else { @h(%x, %i) } }
        |                                 ^"
    `);
  });

  test('a name for two dimensions', () => {
    expect(
      errorOf(`
def @main(%x: Tensor[(?), float32], %i: int) {
  let %f = fn (%z: Tensor[(m), float32]) { %z };
  let %g = fn (%z: Tensor[(m), float32]) { %z };
  let %a: Tensor[(m), float32] = %f(%x);
  if (%i) { let %b: Tensor[(k), float32] = exp(%x); %b } else { let %c: Tensor[(k), float32] = %g(%a); %c }
}
`),
    ).toMatchInlineSnapshot(`
      "TypeCheckError: test.ir:5:3: got the dimension m, which names another one elsewhere in @main, expected a name of its own.
      5 |   let %a: Tensor[(m), float32] = %f(%x);
        |   ^

      test.ir:6:65: got the dimension k, which names another one elsewhere in @main, expected a name of its own.
      6 |   if (%i) { let %b: Tensor[(k), float32] = exp(%x); %b } else { let %c: Tensor[(k), float32] = %g(%a); %c }
        |                                                                 ^"
    `);
  });

  test('what cannot be inferred', () => {
    expect(errorOf('def @main() { fn (%x) { relu(%x) } }')).toMatchInlineSnapshot(`
      "TypeCheckError: test.ir:1:25: got an operand without a known type, expected one that can be inferred. Annotate the parameter or variable that it comes from.
      1 | def @main() { fn (%x) { relu(%x) } }
        |                         ^"
    `);
    expect(errorOf('def @main(%x) { %x }')).toMatchInlineSnapshot(`
      "TypeCheckError: test.ir:1:5: got parameter %x of @main as _, expected a type that can be inferred. Annotate it.
      1 | def @main(%x) { %x }
        |     ^

      test.ir:1:5: got the result of @main as _, expected a type that can be inferred. Annotate it.
      1 | def @main(%x) { %x }
        |     ^"
    `);
    expect(errorOf('def @loop(%x: int) { @loop(%x) }')).toMatchInlineSnapshot(`
      "TypeCheckError: test.ir:1:5: got the result of @loop as _, expected a type that can be inferred. Annotate it.
      1 | def @loop(%x: int) { @loop(%x) }
        |     ^"
    `);
  });

  test('results that promise more than is known', () => {
    expect(
      errorOf(`
def @f(%x: Tensor[(?), float32]) -> Tensor[(4), float32] { %x }
def @g(%x: Tensor[(n), float32]) -> Tensor[(n), float32] { concat(%x, [1f], axis=0) }
def @h(%x: Tensor[(n), float32]) -> Tensor[(m), float32] { %x }
def @i(%x: Tensor[((n + 1)), float32]) -> int { #0 }
`),
    ).toMatchInlineSnapshot(`
      "TypeCheckError: test.ir:2:8, result: got Tensor[(?,), float32], expected Tensor[(4,), float32]. Declare a dimension as ? where it is known only when the program runs.
      2 | def @f(%x: Tensor[(?), float32]) -> Tensor[(4), float32] { %x }
        |        ^

      test.ir:3:60, result: got Tensor[((n + 1),), float32], expected Tensor[(n,), float32]. Declare a dimension as ? where it is known only when the program runs.
      3 | def @g(%x: Tensor[(n), float32]) -> Tensor[(n), float32] { concat(%x, [1f], axis=0) }
        |                                                            ^

      test.ir:4:5: got the dimension m, expected a symbol that a parameter or variable has as a dimension, or ?.
      4 | def @h(%x: Tensor[(n), float32]) -> Tensor[(m), float32] { %x }
        |     ^

      test.ir:5:5, parameter x: got the dimension n, expected a symbol that a parameter or variable has as a dimension, or ?.
      5 | def @i(%x: Tensor[((n + 1)), float32]) -> int { #0 }
        |     ^"
    `);
  });

  test('recursion over dimensions wants an annotation', () => {
    const body = '{ if (#1) { exp(%x) } else { @f(concat(%x, %x, axis=0)) } }';
    expect(errorOf(`def @f(%x: Tensor[(n), float32]) ${body}`)).toMatchInlineSnapshot(`
      "TypeCheckError: test.ir:1:63, argument x: got Tensor[((n * 2),), float32], expected Tensor[(n,), float32]. Annotate the result of @f, which calls itself.
      1 | def @f(%x: Tensor[(n), float32]) { if (#1) { exp(%x) } else { @f(concat(%x, %x, axis=0)) } }
        |                                                               ^"
    `);
    expect(
      signatures(`def @f(%x: Tensor[(n), float32]) -> Tensor[(?), float32] ${body}`),
    ).toMatchInlineSnapshot(`"@f: fn (Tensor[(n,), float32]) -> Tensor[(?,), float32]"`);
  });

  test('a clause that is never reached is a warning', () => {
    const warnings: string[] = [];
    const text = 'def @main(%x: Option[int]) { match (%x) { Some(_) => #1, _ => #0, None => #2 } }';
    inferModule(parseModule(text), { onWarning: (message) => warnings.push(message) });
    expect(warnings).toMatchInlineSnapshot(`
      [
        "ir:1:30, clause 3: never reached, clauses before it cover it.",
      ]
    `);
  });
});

test('10,000 lets, operators and functions inside each other', () => {
  const x = variable('x', 'float32', ['n']);
  let chain: Expr = x;
  let lets: Expr = x;
  let nest: Expr = x;
  for (let i = 0; i < 10_000; i++) {
    chain = call('relu', [chain]);
    const v = variableOf('v');
    lets = letIn(v, call('relu', [x]), lets);
    nest = letIn(variableOf('f'), func([variableOf('y', { kind: 'tuple', fields: [] })], nest), x);
  }
  const module = inferModule(
    moduleOf({ chain: func([x], chain), lets: func([x], lets), nest: func([x], nest) }),
  );
  const types = new TypeInference(module);
  const results = [...module.functions.values()].map((fn) => formatType(types.of(fn.body)));
  expect(new Set(results)).toEqual(new Set(['Tensor[(n,), float32]']));
});

test('10,000 tuples inside each other are refused', () => {
  let nest: Expr = int(0);
  for (let i = 0; i < 10_000; i++) nest = tuple([nest]);
  expect(() => inferModule(moduleOf({ main: func([], nest) }))).toThrowErrorMatchingInlineSnapshot(
    `[TypeCheckError: @main, tuple: got a type more than 500 levels deep, expected one of fewer levels.]`,
  );
});

test('the bounds that a function declares decide what its operators prove', () => {
  const main = (bounds: string): string => `def @main(%x: Tensor[(n, 3), float32]${bounds}) {
    slice(%x, starts=[0, 0], ends=[2, 3], steps=[1, 1])
  }`;
  const resultOf = (text: string): string => {
    const type = inferModule(parseModule(text)).functions.get('main')?.resultType;
    return type === undefined ? 'none' : formatType(type);
  };
  expect(resultOf(main(''))).toBe('Tensor[(min(n, 2), 3), float32]');
  expect(resultOf(main(', bounds={n: (2, 7)}'))).toBe('Tensor[(2, 3), float32]');
});

describe('branches that differ in a size', () => {
  const branches = (result: string): string => `
    def @main(%x: Tensor[(n, 2), float32], %c: int)${result} {
      if (%c) { concat(%x, %x, axis=0) } else { %x }
    }`;

  test('have ? in common where that is declared', () => {
    const declared = ' -> Tensor[(?, 2), float32]';
    expect(signatures(branches(declared))).toMatchInlineSnapshot(
      `"@main: fn (Tensor[(n, 2), float32], int) -> Tensor[(?, 2), float32]"`,
    );
    const named = `def @main(%x: Tensor[(n,), float32], %c: int) -> (Tensor[(?,), float32], int) {
      let %y: Tensor[(k,), float32] = if (%c) { concat(%x, %x, axis=0) } else { %x };
      (add(%y, full(shape=[k], value=1)), match (%c) { _ => %c })
    }`;
    expect(signatures(named)).toMatchInlineSnapshot(
      `"@main: fn (Tensor[(n,), float32], int) -> (Tensor[(?,), float32], int)"`,
    );
  });

  test('are refused elsewhere', () => {
    const message = 'else: got Tensor[(n, 2), float32], expected Tensor[((n * 2), 2), float32]';
    expect(() => signatures(branches(''))).toThrow(message);
    expect(() => signatures(branches(' -> Tensor[(n, 2), float32]'))).toThrow(message);
    expect(() => signatures(branches(' -> Tensor[(n, ?), float32]'))).toThrow(
      'got Tensor[(?, 2), float32], expected Tensor[(n, ?), float32]',
    );
  });
});

test('a mistake in a function is none of its callers, nor of those beside it', () => {
  const text = `
    def @guess(%x: Tensor[(n, 10), float32]) { arg_max(%x, axis=1, keepdims=false) }
    def @twice(%x: Tensor[(n,), float32]) { add(%x, %x) }
    def @main(%x: Tensor[(4, 10), float32], %y: Tensor[(3,), float32]) {
      (relu(@guess(%x)), @twice(%y), @twice(reshape(%x, shape=[40])))
    }`;
  expect(errorOf(text)).toMatchInlineSnapshot(`
    "TypeCheckError: test.ir:2:48: arg_max: got attribute keepdims, expected one of axis, select_last.
    2 |     def @guess(%x: Tensor[(n, 10), float32]) { arg_max(%x, axis=1, keepdims=false) }
      |                                                ^"
  `);
});
