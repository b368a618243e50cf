import { expect, test } from 'vitest';
import * as build from './build.ts';
import { IndexEvaluator } from './evaluate.ts';
import type { IndexExpression } from './expression.ts';

const u32 = (value: number) => build.constant(value, 'u32');
const i32 = (value: number) => build.constant(value, 'i32');
const noInput = () => ({ elements: [], strides: [] });
const valueOf = (expression: IndexExpression) => new IndexEvaluator(0, noInput).watch(expression)();

test.each<[string, IndexExpression, number]>([
  ['an unsigned difference wraps', build.sub(u32(1), u32(2)), 2 ** 32 - 1],
  ['an unsigned sum wraps', build.add(u32(2 ** 32 - 1), u32(3)), 2],
  ['a signed sum wraps', build.add(i32(2 ** 31 - 1), i32(1)), -(2 ** 31)],
  ['a product has its low 32 bits', build.mul(u32(2 ** 31 + 1), u32(2 ** 31 + 3)), 3],
  ['the product with minus one', build.mul(u32(5), u32(2 ** 32 - 1)), 2 ** 32 - 5],
  ['a quotient rounds towards zero', build.div(i32(-7), i32(2)), -3],
  ['a large unsigned quotient', build.div(u32(2 ** 32 - 1), u32(2)), 2 ** 31 - 1],
  ['a quotient by zero', build.div(u32(7), u32(0)), 7],
  ['a remainder has the sign of the first', build.rem(i32(-7), i32(4)), -3],
  ['a remainder by zero', build.rem(u32(7), u32(0)), 0],
  ['no negative zero', build.rem(i32(-4), i32(4)), 0],
  ['bits as unsigned', build.wrapped(i32(-1)), 2 ** 32 - 1],
  ['bits as signed', build.toSigned(u32(2 ** 32 - 2)), -2],
  ['unsigned numbers compare as such', build.less(build.wrapped(i32(-1)), u32(5)), 0],
  ['signed numbers compare as such', build.less(i32(-1), i32(5)), 1],
  ['the least number has no absolute value', build.abs(i32(-(2 ** 31))), -(2 ** 31)],
  ['clamp', build.clamp(i32(9), i32(0), i32(4)), 4],
  ['select', build.select(build.equal(i32(1), i32(2)), u32(3), u32(4)), 4],
])('%s', (_, expression, expected) => {
  expect(valueOf(expression)).toBe(expected);
});

test('values follow the coordinates that they depend on', () => {
  const [row, column] = [0, 1].map(
    (axis): IndexExpression<'u32'> => ({ kind: 'coordinate', axis, type: 'u32' }),
  );
  if (row === undefined || column === undefined) throw new Error('no coordinates');
  const element: IndexExpression<'i32'> = {
    kind: 'element',
    input: 0,
    operands: [row, column],
    type: 'i32',
  };
  const elements = BigInt64Array.of(1n, 2n, 3n, -(2n ** 40n));
  const evaluator = new IndexEvaluator(2, () => ({ elements, strides: [2, 1] }));
  const values = [build.mul(row, u32(10)), element, build.add(row, column)].map((expression) =>
    evaluator.watch(expression),
  );
  const seen = [values.map((value) => value())];
  const moves = [
    [1, 1],
    [0, 1],
    [1, 1],
  ] as const;
  for (const [axis, coordinate] of moves) {
    evaluator.move(axis, coordinate);
    seen.push(values.map((value) => value()));
  }
  expect(seen).toEqual([
    [0, 1, 0],
    [0, 2, 1],
    [10, 3, 1],
    [10, -(2 ** 31), 2],
  ]);
});
