import { apply, type Expression } from './expression.ts';

/** Of four floats each. */
export const add = (a: Expression, b: Expression) => apply('f32x4.add', a, b);

/** Of four floats each. */
export const sub = (a: Expression, b: Expression) => apply('f32x4.sub', a, b);

/** Of four floats each. */
export const mul = (a: Expression, b: Expression) => apply('f32x4.mul', a, b);
