import { expect, test } from 'vitest';
import * as build from './build.ts';
import { indexExpression } from './builders.ts';

test('users have the builders that the operators have', () => {
  const { typed: _, ...builders } = build;
  const { constant, ZERO } = build;
  const made = ({ all, select, abs, ...rest }: typeof indexExpression) => {
    const [a, b] = [constant(1, 'i32'), constant(2, 'i32')];
    const condition = rest.less(ZERO, rest.constant(3, 'u32'));
    const pairs = [rest.add, rest.sub, rest.mul, rest.div, rest.rem, rest.min].map((f) => f(a, b));
    const compared = [rest.lessEqual, rest.greaterEqual, rest.equal].map((f) => f(a, b));
    const chosen = [select(condition, a, b), all([condition]), all([]), rest.ZERO];
    const others = [abs(a), rest.clamp(a, a, b), rest.toSigned(ZERO), rest.toUnsigned(a)];
    return [pairs, compared, chosen, others, rest.wrapped(b)];
  };
  expect(Object.keys(indexExpression).sort()).toEqual(Object.keys(builders).sort());
  expect(made(indexExpression)).toEqual(made(builders));
});
