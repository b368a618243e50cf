import type { DType } from '../../core/dtype.ts';
import type { OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { defineElementwise } from './elementwise.ts';
import { broadcastCases, wideScalar } from './elementwise-binary.ts';
import { NUMERIC } from './number-dtypes.ts';
import type { WideFunction } from '../wide-integers.ts';

const ALL: readonly DType[] = [...NUMERIC, 'bool'];

interface ComparisonSpec {
  readonly name: string;
  readonly summary: string;
  readonly dtypes: readonly DType[];
  readonly sign: '==' | '<' | '<=' | '>' | '>=';
  readonly host: (a: number, b: number) => boolean;
  readonly wide: (a: string, b: string, prefix: 'i64' | 'u64') => string;
  readonly wideHost: (a: bigint, b: bigint) => boolean;
}

const WIDE_FUNCTIONS: readonly WideFunction[] = ['wide_eq', 'i64_lt', 'u64_lt'];

function defineComparison(spec: ComparisonSpec): OpDefinition {
  const { name, summary, dtypes, sign, host, wideHost } = spec;
  return defineElementwise({
    name,
    summary,
    inputs: [
      { name: 'a', dtypes },
      { name: 'b', dtypes },
    ],
    output: () => 'bool',
    scalar: wideScalar(
      {
        wgsl: spec.wide,
        functions: WIDE_FUNCTIONS,
        host: (a, b) => (wideHost(a, b) ? 1n : 0n),
      },
      {
        wgsl: ([a = '', b = '']) => `(${a} ${sign} ${b})`,
        host: ([a = 0, b = 0]) => (host(a, b) ? 1 : 0),
      },
    ),
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
  sign: '==',
  host: (a, b) => a === b,
  wide: (a, b) => `wide_eq(${a}, ${b})`,
  wideHost: (a, b) => a === b,
});

const less = defineComparison({
  name: 'less',
  summary: 'Whether a < b.',
  dtypes: NUMERIC,
  sign: '<',
  host: (a, b) => a < b,
  wide: (a, b, prefix) => `${prefix}_lt(${a}, ${b})`,
  wideHost: (a, b) => a < b,
});

const greater = defineComparison({
  name: 'greater',
  summary: 'Whether a > b.',
  dtypes: NUMERIC,
  sign: '>',
  host: (a, b) => a > b,
  wide: (a, b, prefix) => `${prefix}_lt(${b}, ${a})`,
  wideHost: (a, b) => a > b,
});

const lessEqual = defineComparison({
  name: 'less_equal',
  summary: 'Whether a <= b.',
  dtypes: NUMERIC,
  sign: '<=',
  host: (a, b) => a <= b,
  wide: (a, b, prefix) => `(!${prefix}_lt(${b}, ${a}))`,
  wideHost: (a, b) => a <= b,
});

const greaterEqual = defineComparison({
  name: 'greater_equal',
  summary: 'Whether a >= b.',
  dtypes: NUMERIC,
  sign: '>=',
  host: (a, b) => a >= b,
  wide: (a, b, prefix) => `(!${prefix}_lt(${a}, ${b}))`,
  wideHost: (a, b) => a >= b,
});

const logicalNot = defineElementwise({
  name: 'logical_not',
  summary: 'True where x is false.',
  inputs: [{ name: 'x', dtypes: ['bool'] }],
  scalar: {
    wgsl: ([x = '']) => `(!${x})`,
    host: ([x = 0]) => (x === 0 ? 1 : 0),
  },
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
  scalar: {
    wgsl: ([condition = '', x = '', y = '']) => `select(${y}, ${x}, ${condition})`,
    host: ([condition = 0, x = 0, y = 0]) => (condition === 0 ? y : x),
    hostBigint: ([condition = 0n, x = 0n, y = 0n]) => (condition === 0n ? y : x),
  },
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
