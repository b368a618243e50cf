import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const conv3dCases: OpCases = {
  summary:
    'Three-dimensional convolution: x (N, C, D, H, W), w (K, C / groups, Q, R, S), bias (K). Pads ' +
    'are all begins, then all ends.',
  cases: () => [
    conv3dCase([1, 1, 1, 1, 1], [1, 1, 1, 1, 1]),
    conv3dCase([2, 3, 4, 5, 6], [4, 3, 2, 3, 2], { pads: [1, 0, 2, 0, 1, 1] }),
    conv3dCase([1, 4, 5, 6, 7], [6, 2, 3, 2, 3], { groups: 2, strides: [1, 2, 3] }),
    conv3dCase([1, 2, 7, 8, 9], [3, 2, 3, 2, 2], { dilations: [2, 3, 1] }, false),
    conv3dCase([0, 2, 3, 3, 3], [3, 2, 2, 2, 2]),
    conv3dCase([1, 8, 6, 9, 11], [16, 8, 3, 3, 3], { pads: [1, 1, 1, 1, 1, 1] }),
  ],
  badCases: () => [
    conv3dCase([1, 3, 5, 5], [2, 3, 3, 3]),
    conv3dCase([1, 3, 5, 5, 5], [2, 2, 3, 3, 3]),
    conv3dCase([1, 3, 2, 5, 5], [2, 3, 3, 3, 3]),
    conv3dCase([1, 3, 5, 5, 5], [2, 3, 3, 3, 3], { pads: [1, 1, 1] }),
    conv3dCase([1, 3, 5, 5, 5], [2, 3, 3, 3, 3], { groups: 0 }),
  ],
};

function conv3dCase(x: Shape, w: Shape, ...[attributes = {}, hasBias = true]: CaseOptions): OpCase {
  const bias = { dtype: 'float32', shape: w.slice(0, 1) } as const;
  return {
    title: `(${x.join(', ')}) by (${w.join(', ')}) ${JSON.stringify(attributes)}${hasBias ? '' : ' without bias'}`,
    inputs: [
      { dtype: 'float32', shape: x },
      { dtype: 'float32', shape: w },
      ...(hasBias ? [bias] : []),
    ],
    attributes,
  };
}

type CaseOptions = [Attributes?, boolean?];
