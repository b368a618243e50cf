import type { DType } from '../../core/tensor/dtype.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const dequantizeCases: OpCases = {
  summary: '(x - zero_point) * scale, in the dtype of the scale.',
  cases: () => [
    ...(['uint8', 'int8', 'uint16', 'int16', 'int32'] as const).map((dtype) =>
      dequantizeCase([5, 7], { dtype, scale: [1], zero: [1] }),
    ),
    dequantizeCase([2, 3, 4, 4], { dtype: 'uint8', scale: [3, 1, 1], zero: [3, 1, 1] }),
    dequantizeCase([6, 8], { dtype: 'int8', scale: [6, 1], zero: [] }),
    dequantizeCase([3, 5], { dtype: 'int4', scale: [], zero: [] }),
    dequantizeCase([0, 4], { dtype: 'uint8', scale: [], zero: [] }),
    {
      title: 'the ends of the range',
      inputs: [
        { dtype: 'uint16', shape: [3], values: [0, 65_535, 32_768] },
        { dtype: 'float32', shape: [], values: [0.25] },
        { dtype: 'uint16', shape: [], values: [65_535] },
      ],
    },
  ],
  badCases: () => [
    {
      title: 'a zero point of another dtype',
      inputs: [
        { dtype: 'int8', shape: [2] },
        { dtype: 'float32', shape: [] },
        { dtype: 'uint8', shape: [] },
      ],
    },
    {
      title: 'bad dtype',
      inputs: [
        { dtype: 'float32', shape: [2] },
        { dtype: 'float32', shape: [] },
        { dtype: 'float32', shape: [] },
      ],
    },
    dequantizeCase([4, 3], { dtype: 'uint8', scale: [4], zero: [] }),
  ],
};

interface DequantizeCase {
  readonly dtype: DType;
  readonly scale: readonly number[];
  readonly zero: readonly number[];
}

function dequantizeCase(shape: readonly number[], { dtype, scale, zero }: DequantizeCase): OpCase {
  return {
    title: `(${shape.join(', ')}) by (${scale.join(', ')}) of ${dtype}`,
    inputs: [
      { dtype, shape, range: dtype === 'int4' ? [-8, 8] : [0, 128] },
      { dtype: 'float32', shape: scale, range: [0.05, 0.5] },
      { dtype, shape: zero, range: [0, 8] },
    ],
  };
}
