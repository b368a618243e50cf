import type { OpCase, OpCases } from '../op-cases.ts';
import { NAMES } from './slice-indices.ts';

export const sliceIndicesCases: OpCases = {
  summary:
    'The positions that a slice takes of axis, for data of sizes dims; starts, ends, axes and steps ' +
    'as ONNX Slice has them.',
  cases: () => [
    indicesCase(0, [[1], [7], [0], [2]]),
    indicesCase(1, [[1], [7], [0], [2]]),
    indicesCase(1, [
      [-1, 5],
      [-100, 0],
      [-1, 0],
      [-2, -1],
    ]),
    indicesCase(0, [[20], [30], [0], [1]]),
    indicesCase(0, [[], [], [], []]),
    { ...indicesCase(0, [[0], [2], [0], [1]], 'int32'), title: 'int32' },
    {
      title: 'named',
      inputs: indicesCase(0, [[0], [2], [0], [1]]).inputs,
      attributes: { axis: 0, dims: [4], where: 'a node' },
    },
  ],
  badCases: () => [
    {
      title: 'scalars',
      inputs: NAMES.map(() => ({ dtype: 'int64', shape: [] })),
      attributes: { axis: 0, dims: [2] },
    },
    {
      title: 'lists of different lengths',
      inputs: [1, 2, 1, 1].map((length) => ({ dtype: 'int64', shape: [length] })),
      attributes: { axis: 0, dims: [2] },
    },
  ],
};

function indicesCase(
  axis: number,
  lists: readonly (readonly number[])[],
  dtype: 'int32' | 'int64' = 'int64',
): OpCase {
  return {
    title: `axis ${axis} ${JSON.stringify(lists)}`,
    inputs: lists.map((values) => ({ dtype, shape: [values.length], values })),
    attributes: { axis, dims: [9, 6] },
  };
}
