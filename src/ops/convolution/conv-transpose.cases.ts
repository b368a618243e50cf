import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const convTransposeCases: OpCases = {
  summary:
    'The transpose of a convolution over one to three axes: x (N, C, ...), w (C, K / groups, ' +
    '...), bias (K). Pads are what is cut off at the begins; size is the spatial shape of the result.',
  cases: () => [
    transposeCase([1, 1, 1, 1], [1, 1, 1, 1], { size: [1, 1] }),
    transposeCase([1, 2, 5], [2, 3, 4], { size: [13], strides: [2], pads: [1] }),
    transposeCase([2, 3, 4, 5], [3, 2, 3, 2], { size: [6, 6] }, false),
    transposeCase([1, 4, 5, 4], [4, 3, 3, 3], { size: [9, 11], strides: [2, 3], groups: 2 }),
    transposeCase([1, 2, 4, 4], [2, 2, 2, 3], { size: [6, 10], dilations: [2, 3], pads: [0, 0] }),
    transposeCase([1, 2, 3, 4, 3], [2, 2, 2, 3, 2], { size: [5, 6, 4], strides: [2, 1, 1] }),
    transposeCase([1, 2, 3, 3], [2, 2, 2, 2], { size: [9, 3], pads: [0, 1] }),
    transposeCase([0, 2, 3, 3], [2, 2, 2, 2], { size: [4, 4] }),
    transposeCase([1, 16, 17, 15], [16, 12, 4, 4], {
      size: [34, 30],
      strides: [2, 2],
      pads: [1, 1],
    }),
  ],
  badCases: () => [
    { ...transposeCase([1, 2, 3, 3], [2, 2, 2, 2], {}), title: 'no size' },
    transposeCase([2, 3], [2, 2], { size: [] }),
    transposeCase([1, 2, 3, 3], [3, 2, 2, 2], { size: [4, 4] }),
    transposeCase([1, 3, 3, 3], [3, 2, 2, 2], { size: [4, 4], groups: 2 }),
    transposeCase([1, 2, 3, 3], [2, 2, 2, 2], { size: [4] }),
    transposeCase([1, 2, 3, 3], [2, 2, 2, 2], { size: [4, 4], pads: [1, 1, 1, 1] }),
  ],
};

function transposeCase(x: Shape, w: Shape, attributes: Attributes, hasBias = true): OpCase {
  const channels = (w[1] ?? 1) * Number(attributes['groups'] ?? 1);
  const inputs = [x, w, ...(hasBias ? [[channels]] : [])];
  return {
    title: `(${x.join(', ')}) by (${w.join(', ')}) ${JSON.stringify(attributes)}`,
    inputs: inputs.map((shape) => ({ dtype: 'float32', shape })),
    attributes,
  };
}
