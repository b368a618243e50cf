import type { DType } from '../../core/tensor/dtype.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const quantizeCases: OpCases = {
  summary:
    'x / scale, a float32, rounded to the nearest integer, halves to the even one, plus the zero ' +
    'point, saturated to the dtype of the zero point.',
  cases: () => [
    ...(['uint8', 'int8', 'uint16', 'int16'] as const).map((dtype) =>
      quantizeCase([5, 7], { dtype, scale: [1], zero: [1] }),
    ),
    quantizeCase([2, 3, 4, 4], { dtype: 'uint8', scale: [3, 1, 1], zero: [3, 1, 1] }),
    quantizeCase([6, 8], { dtype: 'int8', scale: [6, 1], zero: [] }),
    quantizeCase([3, 5], { dtype: 'int4', scale: [], zero: [] }),
    quantizeCase([3, 5], { dtype: 'uint2', scale: [], zero: [] }),
    quantizeCase([0, 4], { dtype: 'uint8', scale: [], zero: [] }),
    {
      title: 'halves, and what is beyond the range',
      inputs: [
        {
          dtype: 'float32',
          shape: [11],
          values: [-5, -3, -1, 1, 3, 5, 251, 1e9, -1e9, Infinity, -Infinity],
        },
        { dtype: 'float32', shape: [], values: [2] },
        { dtype: 'uint8', shape: [], values: [128] },
      ],
    },
    {
      title: 'quotients that are halves only when they are rounded',
      inputs: [
        { dtype: 'float32', shape: [256], values: NEAR_HALVES.map(([x]) => x) },
        { dtype: 'float32', shape: [256], values: NEAR_HALVES.map(([, scale]) => scale) },
        { dtype: 'uint8', shape: [], values: [0] },
      ],
    },
    {
      title: 'int32',
      inputs: [
        { dtype: 'int32', shape: [33], range: [-1000, 1000] },
        { dtype: 'float32', shape: [], values: [3] },
        { dtype: 'int8', shape: [], values: [-5] },
      ],
    },
  ],
  badCases: () => [
    {
      title: 'float zero point',
      inputs: [
        { dtype: 'float32', shape: [2] },
        { dtype: 'float32', shape: [] },
        { dtype: 'float32', shape: [] },
      ],
    },
    {
      title: 'no zero point',
      inputs: [
        { dtype: 'float32', shape: [2] },
        { dtype: 'float32', shape: [] },
      ],
    },
    quantizeCase([4, 3], { dtype: 'uint8', scale: [4], zero: [] }),
  ],
};

interface QuantizeCase {
  readonly dtype: DType;
  readonly scale: readonly number[];
  readonly zero: readonly number[];
}

function quantizeCase(shape: readonly number[], { dtype, scale, zero }: QuantizeCase): OpCase {
  return {
    title: `(${shape.join(', ')}) by (${scale.join(', ')}) as ${dtype}`,
    inputs: [
      { dtype: 'float32', shape, range: [-30, 30] },
      { dtype: 'float32', shape: scale, range: [0.05, 0.5] },
      { dtype, shape: zero, range: dtype.endsWith('2') ? [0, 4] : [0, 8] },
    ],
  };
}

/** Numbers and scales whose quotient is a half or next to one. */
const NEAR_HALVES = /* @__PURE__ */ Array.from({ length: 256 }, (_, i): [number, number] => {
  const scale = Math.fround(0.013 + i * 0.0007);
  return [Math.fround((i - 0.5) * scale), scale];
});
