import type { OpDefinition } from '../define-op.ts';
import * as f from '../formula/build.ts';
import type { Expression } from '../formula/expression.ts';
import { defineElementwise } from './elementwise.ts';
import { defineUnary } from './elementwise-unary.ts';
import { FLOATS, NUMERIC } from './number-dtypes.ts';

function defineClass<const Name extends string>(
  name: Name,
  formula: Expression,
): OpDefinition<Name> {
  return defineElementwise({
    name,
    inputs: [{ name: 'x', dtypes: FLOATS }],
    output: () => 'bool',
    scalar: { formula },
  });
}

export const ROUNDING_OPS = [
  defineUnary({ name: 'ceil', dtypes: FLOATS, formula: f.ceil(f.X) }),
  defineUnary({ name: 'round', dtypes: FLOATS, formula: f.round(f.X) }),
  defineUnary({
    name: 'sign',
    dtypes: NUMERIC,
    formula: f.select(f.greater(f.X, 0), 1, f.select(f.less(f.X, 0), -1, f.X)),
  }),
  defineClass('is_nan', f.isNaN(f.X)),
  defineClass('is_positive_infinity', f.isPositiveInfinity(f.X)),
] as const;
