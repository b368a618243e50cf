import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const dftCases: OpCases = {
  summary:
    'The discrete Fourier transform of x (..., 1) or complex (..., 2) along an axis, cut or with ' +
    'zeros up to the length of twiddles (length, 2). One-sided: the first half of the spectrum and ' +
    'its middle; the inverse of that is real, (..., 1).',
  cases: () => [
    dftCase([1, 1], 1, { axis: 0 }),
    ...[false, true].flatMap((inverse) =>
      [false, true].flatMap((onesided) => [
        dftCase([2, 7, 2], 7, { axis: 1, inverse, onesided }),
        dftCase([8, 3, 1], 8, { axis: 0, inverse, onesided }),
        dftCase([3, 5, 4, 2], 6, { axis: -2, inverse, onesided }),
        dftCase([2, 9, 3, 1], 5, { axis: 1, inverse, onesided }),
      ]),
    ),
    dftCase([70, 300, 1], 300, { axis: 1, onesided: true }),
    dftCase([0, 4, 2], 4, { axis: 1 }),
    dftCase([2, 0, 1], 3, { axis: 1 }),
  ],
  badCases: () => [
    dftCase([4, 3], 4, { axis: 0 }),
    dftCase([4, 1], 4, { axis: 1 }),
    dftCase([4], 4, { axis: 0 }),
  ],
};

function dftCase(x: Shape, length: number, attributes: Attributes): OpCase {
  const values = Array.from({ length }, (_, i) => [
    Math.cos((2 * Math.PI * i) / length),
    Math.sin((2 * Math.PI * i) / length),
  ]);
  return {
    title: `(${x.join(', ')}) to ${length} ${JSON.stringify(attributes)}`,
    inputs: [
      { dtype: 'float32', shape: x },
      { dtype: 'float32', shape: [length, 2], values: values.flat() },
    ],
    attributes,
  };
}
