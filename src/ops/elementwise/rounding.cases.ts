import { FLOATS } from './number-dtypes.ts';
import { casesOfEach, type CasesOf, unary, unaryCases } from './elementwise.cases.ts';
import { ROUNDING_OPS } from './elementwise-unary.ts';

const HALVES = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 1e10, -3.7];

function ofClass(summary: string): CasesOf {
  return () => ({
    summary,
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

export const ROUNDING_CASES = casesOfEach(ROUNDING_OPS, {
  ceil: unary({
    summary: 'The least integer that is not below x, as a float.',
    range: [-20, 20],
  }),
  round: unary({
    summary: 'The nearest integer, as a float; halves go to the even one.',
    range: [-20, 20],
    cases: [{ title: 'halves', inputs: [{ dtype: 'float32', shape: [8], values: HALVES }] }],
  }),
  sign: unary({
    summary: '-1, 0 or 1. NaN stays NaN.',
  }),
  is_nan: ofClass('True where x is NaN.'),
  is_positive_infinity: ofClass('True where x is plus infinity.'),
});
