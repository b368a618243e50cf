import { expect, test } from 'vitest';
import { compile, OPTIONAL_PASSES } from '../compile.ts';
import { inferModule } from '../inference/infer-module.ts';
import { callFunction, func, ifElse, int, letIn, moduleOf, call, variableOf } from '../ir/build.ts';
import { parseModule } from '../ir/text/parse.ts';
import { printModule } from '../ir/text/print.ts';
import { equalModules } from '../ir/walk/structural-equal.ts';
import { INT_TYPE } from '../ir/type.ts';
import { f32, loadProgram } from '../testing/load-program.ts';
import { verifyModule } from '../verify/verify-module.ts';

/** Programs with what `main` gives for arguments. */
const PROGRAMS: readonly [string, string, readonly (number | ReturnType<typeof f32>)[], unknown][] =
  [
    [
      'what is around is read, and the last call takes no stack',
      `def @main(%n: int, %by: int) {
      let %go = fn (%k: int, %s: int) -> int {
        if (%k) { %go(int_sub(%k, #1), int_add(%s, %by)) } else { %s }
      };
      %go(%n, #0)
    }`,
      [200_000, 2],
      400_000,
    ],
    [
      'types that nothing declares',
      `def @main(%n: int) {
      let %fib = fn (%k) {
        if (int_lt(%k, #2)) { %k } else { int_add(%fib(int_sub(%k, #1)), %fib(int_sub(%k, #2))) }
      };
      %fib(%n)
    }`,
      [10],
      55,
    ],
    [
      'sizes that nothing names',
      `def @main(%x: Tensor[(n,), float32], %k: int) -> Tensor[(?,), float32] {
      let %grow = fn (%i: int, %y: Tensor[(?,), float32]) -> Tensor[(?,), float32] {
        if (%i) { %grow(int_sub(%i, #1), concat(%y, %x, axis=0)) } else { %y }
      };
      %grow(%k, %x)
    }`,
      [f32([2], 1, 2), 2],
      [1, 2, 1, 2, 1, 2],
    ],
    [
      'each call may have other sizes',
      `def @main(%x: Tensor[(n,), float32]) {
      let %grow = fn (%k: int, %y: Tensor[(m,), float32]) -> Tensor[(?,), float32] {
        if (%k) {
          %grow(int_sub(%k, #1), reshape(concat(%y, full(shape=[m], value=1, dtype="float32"), axis=0), shape=[2 * m]))
        } else { %y }
      };
      %grow(#2, %x)
    }`,
      [f32([1], 5)],
      [5, 1, 1, 1],
    ],
    [
      'a size that a let names and an attribute alone mentions',
      `def @main(%x: Tensor[(n,), float32]) {
      let %i: Tensor[(1, k), int64] = nonzero(%x);
      let %go = fn (%j: int) -> Tensor[(k,), float32] {
        if (%j) { add(%go(int_sub(%j, #1)), full(shape=[k], value=1, dtype="float32")) }
        else { full(shape=[k], value=0, dtype="float32") }
      };
      %go(#3)
    }`,
      [f32([3], 1, 0, 2)],
      [3, 3],
    ],
    [
      'in a function of any type',
      `def @last<A>(%l: List[A], %d: A) -> A {
      let %go = fn (%r: List[A], %b: A) -> A {
        match (%r) { Nil => %b, Cons(%h, %t) => %go(%t, %h) }
      };
      %go(%l, %d)
    }
    def @main(%x: Tensor[(n,), float32]) {
      (@last(Cons(%x, Cons(neg(%x), Nil)), %x), @last(Cons(#1, Nil), #0))
    }`,
      [f32([1], 1)],
      [0, [-1], 1],
    ],
    [
      'one in another, which calls both',
      `def @main(%n: int, %x: int) {
      let %outer = fn (%i: int, %a: int) -> int {
        let %inner = fn (%j: int, %b: int) -> int {
          if (%j) { %inner(int_sub(%j, #1), int_add(%b, %x)) }
          else if (%i) { %outer(int_sub(%i, #1), %b) } else { %b }
        };
        %inner(%i, %a)
      };
      %outer(%n, #0)
    }`,
      [3, 2],
      12,
    ],
    [
      'as a value, and under the name of another',
      `def @main(%n: int) {
      let %f = fn (%k: int) { int_mul(%k, #100) };
      let %r = {
        let %f = fn (%k: int) -> int { if (%k) { int_add(#1, %f(int_sub(%k, #1))) } else { #0 } };
        @foldl(fn (%s: int, %k: int) { int_add(%s, %k) }, #0, @map(%f, Cons(%n, Cons(#4, Nil))))
      };
      (%r, %f(%n))
    }`,
      [3],
      [0, 7, 300],
    ],
    [
      'its gradient',
      `def @main(%w: Tensor[(n,), float32]) {
      gradient(fn (%v: Tensor[(n,), float32]) {
        let %power = fn (%k: int, %a: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
          if (%k) { %power(int_sub(%k, #1), mul(%a, %v)) } else { %a }
        };
        reduce_sum(%power(#2, %v), axes=[0], keepdims=false)
      })(%w)
    }`,
      [f32([2], 1, 2)],
      [0, 9, [0, [3, 12]]],
    ],
  ];

test.each(PROGRAMS)(
  'a function that calls itself by its let: %s',
  async (_, text, args, expected) => {
    const module = parseModule(text);
    verifyModule(module);
    expect(equalModules(parseModule(printModule(module)), module)).toBe(true);
    for (const without of [[], OPTIONAL_PASSES.filter((name) => name !== 'liveness')]) {
      const { run, executable } = await loadProgram(text, { without });
      expect(await run('main', ...args)).toEqual(expected);
      expect(executable.functions.find(({ name }) => name === 'main')?.signature).toBeDefined();
    }
  },
);

test('made with the builder', async () => {
  const [n, k, go] = [variableOf('n', INT_TYPE), variableOf('k', INT_TYPE), variableOf('go')];
  const less = call('int_sub', [k, int(1)]);
  const step = ifElse(k, call('int_add', [callFunction(go, [less]), int(2)]), int(0));
  const main = func([n], letIn(go, func([k], step), callFunction(go, [n])));
  const module = moduleOf({ main });
  verifyModule(module);
  expect(compile(module).functions.map(({ name }) => name)).toEqual(['main', 'main.go']);
  expect(inferModule(inferModule(module))).toEqual(inferModule(module));
});

test('a let of another value does not see itself', () => {
  const text = 'def @main(%n: int) { let %x = int_add(%x, #1); %x }';
  expect(() => parseModule(text)).toThrow('got "%x", expected a variable that is in scope');
});

test('a mistake in the call of itself has its place', () => {
  const text = 'def @main(%n: int) {\n  let %f = fn (%k: int) -> int { %f(%k, %k) };\n  %f(%n)\n}';
  expect(() => inferModule(parseModule(text))).toThrow('ir:2:34: got 2 arguments, expected 1.');
});
