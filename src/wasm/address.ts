import { apply, type Expression, i32, select } from './expression.ts';

/** Bytes of an element of float32. */
export const FLOAT = 4;

/** An i32 times a constant. */
export const times = (value: Expression, factor: number): Expression =>
  apply('i32.mul', value, i32(factor));

/** The sum of two i32. */
export const plus = (a: Expression, b: Expression | number): Expression =>
  apply('i32.add', a, typeof b === 'number' ? i32(b) : b);

/** The lesser of two signed i32. */
export function lesser(value: Expression, limit: Expression | number): Expression {
  const most = typeof limit === 'number' ? i32(limit) : limit;
  return select(apply('i32.lt_s', value, most), value, most);
}
