import type { DType } from '../../core/tensor/dtype.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const topKCases: OpCases = {
  summary:
    'Indices along an axis of its k largest or smallest elements, the first of them first; of equal ' +
    'ones the lower index first. NaN is larger than any number.',
  cases: () => [
    topKCase([5], 3),
    topKCase([3, 4], 3),
    topKCase([3, 4], 2, { axis: 0, largest: false }),
    topKCase([2, 9, 3], 9, { axis: 1 }),
    topKCase([2, 2], 2, { values: [-0, 0, 0, -0] }),
    topKCase([6], 4, { values: [Infinity, -Infinity, 1e-40, -1e-40, 3e38, 0] }),
    topKCase([64], 5, { dtype: 'int32' }),
    topKCase([64], 64, { dtype: 'uint32', largest: false }),
    topKCase([7], 7, { dtype: 'int64', values: [2 ** 40, -(2 ** 40), 1, -1, 0, 2 ** 32, 5] }),
    topKCase([7], 7, {
      dtype: 'uint64',
      largest: false,
      values: [2 ** 40, 2 ** 33, 1, 9, 0, 2 ** 32, 5],
    }),
    topKCase([40], 8, { dtype: 'float16' }),
    topKCase([40], 8, { dtype: 'int8', largest: false }),
    topKCase([100], 100, { dtype: 'uint8' }),
    topKCase([3, 1025], 10),
    topKCase([2, 700, 3], 600, { axis: 1 }),
    topKCase([1100, 2], 1000, { axis: 0 }),
    topKCase([2, 3000], 3000),
    topKCase([9001], 5),
    topKCase([2, 9217], 9217),
    topKCase([4097, 2], 1030, { axis: 0, dtype: 'int64' }),
    topKCase([5], 0),
    topKCase([0, 5], 2),
    topKCase([2, 0], 0),
    topKCase([1, 2, 1, 2, 1, 2, 4, 1], 3, { axis: 6 }),
  ],
  badCases: () => [
    topKCase([5], 6),
    topKCase([], 0),
    topKCase([5], -1),
    topKCase([5], 2, { dtype: 'bool' }),
    topKCase([5], 2, { axis: 1 }),
  ],
};

interface TopKCaseOptions {
  readonly axis?: number;
  readonly largest?: boolean;
  readonly dtype?: DType;
  readonly values?: readonly number[];
}

function topKCase(shape: Shape, k: number, ...[options = {}]: TopKCaseOptions[]): OpCase {
  const { axis = -1, largest = true, dtype = 'float32', values } = options;
  const order = largest ? 'largest' : 'smallest';
  return {
    title: `${k} ${order} of ${dtype} (${shape.join(', ')}) along ${axis}`,
    inputs: [{ dtype, shape, ...(values === undefined ? {} : { values }) }],
    attributes: { k: [k], axis, largest },
  };
}
