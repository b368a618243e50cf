import type { OpDefinition } from '../define-op.ts';
import * as f from '../formula/build.ts';
import type { Expression } from '../formula/expression.ts';
import { defineElementwise } from './elementwise.ts';
import { defineUnary, unaryCases } from './elementwise-unary.ts';
import { FLOATS, NUMERIC } from './number-dtypes.ts';

const HALVES = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 1e10, -3.7];

const ceil = defineUnary({
  name: 'ceil',
  summary: 'The least integer that is not below x, as a float.',
  dtypes: FLOATS,
  range: [-20, 20],
  formula: f.ceil(f.X),
});

const round = defineUnary({
  name: 'round',
  summary: 'The nearest integer, as a float; halves go to the even one.',
  dtypes: FLOATS,
  range: [-20, 20],
  formula: f.round(f.X),
  cases: [{ title: 'halves', inputs: [{ dtype: 'float32', shape: [8], values: HALVES }] }],
});

const sign = defineUnary({
  name: 'sign',
  summary: '-1, 0 or 1. NaN stays NaN.',
  dtypes: NUMERIC,
  formula: f.select(f.greater(f.X, 0), 1, f.select(f.less(f.X, 0), -1, f.X)),
});

interface ClassSpec {
  readonly name: string;
  readonly summary: string;
  readonly formula: Expression;
}

function defineClass({ name, summary, formula }: ClassSpec): OpDefinition {
  return defineElementwise({
    name,
    summary,
    inputs: [{ name: 'x', dtypes: FLOATS }],
    output: () => 'bool',
    scalar: { formula },
    cases: () => [
      ...unaryCases(FLOATS, undefined),
      {
        title: 'NaN, infinities and what is next to them',
        inputs: [
          {
            dtype: 'float32',
            shape: [7],
            values: [Number.NaN, Infinity, -Infinity, 3.4028234663852886e38, 0, -0, 1],
          },
        ],
      },
    ],
    badCases: () => [{ title: 'bad dtype', inputs: [{ dtype: 'int32', shape: [2] }] }],
  });
}

const isNaNOp = defineClass({
  name: 'is_nan',
  summary: 'Whether x is NaN.',
  formula: f.isNaN(f.X),
});

const isPositiveInfinity = defineClass({
  name: 'is_positive_infinity',
  summary: 'Whether x is plus infinity.',
  formula: f.isPositiveInfinity(f.X),
});

export const ROUNDING_OPS: readonly OpDefinition[] = [
  ceil,
  round,
  sign,
  isNaNOp,
  isPositiveInfinity,
];
