import type { DType } from '../../core/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { normalizeAxis, rowMajorStrides, type Shape } from '../../core/shape.ts';
import { boolAttribute, intsAttribute } from '../attributes.ts';
import { defineOp, type OpCase, type OpDefinition } from '../define-op.ts';
import { numberElements } from '../elements.ts';
import { formatType, operand, requireElements } from '../operand-checks.ts';
import { lowerReduce, type Reduction } from './reduce-lowering.ts';

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
      if (kind !== 'sum') {
        const sizes = { kept, reduced: x.shape.filter((_, axis) => reduced.has(axis)) };
        requireElements(sizes, dims, () => ({
          where: name,
          got: formatType(x),
          expected: 'elements to reduce',
        }));
      }
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
    lower: lowerReduce(kind),
    tolerance: { rtol: 1e-4, atol: kind === 'max' ? 0 : 1e-4 },
    cases: () => reduceCases(kind, dtypes),
    badCases: () => [
      { title: 'axis out of range', ...reduceCall([2, 3], { axes: [2] }) },
      { title: 'axis twice', ...reduceCall([2, 3], { axes: [1, -1] }) },
      { title: 'axes is a number', ...reduceCall([2, 3], { axes: 1 }) },
      { title: 'bad dtype', inputs: [{ dtype: 'bool', shape: [2] }] },
      ...(kind === 'sum' ? [] : [{ title: 'no elements', ...reduceCall([0, 3], { axes: [0] }) }]),
    ],
  });
}

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
    ...(kind === 'sum' ? ([[[0, 3], { axes: [0] }]] as [Shape, Attributes][]) : []),
  ];
  const floats = calls.map(([shape, attributes]) => ({
    title: `(${shape.join(', ')}) with ${JSON.stringify(attributes)}`,
    ...reduceCall(shape, attributes),
  }));
  const others = dtypes
    .filter((dtype) => dtype !== 'float32')
    .map((dtype) => ({
      title: `${dtype} (5, 9)`,
      inputs: [{ dtype, shape: [5, 9] }],
      attributes: { axes: [1] },
    }));
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

/** Sums in double precision. A NaN among the elements makes a maximum NaN. */
export function reduceTensor(
  kind: Reduction,
  x: HostTensor,
  { axes, output }: { readonly axes: ReadonlySet<number>; readonly output: HostTensor },
): void {
  const elements = numberElements(x);
  const target = numberElements(output);
  const kept = x.shape.flatMap((_, axis) => (axes.has(axis) ? [] : [axis]));
  const starts = blockOffsets(x.shape, kept);
  const inner = blockOffsets(
    x.shape,
    [...axes].sort((a, b) => a - b),
  );
  for (let i = 0; i < starts.length; i++) {
    const start = starts[i] ?? 0;
    let result = kind === 'max' ? -Infinity : 0;
    for (let j = 0; j < inner.length; j++) {
      const value = elements[start + (inner[j] ?? 0)] ?? 0;
      if (kind !== 'max') result += value;
      else if (value > result || Number.isNaN(value)) result = value;
    }
    target[i] = kind === 'mean' ? result / inner.length : result;
  }
}

/** Offsets in row-major order of the elements along `axes` of `shape`, all others at 0. */
function blockOffsets(shape: Shape, axes: readonly number[]): Int32Array {
  const strides = rowMajorStrides(shape);
  let offsets = Int32Array.of(0);
  for (const axis of axes) {
    const dim = shape[axis] ?? 1;
    const stride = strides[axis] ?? 0;
    const next = new Int32Array(offsets.length * dim);
    for (let i = 0; i < next.length; i++) {
      next[i] = (offsets[Math.floor(i / dim)] ?? 0) + (i % dim) * stride;
    }
    offsets = next;
  }
  return offsets;
}

const reduceSum = defineReduce({
  name: 'reduce_sum',
  kind: 'sum',
  summary: 'The sum over axes (all when none are given); 0 over no elements. Integers wrap.',
  dtypes: ['float32', 'int32', 'uint32'],
});

const reduceMean = defineReduce({
  name: 'reduce_mean',
  kind: 'mean',
  summary: 'The mean over axes (all when none are given).',
  dtypes: ['float32'],
});

const reduceMax = defineReduce({
  name: 'reduce_max',
  kind: 'max',
  summary: 'The maximum over axes (all when none are given). NaN stays NaN on the host.',
  dtypes: ['float32', 'int32', 'uint32'],
});

export const REDUCE_OPS: readonly OpDefinition[] = [reduceSum, reduceMean, reduceMax];
