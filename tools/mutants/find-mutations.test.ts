import { expect, test } from 'vitest';
import { findMutations } from './find-mutations.ts';

/** The mutated texts of a source by their mutator, in order. */
const textsOf = (source: string): string[] =>
  findMutations('example.ts', source).map(
    ({ kind, start, end, text }) => `${kind}: ${source.slice(0, start)}${text}${source.slice(end)}`,
  );

test.each([
  ['a + b;', ['arithmetic operator: a - b;']],
  ['a % b;', ['arithmetic operator: a * b;']],
  ['a >>> b;', ['bitwise operator: a << b;']],
  ['a < b;', ['equality operator: a <= b;', 'equality operator: a >= b;']],
  ['a === b;', ['equality operator: a !== b;']],
  ['a ?? b;', ['logical operator: a;', 'logical operator: b;']],
  ['a && b;', ['logical operator: a || b;']],
  ['a += b;', ['assignment operator: a -= b;']],
  ['f(true);', ['boolean literal: f(false);']],
  ["f('a');", ["string literal: f('');"]],
  ['f(`a${b}`);', ['string literal: f(``);']],
  ["a + 'b';", ["string literal: a + '';"]],
  ['f([a]);', ['array declaration: f([]);']],
  ['f(-a);', ['unary operator: f(a);']],
  ['f(!a);', ['unary operator: f(a);']],
  ['i++;', ['update operator: i--;']],
  ['--i;', ['update operator: ++i;']],
  ['a?.b;', ['optional chaining: a.b;']],
  ['a?.[i];', ['optional chaining: a[i];']],
  ['a?.(i);', ['optional chaining: a(i);']],
  ['Math.min(a);', ['method expression: Math.max(a);']],
  ['a.some(f);', ['method expression: a.every(f);']],
  ['a.slice(1).b;', ['method expression: a.b;']],
  ['a.sort(f);', ['method expression: a;']],
  ['const f = () => a;', ['arrow function: const f = () => undefined;']],
  ['while (a) f();', ['conditional expression: while (false) f();']],
  ['for (;a;) f();', ['conditional expression: for (;false;) f();']],
  [
    'a ? b : c;',
    ['conditional expression: true ? b : c;', 'conditional expression: false ? b : c;'],
  ],
  [
    'if (a) { f(); }',
    [
      'conditional expression: if (true) { f(); }',
      'conditional expression: if (false) { f(); }',
      'block statement: if (a) {}',
    ],
  ],
])('%s', (source, expected) => {
  expect(textsOf(source)).toEqual(expected);
});

test.each([
  "import a from './a.ts'; export { b } from './b.ts'; export * from './c.ts';",
  "type A = 'a' | [true]; interface B { readonly c: 'c' } declare const d: 'd';",
  "/** It is `a` + 'b'. */\nlet a: 'a' | undefined; // a && b",
  "const later = import('./a.ts');",
  "'use strict';",
  "const a = { 'b': c }; a['b'];",
  "throw internalError('nothing ' + a);",
  'class A { b; c() {} }',
])('%s has nothing to mutate', (source) => {
  expect(textsOf(source)).toEqual([]);
});

test('expressions in what says a type are mutated', () => {
  expect(textsOf("f(['a'] as const satisfies A);")).toEqual([
    'array declaration: f([] as const satisfies A);',
    "string literal: f([''] as const satisfies A);",
  ]);
});
