import type { DType } from '../../core/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { normalizeAxis, type Shape } from '../../core/shape.ts';
import { boolAttribute, intsAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { operand } from '../operand-checks.ts';
import { FLOATS, NUMERIC } from '../elementwise/number-dtypes.ts';
import { lowerReduce, type Reduction } from './reduce-lowering.ts';
import { reduceTensor } from './reduce-reference.ts';

interface ReduceSpec {
  readonly name: string;
  readonly kind: Reduction;
  readonly summary: string;
  readonly dtypes: readonly DType[];
}

function defineReduce({ name, kind, summary, dtypes }: ReduceSpec): OpDefinition {
  return defineOp({
    name,
    kind: 'reduction',
    summary,
    inputs: [{ name: 'x', dtypes }],
    attributes: {
      axes: { type: 'ints', default: [] },
      keepdims: { type: 'bool', default: false },
    },
    infer(inputs, attributes, dims) {
      const x = operand(inputs, 0);
      const reduced = reducedAxes(attributes, x.shape.length, name);
      const kept = x.shape.filter((_, axis) => !reduced.has(axis));
      if (!boolAttribute(attributes, 'keepdims')) return { dtype: x.dtype, shape: kept };
      const shape = x.shape.map((dim, axis) => (reduced.has(axis) ? dims.of(1) : dim));
      return { dtype: x.dtype, shape };
    },
    reference(inputs, attributes, output) {
      const x = operand(inputs, 0);
      reduceTensor(kind, x, {
        axes: reducedAxes(attributes, x.shape.length, name),
        output,
      });
    },
    loads: () => 1,
    lower: lowerReduce(kind),
    tolerance: { rtol: 1e-4, atol: isExtremum(kind) ? 0 : 1e-4 },
    cases: () => reduceCases(kind, dtypes),
    badCases: () => [
      { title: 'axis out of range', ...reduceCall([2, 3], { axes: [2] }) },
      { title: 'axis twice', ...reduceCall([2, 3], { axes: [1, -1] }) },
      { title: 'axes is a number', ...reduceCall([2, 3], { axes: 1 }) },
      { title: 'bad dtype', inputs: [{ dtype: 'bool', shape: [2] }] },
    ],
  });
}

const WORD_RANGE = [2 ** 29, 2 ** 31] as const;
const WIDE_RANGE = [2 ** 61, 2 ** 63 - 1024] as const;

function reduceCases(kind: Reduction, dtypes: readonly DType[]): OpCase[] {
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
  const others = dtypes
    .filter((dtype) => dtype === 'int32' || dtype === 'uint32' || dtype === 'int64')
    .flatMap((dtype) => [
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

function reducedAxes(attributes: Attributes, rank: number, name: string): ReadonlySet<number> {
  const where = `${name}: attribute axes`;
  const given = intsAttribute(attributes, 'axes');
  if (given.length === 0) return new Set(Array.from({ length: rank }, (_, axis) => axis));
  const axes = new Set(given.map((axis) => normalizeAxis(axis, rank, where)));
  if (axes.size === given.length) return axes;
  throw new ShapeError({ where, got: `[${given.join(', ')}]`, expected: 'each axis once' });
}

const isExtremum = (kind: Reduction) => kind === 'max' || kind === 'min';

const WORDS: readonly DType[] = ['int32', 'uint32', 'int64', 'uint64'];

export const REDUCE_OPS: readonly OpDefinition[] = [
  defineReduce({
    name: 'reduce_sum',
    kind: 'sum',
    summary: 'The sum over axes (all when none are given); 0 over no elements. Integers wrap.',
    dtypes: [...FLOATS, ...WORDS],
  }),
  defineReduce({
    name: 'reduce_mean',
    kind: 'mean',
    summary:
      'The mean over axes (all when none are given); NaN over no elements. That of integers is ' +
      'their sum divided, towards zero.',
    dtypes: [...FLOATS, ...WORDS],
  }),
  defineReduce({
    name: 'reduce_prod',
    kind: 'prod',
    summary: 'The product over axes (all when none are given); 1 over no elements. Integers wrap.',
    dtypes: [...FLOATS, ...WORDS],
  }),
  defineReduce({
    name: 'reduce_max',
    kind: 'max',
    summary:
      'The maximum over axes (all when none are given); minus infinity or the least integer over ' +
      'no elements. NaN stays NaN.',
    dtypes: NUMERIC,
  }),
  defineReduce({
    name: 'reduce_min',
    kind: 'min',
    summary:
      'The minimum over axes (all when none are given); infinity or the greatest integer over no ' +
      'elements. NaN stays NaN.',
    dtypes: NUMERIC,
  }),
];
