import type { OpCase, OpCases } from '../op-cases.ts';

export const batchNormCases: OpCases = {
  summary:
    '(x - mean) / sqrt(var + epsilon) * scale + bias, with one of each per channel (axis 1).',
  cases: () => [
    batchNormCase([1, 1]),
    batchNormCase([5, 3]),
    batchNormCase([2, 3, 7]),
    batchNormCase([2, 5, 3, 4]),
    batchNormCase([0, 3, 2, 2]),
    batchNormCase([1, 64, 33, 31]),
    batchNormCase([2, 3, 4, 5], 0.1),
  ],
  badCases: () => [
    batchNormCase([3]),
    { ...batchNormCase([2, 3]), title: 'wrong channels', inputs: wrongChannels() },
    { title: 'no statistics', inputs: [{ dtype: 'float32', shape: [2, 3] }] },
    batchNormCase([2, 3], -1),
  ],
};

function batchNormCase(shape: readonly number[], epsilon?: number): OpCase {
  const channel = { dtype: 'float32', shape: shape.slice(1, 2) } as const;
  return {
    title: `(${shape.join(', ')})${epsilon === undefined ? '' : ` with epsilon ${epsilon}`}`,
    inputs: [
      { dtype: 'float32', shape },
      channel,
      channel,
      channel,
      { ...channel, range: [0.5, 2] },
    ],
    ...(epsilon === undefined ? {} : { attributes: { epsilon } }),
  };
}

function wrongChannels(): OpCase['inputs'] {
  const [x, scale, bias, mean] = batchNormCase([2, 3]).inputs;
  return [x, scale, bias, mean, { dtype: 'float32', shape: [2] }];
}
