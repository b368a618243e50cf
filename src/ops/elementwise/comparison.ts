import type { DType } from '../../core/dtype.ts';
import type { OpDefinition } from '../define-op.ts';
import * as f from '../formula/build.ts';
import type { Expression } from '../formula/expression.ts';
import type { OpCase } from '../op-cases.ts';
import { defineElementwise } from './elementwise.ts';
import { broadcastCases } from './elementwise-binary.ts';
import { NUMERIC } from './number-dtypes.ts';

const ALL: readonly DType[] = [...NUMERIC, 'bool'];

interface ComparisonSpec {
  readonly name: string;
  readonly summary: string;
  readonly dtypes: readonly DType[];
  readonly formula: Expression;
}

function defineComparison(spec: ComparisonSpec): OpDefinition {
  const { name, summary, dtypes, formula } = spec;
  return defineElementwise({
    name,
    summary,
    inputs: [
      { name: 'a', dtypes },
      { name: 'b', dtypes },
    ],
    output: () => 'bool',
    scalar: { formula },
    cases: () => [...broadcastCases(dtypes), ...onDevices(dtypes).map(equalElements)],
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

/** What WebGPU has kernels for. */
const onDevices = (dtypes: readonly DType[]) => dtypes.filter((dtype) => dtype !== 'float64');

function equalElements(dtype: DType): OpCase {
  return {
    title: `${dtype} with equal elements`,
    inputs: [
      { dtype, shape: [4], values: [0, 1, 1, 0] },
      { dtype, shape: [4], values: [0, 1, 0, 1] },
    ],
  };
}

const equal = defineComparison({
  name: 'equal',
  summary: 'Whether a equals b.',
  dtypes: ALL,
  formula: f.equal(f.A, f.B),
});

const less = defineComparison({
  name: 'less',
  summary: 'Whether a < b.',
  dtypes: NUMERIC,
  formula: f.less(f.A, f.B),
});

const greater = defineComparison({
  name: 'greater',
  summary: 'Whether a > b.',
  dtypes: NUMERIC,
  formula: f.greater(f.A, f.B),
});

const lessEqual = defineComparison({
  name: 'less_equal',
  summary: 'Whether a <= b.',
  dtypes: NUMERIC,
  formula: f.lessEqual(f.A, f.B),
});

const greaterEqual = defineComparison({
  name: 'greater_equal',
  summary: 'Whether a >= b.',
  dtypes: NUMERIC,
  formula: f.greaterEqual(f.A, f.B),
});

const logicalNot = defineElementwise({
  name: 'logical_not',
  summary: 'True where x is false.',
  inputs: [{ name: 'x', dtypes: ['bool'] }],
  scalar: { formula: f.not(f.X) },
  cases: () =>
    [[], [0], [1], [6], [3, 43]].map((shape) => ({
      title: `(${shape.join(', ')})`,
      inputs: [{ dtype: 'bool', shape }],
    })),
  badCases: () => [{ title: 'bad dtype', inputs: [{ dtype: 'float32', shape: [2] }] }],
});

const where = defineElementwise({
  name: 'where',
  summary: 'x where the condition holds, else y, all three broadcast.',
  inputs: [
    { name: 'condition', dtypes: ['bool'] },
    { name: 'x', dtypes: ALL },
    { name: 'y', dtypes: ALL },
  ],
  sameDType: [1, 2],
  output: (dtypes) => dtypes[1] ?? 'float32',
  scalar: { formula: f.select(f.operand(0), f.operand(1), f.operand(2)) },
  cases: () => [
    ...onDevices(ALL).map((dtype): OpCase => {
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
});

export const COMPARISON_OPS: readonly OpDefinition[] = [
  equal,
  less,
  lessEqual,
  greater,
  greaterEqual,
  logicalNot,
  where,
];
