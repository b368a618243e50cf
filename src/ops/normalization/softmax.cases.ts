import type { OpCase, OpCases } from '../op-cases.ts';
import type { SoftmaxName } from './softmax.ts';

function softmaxCases(summary: string): OpCases {
  return {
    summary,
    cases: () => [
      softmaxCase([1], -1),
      softmaxCase([10], 0),
      softmaxCase([3, 5], -1),
      softmaxCase([3, 5], 0),
      softmaxCase([2, 3, 4], 1),
      softmaxCase([0, 4], -1),
      softmaxCase([3, 0], -1),
      softmaxCase([1, 1000], -1),
      softmaxCase([70, 129], 1),
      softmaxCase([2, 17, 5, 7], 1),
      softmaxCase([3, 4099], 1),
      softmaxCase([5, 64], 1),
      softmaxCase([17, 300], 1),
      softmaxCase([63, 8], 1),
      {
        title: 'elements that are masked',
        inputs: [
          {
            dtype: 'float32',
            shape: [2, 8],
            values: [-Infinity, -1e38, -3.4e38, 1, 2, -Infinity, 0, 1].concat([
              -Infinity,
              -Infinity,
              -Infinity,
              -Infinity,
              1,
              -Infinity,
              2,
              -Infinity,
            ]),
          },
        ],
      },
      {
        title: 'large logits',
        inputs: [{ dtype: 'float32', shape: [2, 3], values: [1000, 1001, 999, -1000, 0, 1000] }],
      },
    ],
    badCases: () => [
      softmaxCase([3, 5], 2),
      softmaxCase([], -1),
      { title: 'bad dtype', inputs: [{ dtype: 'int32', shape: [3] }] },
      {
        title: 'axis is a float',
        inputs: [{ dtype: 'float32', shape: [3] }],
        attributes: { axis: 0.5 },
      },
    ],
  };
}

function softmaxCase(shape: readonly number[], axis: number): OpCase {
  return {
    title: `(${shape.join(', ')}) along ${axis}`,
    inputs: [{ dtype: 'float32', shape, range: [-8, 8] }],
    attributes: { axis },
  };
}

export const SOFTMAX_CASES = {
  softmax: softmaxCases('exp(x) / sum of exp(x) along an axis.'),
  log_softmax: softmaxCases('The logarithm of softmax along an axis.'),
} satisfies Record<SoftmaxName, OpCases>;
