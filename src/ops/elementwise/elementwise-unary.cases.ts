import { casesOfEach, unary } from './elementwise.cases.ts';
import { UNARY_OPS } from './elementwise-unary.ts';

export const UNARY_CASES = casesOfEach(UNARY_OPS, {
  abs: unary({
    summary: 'The absolute value. That of -2^31 is -2^31.',
    cases: [
      { title: 'int32 limits', inputs: [{ dtype: 'int32', shape: [2], values: [-(2 ** 31), -7] }] },
    ],
  }),
  neg: unary({
    summary: 'Minus x. That of -2^31 is -2^31.',
  }),
  relu: unary({
    summary: 'max(x, 0). NaN stays NaN.',
  }),
  leaky_relu: unary({
    summary: 'x where x >= 0, else alpha * x.',
    cases: [
      {
        title: 'alpha 0.3',
        inputs: [{ dtype: 'float32', shape: [3, 17] }],
        attributes: { alpha: 0.3 },
      },
      {
        title: 'alpha above 1',
        inputs: [{ dtype: 'float32', shape: [9] }],
        attributes: { alpha: 1.5 },
      },
    ],
    badCases: [
      {
        title: 'alpha is a string',
        inputs: [{ dtype: 'float32', shape: [2] }],
        attributes: { alpha: 'small' },
      },
    ],
  }),
  sigmoid: unary({
    summary: '1 / (1 + exp(-x)).',
    range: [-10, 10],
    cases: [
      {
        title: 'far out',
        inputs: [{ dtype: 'float32', shape: [4], values: [-200, -90, 90, 200] }],
      },
    ],
  }),
  tanh: unary({
    summary: 'The hyperbolic tangent.',
    range: [-5, 5],
    cases: [
      {
        title: 'far out',
        inputs: [{ dtype: 'float32', shape: [4], values: [-1e6, -50, 50, 1e30] }],
      },
    ],
  }),
  exp: unary({
    summary: 'e to the power x.',
    cases: [
      { title: 'wide', inputs: [{ dtype: 'float32', shape: [5], values: [-80, -20, 0, 20, 80] }] },
    ],
  }),
  log: unary({
    summary: 'The natural logarithm; NaN of a negative number.',
    range: [1e-3, 100],
  }),
  sqrt: unary({
    summary: 'The square root. Of a negative number NaN on the host, undefined on WebGPU.',
    range: [0, 100],
  }),
  erf: unary({
    summary: 'The error function; on WebGPU within 3e-7.',
    range: [-4, 4],
    cases: [
      {
        title: 'small and far out',
        inputs: [{ dtype: 'float32', shape: [6], values: [-40, -6, -1e-4, 1e-4, 0.04, 40] }],
      },
    ],
  }),
  gelu: unary({
    summary:
      'x times the probability that a normal variable is below x; approximate tanh: by ' +
      '(1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.',
    range: [-5, 5],
    cases: [
      {
        title: 'tanh',
        inputs: [{ dtype: 'float32', shape: [9, 4], range: [-5, 5] }],
        attributes: { approximate: 'tanh' },
      },
      {
        title: 'far out by tanh',
        inputs: [{ dtype: 'float32', shape: [4], values: [-100, -20, 20, 100] }],
        attributes: { approximate: 'tanh' },
      },
    ],
    badCases: [
      {
        title: 'no such approximation',
        inputs: [{ dtype: 'float32', shape: [2] }],
        attributes: { approximate: 'sigmoid' },
      },
    ],
  }),
  floor: unary({
    summary: 'The largest integer that is not greater than x, as a float.',
    range: [-20, 20],
  }),
  clip: unary({
    summary: 'min(max(x, min), max). NaN stays NaN.',
    cases: [
      {
        title: 'relu6',
        inputs: [{ dtype: 'float32', shape: [3, 33], range: [-10, 10] }],
        attributes: { min: 0, max: 6 },
      },
      {
        title: 'int32',
        inputs: [{ dtype: 'int32', shape: [65], range: [-100, 100] }],
        attributes: { min: -10.5, max: 20 },
      },
      {
        title: 'min above max',
        inputs: [{ dtype: 'float32', shape: [5] }],
        attributes: { min: 1, max: -1 },
      },
    ],
    badCases: [
      {
        title: 'min is a list',
        inputs: [{ dtype: 'float32', shape: [2] }],
        attributes: { min: [0] },
      },
    ],
  }),
});
