import { expect, test } from 'vitest';
import { apply, type Expression, f32x4, local } from './expression.ts';
import { inTurns, listsFor } from './in-turns.ts';
import { set, type Statement } from './statement.ts';

/** So many sums, each of which waits for the one before, or all of the same number. */
function sums(count: number, isChain: boolean): Statement[] {
  const first = local('v128');
  let last: Expression = first;
  return [
    set(first, f32x4(1)),
    ...Array.from({ length: count }, () => {
      const target = local('v128');
      const statement = set(target, apply('f32x4.add', isChain ? last : first, first));
      last = target;
      return statement;
    }),
  ];
}

test('long paths go by turns', () => {
  const [a, b] = [sums(20, true), sums(20, true)];
  expect(inTurns([a, b]).slice(0, 4)).toEqual([a[0], b[0], a[1], b[1]]);
  expect(inTurns([a, b])).toHaveLength(42);
});

test.each([
  { what: 'a short path', count: 5, isChain: true },
  { what: 'sums of one number', count: 40, isChain: false },
])('lists of $what stay as they are', ({ count, isChain }) => {
  const lists = [sums(count, isChain), sums(count, isChain)];
  expect(inTurns(lists)).toEqual(lists.flat());
});

test('more lists of what waits all the time', () => {
  const chain = sums(20, true);
  // Each sum with a second one that nothing waits for.
  const beside = chain.flatMap((statement) => [statement, ...sums(1, true)]);
  expect(listsFor(chain)).toBe(6);
  expect(listsFor(beside)).toBe(4);
  expect(listsFor(sums(5, true))).toBe(4);
});
