import { apply, type Expression, i32, select } from './expression.ts';

/** Bytes of an element of float32. */
export const FLOAT = 4;

/** An i32 times a constant. */
export const times = (value: Expression, factor: number): Expression =>
  apply('i32.mul', value, i32(factor));

/** The sum of two i32. */
export const plus = (a: Expression, b: Expression | number): Expression =>
  apply('i32.add', a, typeof b === 'number' ? i32(b) : b);

/** The lesser of a signed i32 and a constant. */
export const lesser = (value: Expression, limit: number): Expression =>
  select(apply('i32.lt_s', value, i32(limit)), value, i32(limit));
