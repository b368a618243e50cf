import type { DType } from '../../core/tensor/dtype.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const matmulIntegerCases: OpCases = {
  summary:
    'The matrix product of bytes less their zero points, exact in int32, batch dimensions ' +
    'broadcast. Zero points of a are one or one for each row, those of b one or one for each column.',
  cases: () => [
    integerCase([
      [3, 5],
      [5, 7],
    ]),
    integerCase([[3, 5], [5, 7], [], []]),
    integerCase([[5, 4], [4, 8], [5], [8]]),
    integerCase([[2, 3, 4], [4, 3], [1], [3]], ['int8', 'uint8']),
    integerCase([[4], [4, 6], [], []], ['uint8', 'int8']),
    integerCase([[2, 1, 3, 8], [4, 8, 5], [3], [5]], ['int8', 'int8']),
    integerCase([[0, 4], [4, 3], [], []]),
    integerCase([[3, 0], [0, 4], [], []]),
    integerCase([[33, 64], [64, 68], [], []], ['uint8', 'int8']),
    integerCase([[66, 130], [130, 71], [66], [71]], ['int8', 'uint8']),
    integerCase([[1, 512], [512, 100], [], [100]], ['uint8', 'int8']),
  ],
  badCases: () => [
    integerCase([
      [2, 3],
      [4, 5],
    ]),
    integerCase([[2, 3], [3, 5], [3]]),
    integerCase([[2, 3], [3, 5], [], [2]]),
    {
      title: 'floats',
      inputs: [
        { dtype: 'float32', shape: [2, 2] },
        { dtype: 'float32', shape: [2, 2] },
      ],
    },
  ],
};

type Shapes = readonly (readonly number[])[];

/** Shapes of a, b and the zero points. */
function integerCase(shapes: Shapes, [a, b]: readonly [DType, DType] = ['uint8', 'uint8']): OpCase {
  const range = (dtype: DType): readonly [number, number] =>
    dtype === 'int8' ? [-128, 128] : [0, 256];
  return {
    title: `${a} by ${b} ${shapes.map((shape) => `(${shape.join(', ')})`).join(' ')}`,
    inputs: shapes.map((shape, i) => {
      const dtype = i % 2 === 0 ? a : b;
      return { dtype, shape, range: range(dtype) };
    }),
  };
}
