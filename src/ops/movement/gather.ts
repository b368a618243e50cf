import { ALL_DTYPES, type DType } from '../../core/dtype.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount, normalizeAxis, type Shape } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { operand } from '../operand-checks.ts';

/** Slices of a table, chosen by a tensor of indices along one axis. */
export const gather: OpDefinition = defineOp({
  name: 'gather',
  kind: 'injective',
  summary:
    'For each index, the slice of x at that place of the axis. The axis gives way to the axes of ' +
    'the indices. Negative indices count from the end; where an index lies outside, elements are 0.',
  inputs: [
    { name: 'x', dtypes: ALL_DTYPES },
    { name: 'indices', dtypes: ['int32', 'int64'] },
  ],
  attributes: { axis: { type: 'int', default: 0 } },
  infer(inputs, attributes) {
    const { dtype, shape } = operand(inputs, 0);
    const indices = operand(inputs, 1).shape;
    const axis = axisOf(attributes, shape.length);
    return { dtype, shape: [...shape.slice(0, axis), ...indices, ...shape.slice(axis + 1)] };
  },
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const axis = axisOf(attributes, x.shape.length);
    const size = x.shape[axis] ?? 0;
    const indices: ArrayLike<number | bigint> = operand(inputs, 1).data;
    const from = bytesOf(x);
    const to = bytesOf(output);
    const run = elementCount(x.shape.slice(axis + 1)) * x.data.BYTES_PER_ELEMENT;
    const outerCount = elementCount(x.shape.slice(0, axis));
    let at = 0;
    for (let outer = 0; outer < outerCount; outer++) {
      for (let i = 0; i < indices.length; i++) {
        const index = Number(indices[i] ?? 0);
        const place = index < 0 ? index + size : index;
        const begin = (outer * size + place) * run;
        if (place >= 0 && place < size) to.set(from.subarray(begin, begin + run), at);
        else to.fill(0, at, at + run);
        at += run;
      }
    }
  },
  indexMap: {
    sources({ attributes, inputs, coords, param, integer }) {
      const shape = inputs[0]?.shape ?? [];
      const rank = inputs[1]?.shape.length ?? 0;
      const axis = axisOf(attributes, shape.length);
      const size = param(shape[axis] ?? 0, 'u32');
      const index = integer(1, coords.slice(axis, axis + rank));
      // u32 arithmetic wraps: an index that is still negative becomes larger than any size.
      const place = `(bitcast<u32>(${index}) + select(0u, ${size}, ${index} < 0))`;
      return [
        {
          input: 0,
          coords: [...coords.slice(0, axis), place, ...coords.slice(axis + rank)],
          when: `${place} < ${size}`,
        },
      ];
    },
  },
  tolerance: EXACT,
  cases: () => [
    gatherCase([5], [], [3]),
    gatherCase([5], [4], [3, 0, -1, -5]),
    gatherCase([7, 8], [2, 3], [6, 0, 2, 2, -7, -1]),
    gatherCase([7, 5], [3], [1, 4, -2], { axis: 0, indexType: 'int64' }),
    gatherCase([7, 5], [3], [1, 4, -2], { axis: 1 }),
    gatherCase([2, 7, 4], [2, 2], [1, 4, -2, 0], { axis: 1, indexType: 'int64' }),
    gatherCase([2, 7, 4], [], [2], { axis: 1 }),
    gatherCase([3, 8], [8], [7, 6, 5, 4, 3, 2, 1, 0], { axis: -1 }),
    gatherCase([3, 4], [4], [3, -4, 2 ** 31 - 1, -(2 ** 31)]),
    gatherCase([3, 4], [5], [2 ** 32, -(2 ** 32), 2 ** 40 + 1, -(2 ** 33) - 1, 2], {
      axis: 0,
      indexType: 'int64',
    }),
    gatherCase([0, 4], [2], [0, -1]),
    gatherCase([3, 4], [0, 2], []),
    gatherCase([3, 0], [2], [0, 1]),
    gatherCase([301, 64], [3], [300, -301, 17], { axis: 0, indexType: 'int64' }),
    gatherCase([4, 3], [2], [1, -1], { axis: 0, dtype: 'bool' }),
    gatherCase([4, 4], [2], [1, -1], { axis: 0, dtype: 'int32' }),
    gatherCase([4, 4], [2], [1, -1], { axis: 1, dtype: 'int64', indexType: 'int64' }),
  ],
  badCases: () => [
    gatherCase([3], [2], [0, 1], { axis: 1 }),
    gatherCase([], [2], [0, 0]),
    {
      title: 'indices are floats',
      inputs: [
        { dtype: 'float32', shape: [3] },
        { dtype: 'float32', shape: [2] },
      ],
    },
    { title: 'no indices', inputs: [{ dtype: 'float32', shape: [3] }] },
  ],
});

function axisOf(attributes: Attributes, rank: number): number {
  return normalizeAxis(intAttribute(attributes, 'axis'), rank, 'gather');
}

function bytesOf({ data }: HostTensor): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

interface GatherCaseOptions {
  readonly axis: number;
  readonly dtype?: DType;
  readonly indexType?: DType;
}

function gatherCase(
  shape: Shape,
  indexShape: Shape,
  indices: readonly number[],
  ...[options]: GatherCaseOptions[]
): OpCase {
  const { axis, dtype = 'float32', indexType = 'int32' } = options ?? { axis: 0 };
  const list = indices.join(', ');
  return {
    title: `${dtype} (${shape.join(', ')}) at ${indexType} (${indexShape.join(', ')}) [${list}] of ${axis}`,
    inputs: [
      { dtype, shape },
      { dtype: indexType, shape: indexShape, values: indices },
    ],
    attributes: { axis },
  };
}
