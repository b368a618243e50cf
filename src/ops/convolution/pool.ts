import { CONCRETE_DIMS, type DimContext } from '../../core/dim-context.ts';
import { type Dim, formatDim } from '../../core/dim.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount } from '../../core/shape.ts';
import { intsAttribute } from '../attributes.ts';
import { type AttributeSpec, defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import {
  formatType,
  operand,
  requireElements,
  requireLength,
  requireMinimumRank,
} from '../operand-checks.ts';
import { lowerGlobalPool, lowerPool, type PoolKind } from './pool-lowering.ts';
import { poolVolumes } from './pool-reference.ts';
import { reduceTensor } from '../reduction/reduce-reference.ts';
import {
  requireSpatial,
  volumeAxes,
  WINDOW_ATTRIBUTES,
  type WindowAxis,
  windowAxes,
} from './window.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';

const POOL_ATTRIBUTES: Readonly<Record<string, AttributeSpec>> = {
  kernel: { type: 'ints', minimum: 1 },
  ...WINDOW_ATTRIBUTES,
  ceil_mode: { type: 'bool', default: false },
};

interface PoolSpec {
  readonly name: string;
  readonly kind: PoolKind;
  readonly summary: string;
}

/** Attributes that one pool has and others have not. */
const MORE_ATTRIBUTES: Partial<Record<PoolKind, Readonly<Record<string, AttributeSpec>>>> = {
  mean: { count_include_pad: { type: 'bool', default: false } },
  place: { column_major: { type: 'bool', default: false } },
};

function definePool({ name, kind, summary }: PoolSpec): OpDefinition {
  const isExact = kind === 'max' || kind === 'place';
  return defineOp({
    name,
    kind: 'anchor',
    summary,
    inputs: [{ name: 'x', dtypes: isExact ? [...FLOATS, 'int8', 'uint8'] : FLOATS }],
    attributes: { ...POOL_ATTRIBUTES, ...MORE_ATTRIBUTES[kind] },
    infer(inputs, attributes, dims) {
      const x = operand(inputs, 0);
      requireSpatial(x, `${name}: input x`);
      const axes = poolAxes(x.shape, attributes, { name, dims });
      checkPads(axes, name, dims);
      const shape = [...x.shape.slice(0, 2), ...axes.map(({ count }) => count)];
      return { dtype: kind === 'place' ? 'int32' : x.dtype, shape };
    },
    reference(inputs, attributes, output) {
      const x = operand(inputs, 0);
      const axes = volumeAxes(poolAxes(x.shape, attributes, { name, dims: CONCRETE_DIMS }));
      const countsPad = attributes['count_include_pad'] === true;
      const isColumnMajor = attributes['column_major'] === true;
      poolVolumes(x, output, { kind, countsPad, isColumnMajor, axes });
    },
    loads: (_, { inputs, output, attributes }) =>
      intsAttribute(attributes, 'kernel').reduce(
        (loads, size) => loads * size,
        elementCount(output.shape) / Math.max(elementCount(inputs[0]?.shape ?? []), 1),
      ),
    lower: lowerPool(kind),
    tolerance: isExact ? { rtol: 0, atol: 0 } : { rtol: 1e-5, atol: 1e-5 },
    cases: () => poolCases(kind),
    badCases: () => [
      { title: 'no kernel', inputs: [{ dtype: 'float32', shape: [1, 1, 4, 4] }] },
      poolCase([4, 4], { kernel: [2, 2] }),
      poolCase([1, 1, 4, 4], { kernel: [2, 2, 2] }),
      poolCase([1, 1, 4, 4], { kernel: [2, 2], pads: [1, 1] }),
      poolCase([1, 1, 2, 2], { kernel: [3, 3] }),
      poolCase([1, 1, 4, 4], { kernel: [2, 2], pads: [2, 0, 0, 0] }),
      poolCase([1, 1, 4, 4], { kernel: [2, 2], strides: [0, 1] }),
      poolCase([1, 1, 4, 4], { kernel: [2, 2], ceil_mode: 1 }),
      {
        title: 'bad dtype',
        inputs: [{ dtype: 'int32', shape: [1, 1, 2, 2] }],
        attributes: { kernel: [1, 1] },
      },
    ],
  });
}

function poolAxes<D extends Dim>(
  shape: readonly D[],
  attributes: Attributes,
  { name, dims }: { readonly name: string; readonly dims: DimContext<D> },
): WindowAxis<D>[] {
  const kernel = intsAttribute(attributes, 'kernel').map((size) => dims.of(size));
  requireLength(kernel, shape.length - 2, `${name}: attribute kernel`);
  const ceilMode = attributes['ceil_mode'] === true;
  return windowAxes(shape, attributes, { name, kernel, ceilMode, dims });
}

function checkPads<D extends Dim>(
  axes: readonly WindowAxis<D>[],
  name: string,
  dims: DimContext<D>,
): void {
  for (const { kernel, dilation, padBefore, padAfter } of axes) {
    const room = dims.mul(dims.sub(kernel, 1), dilation);
    const largest = dims.max(padBefore, padAfter);
    dims.requireAtMost(largest, room, () => ({
      where: `${name}: attribute pads`,
      got: formatDim(largest),
      expected: `less than the window of ${formatDim(dims.add(room, 1))}, so that no window lies in the padding`,
    }));
  }
}

function poolCases(kind: PoolKind): OpCase[] {
  const isExact = kind === 'max' || kind === 'place';
  const average: OpCase[] = [
    poolCase([1, 2, 5, 5], { kernel: [3, 3], pads: [1, 1, 1, 1], count_include_pad: true }),
    poolCase([1, 1, 6, 7], {
      kernel: [3, 3],
      strides: [2, 2],
      pads: [1, 0, 1, 2],
      ceil_mode: true,
      count_include_pad: true,
    }),
  ];
  const bytes = (['int8', 'uint8'] as const).map(
    (dtype): OpCase => ({
      title: dtype,
      inputs: [{ dtype, shape: [2, 1, 5, 5] }],
      attributes: { kernel: [3, 3], pads: [1, 1, 1, 1] },
    }),
  );
  const places: OpCase[] = [
    poolCase([2, 2, 5, 6], { kernel: [2, 3], column_major: true }),
    poolCase([1, 2, 3, 4, 5], { kernel: [2, 2, 2], pads: [1, 0, 1, 0, 1, 0], column_major: true }),
  ];
  return [
    poolCase([1, 1, 1, 1], { kernel: [1, 1] }),
    poolCase([2, 3, 9], { kernel: [3], strides: [2], pads: [1, 0] }),
    poolCase([1, 2, 5, 6, 7], { kernel: [2, 3, 2], strides: [1, 2, 3], dilations: [2, 1, 3] }),
    poolCase([2, 3, 8, 8], { kernel: [2, 2], strides: [2, 2] }),
    poolCase([1, 2, 7, 9], { kernel: [3, 2], strides: [2, 1], pads: [1, 0, 2, 1] }),
    poolCase([1, 2, 10, 10], { kernel: [3, 3], dilations: [2, 3] }),
    poolCase([1, 3, 13, 13], { kernel: [3, 3], strides: [2, 2], ceil_mode: true }),
    poolCase([1, 1, 4, 4], {
      kernel: [2, 2],
      strides: [3, 3],
      pads: [1, 1, 1, 1],
      ceil_mode: true,
    }),
    poolCase([0, 3, 4, 4], { kernel: [2, 2] }),
    poolCase([1, 16, 55, 55], { kernel: [3, 3], strides: [2, 2] }),
    poolCase([2, 5, 17, 63], { kernel: [3, 2], strides: [1, 3], pads: [2, 0, 1, 1] }),
    poolCase([1, 9, 130, 127], { kernel: [2, 3], pads: [1, 1, 0, 2] }),
    poolCase([3, 1, 30, 31], { kernel: [5, 30], pads: [2, 0, 2, 0] }),
    ...(kind === 'mean' ? average : []),
    ...(kind === 'place' ? places : []),
    ...(isExact ? bytes : []),
  ];
}

function poolCase(shape: readonly number[], attributes: Attributes): OpCase {
  return {
    title: `(${shape.join(', ')}) ${JSON.stringify(attributes)}`,
    inputs: [{ dtype: 'float32', shape }],
    attributes,
  };
}

function defineGlobalPool({
  name,
  kind,
  summary,
}: PoolSpec & { readonly kind: 'max' | 'mean' }): OpDefinition {
  const spatialAxes = (rank: number) => Array.from({ length: rank - 2 }, (_, i) => i + 2);
  return defineOp({
    name,
    kind: 'reduction',
    summary,
    inputs: [{ name: 'x', dtypes: FLOATS }],
    attributes: {},
    infer(inputs, _, dims) {
      const x = operand(inputs, 0);
      requireMinimumRank(x, 3, `${name}: input x`);
      const kept = x.shape.slice(0, 2);
      const spatial = x.shape.slice(2);
      requireElements({ kept, reduced: spatial }, dims, () => ({
        where: name,
        got: formatType(x),
        expected: 'elements to pool',
      }));
      return { dtype: x.dtype, shape: [...kept, ...spatial.map(() => dims.of(1))] };
    },
    reference(inputs, _, output) {
      const x = operand(inputs, 0);
      const axes = new Set(spatialAxes(x.shape.length));
      reduceTensor(kind, x, { axes, output });
    },
    lower: lowerGlobalPool(kind),
    tolerance: kind === 'max' ? { rtol: 0, atol: 0 } : { rtol: 1e-4, atol: 1e-5 },
    cases: () =>
      [
        [1, 1, 1, 1],
        [2, 3, 5, 7],
        [1, 70, 13, 13],
        [0, 3, 2, 2],
        [2, 3, 9],
        [1, 2, 3, 4, 5],
        [1, 3, 150, 151],
      ].map((shape) => ({
        title: `(${shape.join(', ')})`,
        inputs: [{ dtype: 'float32', shape }],
      })),
    badCases: () => [
      { title: 'bad rank', inputs: [{ dtype: 'float32', shape: [2, 3] }] },
      { title: 'no elements', inputs: [{ dtype: 'float32', shape: [2, 3, 0, 4] }] },
      { title: 'bad dtype', inputs: [{ dtype: 'int32', shape: [1, 1, 2, 2] }] },
    ],
  });
}

export const POOL_OPS: readonly OpDefinition[] = [
  definePool({
    name: 'max_pool',
    kind: 'max',
    summary: 'The maximum of a window over one to three axes. NaN stays NaN on the host.',
  }),
  definePool({
    name: 'max_pool_indices',
    kind: 'place',
    summary:
      'Where the maximum of each window stands, counted over all of x; of equal ones the first.',
  }),
  definePool({
    name: 'avg_pool',
    kind: 'mean',
    summary: 'The mean of a window over one to three axes, padding counted if asked.',
  }),
  definePool({
    name: 'sum_pool',
    kind: 'sum',
    summary: 'The sum of a window over one to three axes.',
  }),
  defineGlobalPool({
    name: 'global_max_pool',
    kind: 'max',
    summary: 'The maximum of each channel: (N, C, ...) to (N, C, 1, ...).',
  }),
  defineGlobalPool({
    name: 'global_avg_pool',
    kind: 'mean',
    summary: 'The mean of each channel: (N, C, ...) to (N, C, 1, ...).',
  }),
];
