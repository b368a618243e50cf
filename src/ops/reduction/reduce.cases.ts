import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';
import type { ReduceName } from './reduce.ts';
import type { Reduction } from './reduction-wgsl.ts';

function casesOf(kind: Reduction, summary: string): OpCases {
  return {
    summary,
    cases: () => reduceCases(kind),
    badCases: () => [
      { title: 'axis out of range', ...reduceCall([2, 3], { axes: [2] }) },
      { title: 'axis twice', ...reduceCall([2, 3], { axes: [1, -1] }) },
      { title: 'axes is a number', ...reduceCall([2, 3], { axes: 1 }) },
      { title: 'bad dtype', inputs: [{ dtype: 'bool', shape: [2] }] },
    ],
  };
}

const WORD_RANGE = [2 ** 29, 2 ** 31] as const;
const WIDE_RANGE = [2 ** 61, 2 ** 63 - 1024] as const;

function reduceCases(kind: Reduction): OpCase[] {
  const calls: [Shape, Attributes][] = [
    [[], {}],
    [[7], {}],
    [[3, 5], { axes: [0] }],
    [[3, 5], { axes: [-1] }],
    [[3, 5], { axes: [1], keepdims: true }],
    [[3, 5], { keepdims: true }],
    [[2, 3, 4, 5], { axes: [2, 3] }],
    [[2, 3, 4, 5], { axes: [0, 2], keepdims: true }],
    [[2, 3, 4, 5], { axes: [1, 3] }],
    [[0, 3], { axes: [1] }],
    [[2, 1000], { axes: [1] }],
    [[1000, 3], { axes: [0] }],
    [[300, 5, 17], { axes: [1] }],
    [[70_001], {}],
    [[3, 9001], { axes: [1] }],
    [[70_004], {}],
    [[17, 68], { axes: [1] }],
    [[65, 12], { axes: [0] }],
    [[2048, 8], { axes: [0] }],
    [[3, 5, 1204], { axes: [0, 2] }],
    [[5, 130, 4], { axes: [0, 1] }],
    [[3, 65, 12], { axes: [1] }],
    [[2, 3, 5, 12], { axes: [0, 2] }],
    [[5, 3, 17, 4], { axes: [1, 3] }],
    [[2, 3, 2, 3, 2, 3, 2, 3], { axes: [0, 2, 4, 6] }],
    ...(kind === 'mean' ? [] : ([[[0, 3], { axes: [0] }]] as [Shape, Attributes][])),
  ];
  const floats = calls.map(([shape, attributes]) => ({
    title: `(${shape.join(', ')}) with ${JSON.stringify(attributes)}`,
    ...reduceCall(shape, attributes),
  }));
  const others = (['int32', 'uint32', 'int64'] as const).flatMap((dtype) => [
    { title: `${dtype} (5, 9)`, inputs: [{ dtype, shape: [5, 9] }], attributes: { axes: [1] } },
    {
      title: `${dtype} (2, 8300)`,
      inputs: [{ dtype, shape: [2, 8300] }],
      attributes: { axes: [1] },
    },
    {
      title: `${dtype} (1030, 4)`,
      inputs: [{ dtype, shape: [1030, 4] }],
      attributes: { axes: [0] },
    },
    {
      title: `${dtype} (3, 9) whose sum it does not hold`,
      inputs: [{ dtype, shape: [3, 9], range: dtype === 'int64' ? WIDE_RANGE : WORD_RANGE }],
      attributes: { axes: [1] },
    },
  ]);
  return [...floats, ...others];
}

function reduceCall(shape: Shape, attributes: Attributes) {
  return { inputs: [{ dtype: 'float32', shape }], attributes } as const;
}

export const REDUCE_CASES = {
  reduce_sum: casesOf(
    'sum',
    'The sum over axes (all when none are given); 0 over no elements. Integers wrap.',
  ),
  reduce_mean: casesOf(
    'mean',
    'The mean over axes (all when none are given); NaN over no elements. That of integers is ' +
      'their sum divided, towards zero.',
  ),
  reduce_prod: casesOf(
    'prod',
    'The product over axes (all when none are given); 1 over no elements. Integers wrap.',
  ),
  reduce_max: casesOf(
    'max',
    'The maximum over axes (all when none are given); minus infinity or the least integer over ' +
      'no elements. NaN stays NaN.',
  ),
  reduce_min: casesOf(
    'min',
    'The minimum over axes (all when none are given); infinity or the greatest integer over no ' +
      'elements. NaN stays NaN.',
  ),
} satisfies Record<ReduceName, OpCases>;
