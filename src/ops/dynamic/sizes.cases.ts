import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { OpCase, OpCases } from '../op-cases.ts';
import type { SizeName } from './sizes.ts';

interface SizeCases {
  readonly summary: string;
  readonly cases: readonly (readonly [readonly number[], Attributes?])[];
  readonly badCases: readonly (readonly [readonly number[], Attributes?])[];
}

function casesOf(rule: SizeCases): OpCases {
  return {
    summary: rule.summary,
    cases: () =>
      rule.cases.flatMap((given, i) => [
        sizeCase('int64', given),
        ...(i === 0 ? [{ ...sizeCase('int32', given), title: 'int32' }] : []),
        ...(i === 0
          ? [{ ...sizeCase('int64', [given[0], { ...given[1], where: 'x' }]), title: 'named' }]
          : []),
      ]),
    badCases: () => [
      ...rule.badCases.map((given) => sizeCase('int64', given)),
      { title: 'a matrix', inputs: [{ dtype: 'int64', shape: [2, 2] }] },
    ],
  };
}

function sizeCase(
  dtype: 'int32' | 'int64',
  [values, attributes = {}]: readonly [readonly number[], Attributes?],
): OpCase {
  return {
    title: `${values.join(', ')} ${JSON.stringify(attributes)}`,
    inputs: [{ dtype, shape: [values.length], values }],
    attributes,
  };
}

export const SIZE_CASES = {
  sizes: casesOf({
    summary: 'Integers from 0 up as the dimensions of a tensor without elements, (0, ?, …).',
    cases: [[[3, 0, 5]], [[]], [[2], { dims: [4] }]],
    badCases: [],
  }),
  reshape_sizes: casesOf({
    summary:
      'The sizes that ONNX Reshape means for data of sizes dims: 0 keeps a size (unless allowzero), ' +
      '-1 is what is left.',
    cases: [
      [[1], { dims: [1, 1] }],
      [[3, -1], { dims: [2, 6] }],
      [[0, 2, -1], { dims: [2, 6] }],
      [[0, 2], { dims: [3, 0], allowzero: true }],
      [[], { dims: [] }],
    ],
    badCases: [],
  }),
  broadcast_sizes: casesOf({
    summary: 'The sizes of data of sizes dims and of the given ones, broadcast against each other.',
    cases: [
      [[3, 1], { dims: [4] }],
      [[1], { dims: [2, 3] }],
      [[], { dims: [2] }],
    ],
    badCases: [],
  }),
  unsqueeze_sizes: casesOf({
    summary: 'dims with a 1 at each of the given axes of the result.',
    cases: [
      [[1], { dims: [3] }],
      [[0, -1], { dims: [3, 4] }],
      [[], { dims: [2] }],
    ],
    badCases: [],
  }),
  squeeze_sizes: casesOf({
    summary: 'dims without the given axes, whose size has to be 1.',
    cases: [
      [[1], { dims: [2, 1] }],
      [[0, -2], { dims: [1, 3, 1, 4] }],
      [[], { dims: [2] }],
    ],
    badCases: [[[0, 1], { dims: [1] }]],
  }),
  reduce_sizes: casesOf({
    summary:
      'For each axis of data of sizes dims two sizes, its own and 1: the other way round where it is ' +
      'one of the axes that a reduction takes. Then the sizes of its result.',
    cases: [
      [[1], { dims: [3, 4] }],
      [[0, -1], { dims: [2, 3, 4] }],
      [[1], { dims: [2, 3], keepdims: false }],
    ],
    badCases: [],
  }),
  axis_sizes: casesOf({
    summary: 'The number of elements of data of sizes dims before an axis, along it and after it.',
    cases: [
      [[1], { dims: [2, 3, 4] }],
      [[-1], { dims: [2, 3] }],
    ],
    badCases: [],
  }),
  resized_axis_sizes: casesOf({
    summary: 'dims with another size, the second integer, along the axis that the first names.',
    cases: [
      [[1, 7], { dims: [2, 3, 4] }],
      [[-1, 0], { dims: [2, 3] }],
    ],
    badCases: [[[0], { dims: [2] }]],
  }),
  signed_sizes: casesOf({
    summary: 'How far each integer is below zero, then how far each is above.',
    cases: [[[1, -2]], [[]], [[0, 3], { dims: [2] }]],
    badCases: [],
  }),
  pad_sizes: casesOf({
    summary:
      'As signed_sizes, what ONNX Pad adds before each axis of dims, then after each. The integers ' +
      'are those for some axes, followed by these axes.',
    cases: [
      [[1, 1, 1], { dims: [2, 3] }],
      [[1, 2, 0], { dims: [3] }],
      [[1, -2, 3, 4, 2, -3], { dims: [5, 6, 7] }],
      [[], { dims: [] }],
    ],
    badCases: [[[1, 2], { dims: [3] }]],
  }),
} satisfies Record<SizeName, OpCases>;
