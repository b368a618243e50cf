import { describe, expect, test } from 'vitest';
import type { CompileLimits } from '../core/limits/compile-limits.ts';
import { compileInSteps, finish } from './compile-in-steps.ts';
import { compile } from './compile.ts';
import { CompileBudget } from './ir/compile-budget.ts';
import { parseModule } from './ir/text/parse.ts';

const times = (count: number, write: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => write(i)).join('\n');

function outcomeOf(text: string, compileLimits?: CompileLimits): string {
  try {
    compile(parseModule(text, { file: 'test.ir' }), { compileLimits });
  } catch (thrown) {
    return String(thrown);
  }
  return 'compiled';
}

function stepsOf(text: string): number {
  const module = parseModule(text);
  const budget = new CompileBudget();
  finish(compileInSteps(module, {}, {}), (step) => budget.run(step));
  return budget.steps;
}

const pairs = (count: number): string => `def @main(%t0: Tensor[(1,), float32]) {
  ${times(count, (i) => `let %t${i + 1} = (%t${i}, %t${i});`)}
  %t${count}${'.0'.repeat(count)}
}`;

const doubling = (first: string, count: number): string => `def @main(%x: Tensor[(1,), float32]) {
  let %f0 = fn <A>(%a: A) { ${first} };
  ${times(count, (i) => `let %f${i + 1} = fn <A>(%a: A) { %f${i}(%f${i}(%a)) };`)}
  %f${count}(%x)
}`;

/** Clauses of which no two look for the same, with wildcards in between. */
function tuples(width: number, clauses: number): string {
  const places = [...Array.from({ length: width }).keys()];
  const pattern = (clause: number, i: number): string =>
    (clause * 7 + i * 3 + ((clause * i) % 5)) % 4 === 3
      ? '_'
      : `C${(clause * 7 + i * 5 + clause * i) % 3}`;
  return `type C { C0, C1, C2 }
def @main(${places.map((i) => `%p${i}: C`).join(', ')}, %x: Tensor[(), float32]) {
  match ((${places.map((i) => `%p${i}`).join(', ')})) {
    ${times(clauses, (c) => `(${places.map((i) => pattern(c, i)).join(', ')}) => add(%x, ${c}f),`)}
    _ => %x
  }
}`;
}

const literals = (clauses: number): string => `def @main(%i: int, %x: Tensor[(), float32]) {
  match (%i) {
    ${times(clauses, (i) => `#${i} => add(%x, ${i}f),`)}
    _ => %x
  }
}`;

const POLYMORPHIC_GRADIENT = `type Perfect[A] { Zero(A), Succ(Perfect[(A, A)]) }
def @sum<A>(%f: fn (A) -> Tensor[(), float32], %p: Perfect[A]) -> Tensor[(), float32] {
  match (%p) { Zero(%a) => %f(%a), Succ(%q) => @sum(fn (%r: (A, A)) { add(%f(%r.0), %f(%r.1)) }, %q) }
}
def @square(%a: Tensor[(), float32]) {
  @sum(fn (%x: Tensor[(), float32]) { mul(%x, %x) }, Succ(Zero((%a, %a))))
}
def @main(%a: Tensor[(), float32]) { gradient(@square)(%a) }`;

describe('what asks for far more than it shows', () => {
  test('types that are shared compile, and are refused where they are too large to be written', () => {
    expect(outcomeOf(pairs(12))).toBe('compiled');
    expect(outcomeOf(pairs(40))).toMatch(
      /^CompileLimitError: test\.ir:17:12: got a type of more than 100000 parts, expected fewer\. Put what repeats into an algebraic data type\.$/,
    );
  });

  test('polymorphic functions that call each other twice', () => {
    expect(outcomeOf(doubling('%a', 25))).toBe('compiled');
    expect(outcomeOf(doubling('(%a, %a)', 25))).toMatch(
      /^CompileLimitError: test\.ir:\d+:31: got a type of more than 100000 parts/,
    );
  });

  test('a match of a tuple of 40 with 120 clauses', () => {
    expect(outcomeOf(tuples(4, 12))).toBe('compiled');
    expect(outcomeOf(tuples(40, 120), { work: 100_000 })).toMatch(
      /^CompileLimitError: test\.ir:\d+:\d+: got \d+ steps of compiling, expected at most 100000\. If you trust the model, raise the limit: compileLimits: \{ work: \d+ \}, or --limit work=\d+\.$/,
    );
  });

  test('a match of literals takes steps for each of them, not for each pair', () => {
    expect(stepsOf(literals(200)) / stepsOf(literals(50))).toBeLessThan(4.5);
  });

  test('the gradient of recursion at ever new types, with its place', () => {
    expect(outcomeOf(POLYMORPHIC_GRADIENT)).toBe(
      'CompileLimitError: test.ir:3:53, @sum.fn: got more than 50000 parts of types that polymorphic functions are called at, expected recursion at the same types.',
    );
  });
});

test('what was compiled before changes no number of steps', () => {
  const text = `def @main(%x: Tensor[(n, k, 5), float32]) {
    let %y = concat(%x, slice(%x, starts=[0, 0, 0], ends=[7, 99, 5]), axis=0);
    reshape(%y, shape=[((n + min(n, 7)) * k), 5])
  }`;
  const first = stepsOf(text);
  expect([stepsOf(text), stepsOf(text)]).toEqual([first, first]);
});
