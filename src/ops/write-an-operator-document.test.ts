import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { INTRINSICS } from './formula/intrinsics.ts';
import { formula, indexExpression } from './index.ts';

const page = readFileSync(new URL('../../docs/write-an-operator.md', import.meta.url), 'utf8');

test.each([
  ['formula', '| of `formula` |', Object.keys(formula)],
  ['intrinsics', '| of `formula` |', Object.keys(INTRINSICS)],
  ['indexExpression', '| `constant(2,', Object.keys(indexExpression)],
])('the page on operators names all of %s', (_, first, names) => {
  const start = page.indexOf(first);
  const table = page.slice(start, page.indexOf('\n\n', start));
  const isNamed = (name: string): boolean => new RegExp(`\`[^\`]*\\b${name}\\b`).test(table);
  expect(start).toBeGreaterThan(0);
  expect(names.filter((name) => !isNamed(name))).toEqual([]);
});
