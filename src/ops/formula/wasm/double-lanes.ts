import { apply, type Expression, vector } from '../../../wasm/expression.ts';

/** The same number in both lanes. */
export const both = (value: number): Expression => vector(new Float64Array(2).fill(value));

/** The sign of `x` given to a number that has none. */
export const signed = (size: Expression, x: Expression) => {
  const sign = vector(new BigInt64Array(2).fill(-(2n ** 63n)));
  return apply('v128.or', size, apply('v128.and', x, sign));
};
