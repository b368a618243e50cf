import type { DimContext } from '../../core/dim-context.ts';
import type { Dim } from '../../core/dim.ts';
import type { DType } from '../../core/dtype.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes, TensorTypeOf } from '../../core/primitive-function.ts';
import { elementCount, normalizeAxis, type Shape } from '../../core/shape.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import { type AttributeSpec, defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import type { Operands } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import { COMPARED_DTYPES, comparedElements } from './compared-elements.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';

const INPUTS = [{ name: 'x', dtypes: COMPARED_DTYPES }] as const;

const ATTRIBUTES: Readonly<Record<string, AttributeSpec>> = {
  axis: { type: 'int', default: 0 },
  sorted: { type: 'bool', default: true },
};

/** Gathered along the axis, these positions give the different slices. */
export const uniqueIndices: OpDefinition = defineDynamicOp({
  name: 'unique_indices',
  summary:
    'Where each different slice along axis comes first, in ascending order of slices or, not ' +
    'sorted, of positions.',
  inputs: INPUTS,
  attributes: ATTRIBUTES,
  infer(inputs, attributes, dims) {
    axisOf(inputs, attributes);
    return { dtype: 'int64', shape: [dims.unknown()] };
  },
  compute: (inputs, attributes) => int64s(groupSlices(inputs, attributes).first),
  cases: uniqueCases,
  badCases: uniqueBadCases,
});

/** How many slices along the axis equal each different one. */
export const uniqueCounts: OpDefinition = defineDynamicOp({
  name: 'unique_counts',
  summary: 'How often each different slice along axis occurs, in the order of unique_indices.',
  inputs: INPUTS,
  attributes: ATTRIBUTES,
  infer(inputs, attributes, dims) {
    axisOf(inputs, attributes);
    return { dtype: 'int64', shape: [dims.unknown()] };
  },
  compute: (inputs, attributes) => int64s(groupSlices(inputs, attributes).counts),
  cases: uniqueCases,
  badCases: uniqueBadCases,
});

/** Which of the different slices each slice equals. Its size is known: that of the axis. */
export const uniqueInverse: OpDefinition = defineOp({
  name: 'unique_inverse',
  kind: 'opaque',
  host: 'it compares all elements with each other, one after another',
  summary: 'For each slice along axis, which of the different ones it is.',
  inputs: INPUTS,
  attributes: ATTRIBUTES,
  infer: inferInverse,
  reference(inputs, attributes, output) {
    const target = output.elements;
    const { inverse } = groupSlices(inputs, attributes);
    if (target instanceof BigInt64Array) target.set(inverse.map(BigInt));
  },
  tolerance: EXACT,
  cases: uniqueCases,
  badCases: uniqueBadCases,
});

function inferInverse<D extends Dim>(
  inputs: Operands<TensorTypeOf<D>>,
  attributes: Attributes,
  dims: DimContext<D>,
): TensorTypeOf<D> {
  const size = operand(inputs, 0).shape[axisOf(inputs, attributes)];
  return { dtype: 'int64', shape: [size ?? dims.of(1)] };
}

function axisOf(inputs: Operands<{ readonly shape: readonly Dim[] }>, attributes: Attributes) {
  return normalizeAxis(intAttribute(attributes, 'axis'), operand(inputs, 0).shape.length, 'unique');
}

interface Groups {
  /** The first slice of each group. */
  readonly first: readonly number[];
  readonly counts: readonly number[];
  /** The group of each slice. */
  readonly inverse: readonly number[];
}

/** Slices along an axis compare by their elements in row-major order; NaN equals NaN, behind all. */
function groupSlices(inputs: Operands<HostTensor>, attributes: Attributes): Groups {
  const x = operand(inputs, 0);
  const size = x.shape[axisOf(inputs, attributes)] ?? 0;
  const compare = sliceComparison(x, axisOf(inputs, attributes));
  const order = Array.from({ length: size }, (_, i) => i);
  order.sort((a, b) => compare(a, b) || a - b);
  const groups: number[][] = [];
  for (const slice of order) {
    const last = groups.at(-1);
    if (last !== undefined && compare(last[0] ?? 0, slice) === 0) last.push(slice);
    else groups.push([slice]);
  }
  const isSorted = boolAttribute(attributes, 'sorted');
  if (!isSorted) groups.sort(([a = 0], [b = 0]) => a - b);
  const inverse = new Array<number>(size).fill(0);
  for (const [group, slices] of groups.entries()) for (const i of slices) inverse[i] = group;
  return {
    first: groups.map(([slice = 0]) => slice),
    counts: groups.map((slices) => slices.length),
    inverse,
  };
}

function sliceComparison(x: HostTensor, axis: number): (a: number, b: number) => number {
  const elements = comparedElements(x);
  const inner = elementCount(x.shape.slice(axis + 1));
  const outer = elementCount(x.shape.slice(0, axis));
  const stride = (x.shape[axis] ?? 1) * inner;
  return (a, b) => {
    for (let o = 0; o < outer; o++) {
      for (let i = 0; i < inner; i++) {
        const at = o * stride + i;
        const order = compareElements(elements[at + a * inner], elements[at + b * inner]);
        if (order !== 0) return order;
      }
    }
    return 0;
  };
}

function compareElements(a: number | bigint = 0, b: number | bigint = 0): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

function int64s(values: readonly number[]): HostTensor {
  return HostTensor.from('int64', [values.length], values);
}

function uniqueCases(): OpCase[] {
  return [
    uniqueCase('float32', [7], [2, 1, 1, 3, 4, 3, -0]),
    uniqueCase('float32', [4], [Number.NaN, 1, Number.NaN, 0]),
    uniqueCase('int32', [3, 3], [1, 0, 0, 1, 0, 0, 2, 3, 4]),
    uniqueCase('uint32', [2, 4, 2], [1, 1, 0, 1, 2, 1, 0, 1, 1, 1, 0, 1, 2, 1, 0, 1], {
      axis: 1,
    }),
    uniqueCase('int64', [6], [5, 5, 1, 9, 1, 5], { sorted: false }),
    uniqueCase('bool', [4], [1, 0, 0, 1], { axis: -1 }),
    uniqueCase('float32', [0], []),
    uniqueCase('float32', [3, 0], []),
    { title: 'large', inputs: [{ dtype: 'int32', shape: [4097] }] },
  ];
}

function uniqueCase(
  dtype: DType,
  shape: Shape,
  ...[values, attributes = {}]: [readonly number[], Attributes?]
): OpCase {
  const title = `${dtype} (${shape.join(', ')}) ${JSON.stringify(attributes)}`;
  return { title, inputs: [{ dtype, shape, values }], attributes };
}

function uniqueBadCases(): OpCase[] {
  return [
    { title: 'a scalar', inputs: [{ dtype: 'float32', shape: [] }] },
    { title: 'no such axis', inputs: [{ dtype: 'int32', shape: [2] }], attributes: { axis: 1 } },
  ];
}
