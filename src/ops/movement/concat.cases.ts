import type { OpCase, OpCases } from '../op-cases.ts';

export const concatCases: OpCases = {
  summary: 'Tensors one after the other along an axis; all other dimensions are equal.',
  cases: () => [
    concatCase(0, [[5]]),
    concatCase(0, [[2], [3]]),
    concatCase(0, [[2], [0], [3]]),
    concatCase(-1, [
      [3, 1],
      [3, 4],
      [3, 2],
    ]),
    concatCase(1, [
      [2, 3, 5, 5],
      [2, 4, 5, 5],
    ]),
    concatCase(2, [
      [2, 3, 1],
      [2, 3, 1],
      [2, 3, 1],
      [2, 3, 7],
    ]),
    concatCase(1, [
      [0, 2],
      [0, 3],
    ]),
    concatCase(1, [
      [130, 127],
      [130, 301],
    ]),
    {
      title: 'int32',
      inputs: [
        { dtype: 'int32', shape: [2, 2] },
        { dtype: 'int32', shape: [1, 2] },
      ],
      attributes: { axis: 0 },
    },
    {
      title: 'bool',
      inputs: [
        { dtype: 'bool', shape: [3] },
        { dtype: 'bool', shape: [2] },
      ],
      attributes: { axis: 0 },
    },
  ],
  badCases: () => [
    { title: 'no inputs', inputs: [], attributes: { axis: 0 } },
    concatCase(2, [[2, 3]]),
    concatCase(0, [
      [2, 3],
      [2, 4],
    ]),
    concatCase(0, [[2, 3], [2]]),
    {
      title: 'dtypes differ',
      inputs: [
        { dtype: 'float32', shape: [2] },
        { dtype: 'int32', shape: [2] },
      ],
      attributes: { axis: 0 },
    },
  ],
};

function concatCase(axis: number, shapes: readonly (readonly number[])[]): OpCase {
  return {
    title: `${shapes.map((shape) => `(${shape.join(', ')})`).join(' and ')} along ${axis}`,
    inputs: shapes.map((shape) => ({ dtype: 'float32', shape })),
    attributes: { axis },
  };
}
