import type { DType } from '../../core/dtype.ts';
import type { OpDefinition, Tolerance } from '../define-op.ts';
import * as f from '../formula/build.ts';
import type { Formula } from '../formula/expression.ts';
import { INTRINSICS } from '../formula/intrinsics.ts';
import type { OpCase } from '../op-cases.ts';
import { defineElementwise, type ElementwiseSpec } from './elementwise.ts';
import { NUMERIC } from './number-dtypes.ts';

export interface BinarySpec extends Pick<ElementwiseSpec, 'name' | 'summary' | 'attributes'> {
  readonly dtypes: readonly DType[];
  /** Of the operands A and B. */
  readonly formula: Formula;
  readonly tolerance?: Tolerance;
  /** Ranges of the random inputs. */
  readonly ranges?: readonly [readonly [number, number], readonly [number, number]];
  readonly cases?: readonly OpCase[];
  /** In place of the call with bool operands. */
  readonly badCases?: readonly OpCase[];
}

/** An elementwise operator of two inputs of one dtype. */
export function defineBinary(spec: BinarySpec): OpDefinition {
  const { name, summary, dtypes } = spec;
  return defineElementwise({
    name,
    summary,
    inputs: [
      { name: 'a', dtypes },
      { name: 'b', dtypes },
    ],
    scalar: { formula: spec.formula },
    ...(spec.attributes === undefined ? {} : { attributes: spec.attributes }),
    ...(spec.tolerance === undefined ? {} : { tolerance: spec.tolerance }),
    cases: () => [...broadcastCases(dtypes, spec.ranges), ...(spec.cases ?? [])],
    badCases: () => [
      {
        title: 'shapes do not broadcast',
        inputs: [
          { dtype: 'float32', shape: [2, 3] },
          { dtype: 'float32', shape: [4, 3] },
        ],
      },
      {
        title: 'dtypes differ',
        inputs: [
          { dtype: 'float32', shape: [2] },
          { dtype: 'int32', shape: [2] },
        ],
      },
      ...(spec.badCases ?? [
        {
          title: 'bad dtype',
          inputs: [
            { dtype: 'bool', shape: [2] },
            { dtype: 'bool', shape: [2] },
          ],
        } as const,
      ]),
      { title: 'one input', inputs: [{ dtype: 'float32', shape: [2] }] },
    ],
  });
}

const BASE_DTYPES: ReadonlySet<DType> = new Set<DType>(['float32', 'int32', 'uint32', 'bool']);

/** Pairs of shapes that broadcast in every way, for operators of two inputs. */
export function broadcastCases(dtypes: readonly DType[], ranges?: BinarySpec['ranges']): OpCase[] {
  const pairs = [
    [[], []],
    [[5], []],
    [[], [2, 3]],
    [[7], [7]],
    [
      [2, 3, 5],
      [2, 3, 5],
    ],
    [
      [4, 1],
      [1, 6],
    ],
    [[2, 3, 4], [4]],
    [
      [2, 8, 3, 3],
      [8, 1, 1],
    ],
    [
      [1, 0],
      [3, 1],
    ],
    [
      [64, 1, 33],
      [1, 31, 1],
    ],
  ];
  return dtypes
    .filter((dtype) => BASE_DTYPES.has(dtype))
    .flatMap((dtype) =>
      pairs.map(([a = [], b = []]) => ({
        title: `${dtype} (${a.join(', ')}) and (${b.join(', ')})`,
        inputs: [
          { dtype, shape: a, ...(ranges === undefined ? {} : { range: ranges[0] }) },
          { dtype, shape: b, ...(ranges === undefined ? {} : { range: ranges[1] }) },
        ],
      })),
    );
}

export const add = defineBinary({
  name: 'add',
  summary: 'a + b. Integers wrap.',
  dtypes: NUMERIC,
  tolerance: { rtol: 1e-6, atol: 1e-7 },
  formula: f.add(f.A, f.B),
  cases: [
    {
      // One dimension of workgroups holds at most 65,535, here of 64 elements each.
      title: 'more elements than one dimension of workgroups',
      inputs: [
        { dtype: 'float32', shape: [4_194_305] },
        { dtype: 'float32', shape: [] },
      ],
    },
    {
      title: 'int32 wraps',
      inputs: [
        { dtype: 'int32', shape: [2], values: [2 ** 31 - 1, -(2 ** 31)] },
        { dtype: 'int32', shape: [2], values: [1, -1] },
      ],
    },
  ],
});

const sub = defineBinary({
  name: 'sub',
  summary: 'a - b. Integers wrap.',
  dtypes: NUMERIC,
  tolerance: { rtol: 1e-6, atol: 1e-7 },
  formula: f.sub(f.A, f.B),
});

export const mul = defineBinary({
  name: 'mul',
  summary: 'a * b. Integers wrap.',
  dtypes: NUMERIC,
  tolerance: { rtol: 1e-6, atol: 1e-7 },
  formula: f.mul(f.A, f.B),
  cases: [
    {
      title: 'int32 wraps',
      inputs: [
        { dtype: 'int32', shape: [2], values: [65_537, -123_456_789] },
        { dtype: 'int32', shape: [2], values: [65_537, 987_654_321] },
      ],
    },
  ],
});

const div = defineBinary({
  name: 'div',
  summary:
    'a / b. Integers round towards zero; a / 0 is a, and -2^31 / -1 is -2^31, as WGSL has it.',
  dtypes: NUMERIC,
  tolerance: { rtol: 1e-6, atol: 1e-7 },
  formula: f.div(f.A, f.B),
  cases: [
    {
      title: 'int32 by zero and over the edge',
      inputs: [
        { dtype: 'int32', shape: [5], values: [7, -7, -(2 ** 31), 5, 0] },
        { dtype: 'int32', shape: [5], values: [-2, 2, -1, 0, 0] },
      ],
    },
  ],
});

export const maximum = defineBinary({
  name: 'maximum',
  summary: 'The greater of a and b; NaN where either is.',
  dtypes: NUMERIC,
  formula: f.max(f.A, f.B),
});

export const minimum = defineBinary({
  name: 'minimum',
  summary: 'The lesser of a and b; NaN where either is.',
  dtypes: NUMERIC,
  formula: f.min(f.A, f.B),
});

const pow = defineBinary({
  name: 'pow',
  summary:
    'a to the power b. A negative float base wants an integral exponent (else NaN); an integer ' +
    'to a negative power is 0 unless the base is 1 or -1.',
  dtypes: NUMERIC,
  tolerance: INTRINSICS.pow.tolerance,
  ranges: [
    [0, 5],
    [-3, 4],
  ],
  formula: f.intrinsic('pow', f.A, f.B),
  cases: [
    {
      title: 'signs, zeros and ones',
      inputs: [
        { dtype: 'float32', shape: [10], values: [-2, -2, 0, 0, 1, -3, 4, 2, -1, -1.5] },
        { dtype: 'float32', shape: [10], values: [3, 2, 0, 2.5, -7, -1, 0.5, -2, 0, 4] },
      ],
    },
    {
      title: 'squares',
      inputs: [
        { dtype: 'float32', shape: [3, 65] },
        { dtype: 'float32', shape: [], values: [2] },
      ],
    },
    {
      title: 'int32 signs',
      inputs: [
        { dtype: 'int32', shape: [8], values: [-2, -1, -1, 0, 0, 3, 7, 2] },
        { dtype: 'int32', shape: [8], values: [3, -3, -2, 0, -1, -1, 11, 40] },
      ],
    },
  ],
});

export const BINARY_OPS: readonly OpDefinition[] = [add, sub, mul, div, pow, maximum, minimum];
