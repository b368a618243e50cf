import { casesOfEach, binary } from './elementwise.cases.ts';
import { BINARY_OPS } from './elementwise-binary.ts';

export const BINARY_CASES = casesOfEach(BINARY_OPS, {
  add: binary({
    summary: 'a + b. Integers wrap.',
    cases: [
      {
        // One dimension of workgroups holds at most 65,535, here of 64 elements each.
        title: 'more elements than one dimension of workgroups',
        inputs: [
          { dtype: 'float32', shape: [4_194_305] },
          { dtype: 'float32', shape: [] },
        ],
      },
      {
        title: 'int32 wraps',
        inputs: [
          { dtype: 'int32', shape: [2], values: [2 ** 31 - 1, -(2 ** 31)] },
          { dtype: 'int32', shape: [2], values: [1, -1] },
        ],
      },
    ],
  }),
  sub: binary({
    summary: 'a - b. Integers wrap.',
  }),
  mul: binary({
    summary: 'a * b. Integers wrap.',
    cases: [
      {
        title: 'int32 wraps',
        inputs: [
          { dtype: 'int32', shape: [2], values: [65_537, -123_456_789] },
          { dtype: 'int32', shape: [2], values: [65_537, 987_654_321] },
        ],
      },
    ],
  }),
  div: binary({
    summary:
      'a / b. Integers round towards zero; a / 0 is a, and -2^31 / -1 is -2^31, as WGSL has it.',
    cases: [
      {
        title: 'int32 by zero and over the edge',
        inputs: [
          { dtype: 'int32', shape: [5], values: [7, -7, -(2 ** 31), 5, 0] },
          { dtype: 'int32', shape: [5], values: [-2, 2, -1, 0, 0] },
        ],
      },
    ],
  }),
  maximum: binary({
    summary: 'The greater of a and b; NaN where either is.',
  }),
  minimum: binary({
    summary: 'The lesser of a and b; NaN where either is.',
  }),
  pow: binary({
    summary:
      'a to the power b. A negative float base wants an integral exponent (else NaN); an integer ' +
      'to a negative power is 0 unless the base is 1 or -1.',
    ranges: [
      [0, 5],
      [-3, 4],
    ],
    cases: [
      {
        title: 'signs, zeros and ones',
        inputs: [
          { dtype: 'float32', shape: [10], values: [-2, -2, 0, 0, 1, -3, 4, 2, -1, -1.5] },
          { dtype: 'float32', shape: [10], values: [3, 2, 0, 2.5, -7, -1, 0.5, -2, 0, 4] },
        ],
      },
      {
        title: 'squares',
        inputs: [
          { dtype: 'float32', shape: [3, 65] },
          { dtype: 'float32', shape: [], values: [2] },
        ],
      },
      {
        title: 'int32 signs',
        inputs: [
          { dtype: 'int32', shape: [8], values: [-2, -1, -1, 0, 0, 3, 7, 2] },
          { dtype: 'int32', shape: [8], values: [3, -3, -2, 0, -1, -1, 11, 40] },
        ],
      },
    ],
  }),
});
