import { elementCount } from '../../core/tensor/shape.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const conv2dCases: OpCases = {
  summary:
    'Two-dimensional convolution: x (N, C, H, W), w (K, C / groups, R, S), bias (K). Pads are top, ' +
    'left, bottom, right.',
  cases: () => [
    convCase([1, 1, 1, 1], [1, 1, 1, 1]),
    convCase([1, 1, 5, 5], [1, 1, 3, 3]),
    convCase([2, 3, 7, 9], [4, 3, 3, 3], { pads: [1, 1, 1, 1] }),
    convCase([1, 3, 8, 8], [5, 3, 3, 2], { pads: [0, 1, 2, 0] }),
    convCase([1, 2, 9, 10], [3, 2, 3, 3], { strides: [2, 3], pads: [1, 0, 0, 1] }),
    convCase([1, 2, 11, 12], [3, 2, 3, 3], { dilations: [2, 3] }),
    convCase([1, 4, 6, 6], [6, 2, 3, 3], { groups: 2 }),
    convCase([2, 8, 9, 9], [8, 1, 3, 3], { groups: 8, pads: [1, 1, 1, 1] }),
    convCase([1, 4, 9, 9], [8, 1, 5, 5], { groups: 4, strides: [2, 2], pads: [2, 2, 2, 2] }),
    convCase([1, 16, 13, 13], [32, 16, 1, 1]),
    convCase([1, 16, 13, 13], [8, 16, 1, 1], { strides: [2, 2] }),
    // One place: a product of one column.
    convCase([2, 64, 1, 1], [33, 64, 1, 3], { pads: [0, 1, 0, 1] }),
    convCase([1, 64, 1, 2], [64, 64, 1, 3], { strides: [1, 2], pads: [0, 1, 0, 1] }),
    convCase([2, 32, 3, 3], [33, 32, 3, 3], { pads: [0, 0, 1, 0] }),
    convCase([1, 16, 1, 1], [9, 16, 1, 1]),
    convCase([0, 3, 5, 5], [2, 3, 3, 3]),
    convCase([65_600, 1, 2, 2], [1, 1, 2, 2]),
    convCase([1, 3, 32, 32], [16, 3, 7, 7], { strides: [2, 2], pads: [3, 3, 3, 3] }),
    convCase([1, 16, 33, 31], [24, 16, 3, 3], { pads: [1, 1, 1, 1] }),
    convCase([1, 64, 14, 14], [65, 64, 3, 3], { pads: [1, 1, 1, 1] }),
    ofImages(convCase([1, 512, 12, 12], [32, 512, 3, 3], { pads: [1, 1, 1, 1] }), [-1, 1]),
    convCase([2, 40, 20, 21], [33, 40, 3, 3], { pads: [1, 0, 0, 2] }),
    convCase([1, 33, 17, 20], [65, 33, 3, 3], { pads: [2, 2, 2, 2] }, false),
    convCase([1, 32, 67, 65], [32, 1, 3, 3], { groups: 32, pads: [1, 2, 0, 1] }),
    convCase(
      [2, 5, 17, 63],
      [10, 1, 3, 5],
      { groups: 5, strides: [2, 1], dilations: [1, 2] },
      false,
    ),
    convCase([2, 3, 1, 33], [3, 1, 1, 4], { groups: 3, pads: [0, 3, 0, 0] }),
    convCase([1, 6, 30, 31], [6, 1, 9, 11], { groups: 6, pads: [4, 5, 4, 5] }),
    convCase([3, 40, 17, 15], [33, 40, 3, 3], {
      strides: [2, 3],
      dilations: [3, 1],
      pads: [1, 2, 3, 0],
    }),
    convCase([2, 17, 9, 11], [9, 17, 1, 1], { strides: [3, 2], pads: [1, 0, 2, 1] }, false),
    convCase([1, 8, 122, 120], [8, 8, 3, 3], { pads: [0, 1, 1, 0] }),
    convCase([1, 12, 18, 34], [7, 12, 3, 3]),
    convCase([5, 24, 7, 6], [30, 24, 3, 3], { pads: [1, 2, 1, 1] }),
    convCase([1, 1, 28, 28], [8, 1, 5, 5], { pads: [2, 2, 2, 2] }, false),
    convCase([1, 1, 1, 140], [9, 1, 1, 37], { strides: [1, 16] }, false),
    convCase([2, 3, 5, 50], [17, 3, 2, 13], { dilations: [1, 2], pads: [1, 5, 0, 3] }),
    convCase([1, 3, 5, 50], [5, 3, 2, 13], { pads: [1, 5, 0, 3] }),
    // More windows than are gathered at once.
    convCase([4, 32, 20, 20], [9, 32, 7, 7], { pads: [0, 1, 0, 0] }, false),
  ],
  badCases: () => [
    convCase([3, 5, 5], [2, 3, 3, 3]),
    convCase([1, 3, 5, 5], [2, 4, 3, 3]),
    convCase([1, 4, 5, 5], [3, 2, 3, 3], { groups: 2 }),
    convCase([1, 3, 2, 2], [2, 3, 3, 3]),
    convCase([1, 3, 5, 5], [2, 3, 3, 3], { strides: [0, 1] }),
    convCase([1, 3, 5, 5], [2, 3, 3, 3], { pads: [1, 1] }),
    convCase([1, 3, 5, 5], [2, 3, 3, 3], { stride: [1, 1] }),
    {
      title: 'bad dtype',
      inputs: [
        { dtype: 'int32', shape: [1, 1, 3, 3] },
        { dtype: 'int32', shape: [1, 1, 3, 3] },
      ],
    },
    {
      title: 'wrong bias',
      inputs: [
        { dtype: 'float32', shape: [1, 3, 5, 5] },
        { dtype: 'float32', shape: [2, 3, 3, 3] },
        { dtype: 'float32', shape: [3] },
      ],
    },
  ],
};

function convCase(
  x: readonly number[],
  w: readonly number[],
  ...[attributes = {}, hasBias = true]: [Attributes?, boolean?]
): OpCase {
  const bias = { dtype: 'float32', shape: w.slice(0, 1) } as const;
  // As large as trained ones: sums of many terms, and their rounding, are then no larger than those
  // of few.
  const largest = 2 ** Math.round(2 - Math.log2(Math.max(1, elementCount(w.slice(1)))) / 2);
  return {
    title: `(${x.join(', ')}) by (${w.join(', ')}) ${JSON.stringify(attributes)}${hasBias ? '' : ' without bias'}`,
    inputs: [
      { dtype: 'float32', shape: x },
      { dtype: 'float32', shape: w, range: [-largest, largest] },
      ...(hasBias ? [bias] : []),
    ],
    attributes,
  };
}

/** The case with images of other values. */
function ofImages(opCase: OpCase, range: readonly [number, number]): OpCase {
  const [x, ...rest] = opCase.inputs;
  return { ...opCase, inputs: [x && { ...x, range }, ...rest] };
}
