import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const convIntegerCases: OpCases = {
  summary:
    'Convolution of bytes less their zero points, exact in int32: x (N, C, ...), w (K, C / groups, ' +
    '...), with two or three spatial axes. Zero points are one for all, or one for each channel of ' +
    'x and each output channel of w. Padding stands for zero. Pads are all begins, then all ends.',
  cases: () => [
    integerCase([
      [1, 1, 3, 3],
      [1, 1, 2, 2],
    ]),
    integerCase([[1, 1, 5, 5], [1, 1, 3, 3], [], []], { pads: [1, 1, 1, 1] }),
    integerCase([[2, 3, 7, 9], [10, 3, 3, 3], [1], [10]], { pads: [1, 0, 1, 2] }),
    integerCase([[1, 4, 9, 8], [6, 2, 3, 3], [], [6]], {
      groups: 2,
      strides: [2, 1],
      dilations: [1, 2],
    }),
    integerCase([[1, 8, 9, 9], [8, 1, 3, 3], [], []], { groups: 8 }),
    integerCase([[1, 16, 7, 7], [12, 16, 1, 1], [], [12]]),
    integerCase([[1, 3, 20, 20], [4, 3, 13, 13], [], []]),
    // Floats of such sizes go by way of scratch.
    integerCase([[1, 32, 8, 8], [8, 32, 3, 3], [], [8]]),
    integerCase([[1, 64, 14, 14], [64, 64, 3, 3], [], [64]]),
    integerCase([[1, 3, 20, 20], [9, 3, 13, 13], [], []]),
    integerCase([[1, 1024, 3, 3], [8, 1024, 1, 1], [], [8]]),
    integerCase([[0, 3, 5, 5], [2, 3, 3, 3], [], []]),
    integerCase([[1, 2, 4, 5, 6], [3, 2, 2, 3, 2], [], [3]], {
      pads: [1, 0, 0, 0, 1, 1],
      strides: [1, 2, 1],
    }),
  ],
  badCases: () => [
    integerCase([
      [1, 3, 5, 5],
      [2, 4, 3, 3],
    ]),
    integerCase([[1, 3, 5, 5], [2, 3, 3, 3], [2]]),
    integerCase([[1, 3, 5, 5], [2, 3, 3, 3], [], [3]]),
    integerCase([
      [3, 5, 5],
      [2, 3, 3],
    ]),
    integerCase(
      [
        [1, 3, 5, 5],
        [2, 3, 3, 3],
      ],
      { pads: [1, 1] },
    ),
  ],
};

const DTYPES = ['uint8', 'int8', 'uint8', 'int8'] as const;

const RANGES = { uint8: [0, 256], int8: [-128, 128] } as const;

/** Shapes of x, w and the zero points. */
function integerCase(shapes: readonly Shape[], attributes: OpCase['attributes'] = {}): OpCase {
  const shown = shapes.map((shape) => `(${shape.join(', ')})`).join(' ');
  return {
    title: `${shown} ${JSON.stringify(attributes)}`,
    inputs: shapes.map((shape, i) => {
      const dtype = DTYPES[i] ?? 'int8';
      return { dtype, shape, range: RANGES[dtype] };
    }),
    attributes,
  };
}
