import { type DType, dtypeInfo } from '../../core/tensor/dtype.ts';
import type { OpCase } from '../op-cases.ts';
import { NUMERIC } from './number-dtypes.ts';
import { casesOfEach, broadcastCases, type CasesOf, dtypesOf } from './elementwise.cases.ts';
import { COMPARISON_OPS } from './elementwise-binary.ts';

/** Dtypes that WebGPU has kernels for, but for float16, which goes where float32 does. */
const onDevices = (dtypes: readonly DType[]) =>
  dtypes.filter((dtype) => dtype === 'float32' || !dtypeInfo(dtype).category.startsWith('float'));

function ofComparison(summary: string): CasesOf {
  return (op) => ({
    summary,
    cases: () => [...broadcastCases(dtypesOf(op)), ...onDevices(dtypesOf(op)).map(equalElements)],
    badCases: () => [
      {
        title: 'dtypes differ',
        inputs: [
          { dtype: 'float32', shape: [2] },
          { dtype: 'int32', shape: [2] },
        ],
      },
      {
        title: 'shapes do not broadcast',
        inputs: [
          { dtype: 'float32', shape: [2] },
          { dtype: 'float32', shape: [3] },
        ],
      },
      {
        title: 'one input',
        inputs: [{ dtype: 'float32', shape: [2] }],
      },
    ],
  });
}

function equalElements(dtype: DType): OpCase {
  return {
    title: `${dtype} with equal elements`,
    inputs: [
      { dtype, shape: [4], values: [0, 1, 1, 0] },
      { dtype, shape: [4], values: [0, 1, 0, 1] },
    ],
  };
}

export const COMPARISON_CASES = casesOfEach(COMPARISON_OPS, {
  equal: ofComparison('True where a equals b.'),
  less: ofComparison('True where a < b.'),
  greater: ofComparison('True where a > b.'),
  less_equal: ofComparison('True where a <= b.'),
  greater_equal: ofComparison('True where a >= b.'),
  logical_not: () => ({
    summary: 'True where x is false.',
    cases: () =>
      [[], [0], [1], [6], [3, 43]].map((shape) => ({
        title: `(${shape.join(', ')})`,
        inputs: [{ dtype: 'bool', shape }],
      })),
    badCases: () => [{ title: 'bad dtype', inputs: [{ dtype: 'float32', shape: [2] }] }],
  }),
  where: () => ({
    summary: 'x where the condition holds, else y, all three broadcast.',
    cases: () => [
      ...onDevices([...NUMERIC, 'bool']).map((dtype): OpCase => {
        const value = { dtype, shape: [3, 5] };
        return {
          title: `${dtype} of one shape`,
          inputs: [{ dtype: 'bool', shape: [3, 5] }, value, value],
        };
      }),
      {
        title: 'all three broadcast',
        inputs: [
          { dtype: 'bool', shape: [4, 1, 1] },
          { dtype: 'float32', shape: [3, 1] },
          { dtype: 'float32', shape: [7] },
        ],
      },
      {
        title: 'scalars',
        inputs: [
          { dtype: 'bool', shape: [5, 13] },
          { dtype: 'float32', shape: [] },
          { dtype: 'float32', shape: [] },
        ],
      },
      {
        title: 'empty',
        inputs: [
          { dtype: 'bool', shape: [0] },
          { dtype: 'int32', shape: [1] },
          { dtype: 'int32', shape: [0] },
        ],
      },
    ],
    badCases: () => [
      {
        title: 'condition is a float',
        inputs: [
          { dtype: 'float32', shape: [2] },
          { dtype: 'float32', shape: [2] },
          { dtype: 'float32', shape: [2] },
        ],
      },
      {
        title: 'dtypes differ',
        inputs: [
          { dtype: 'bool', shape: [2] },
          { dtype: 'float32', shape: [2] },
          { dtype: 'int32', shape: [2] },
        ],
      },
    ],
  }),
});
