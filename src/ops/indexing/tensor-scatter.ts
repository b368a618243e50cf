import { ALL_DTYPES, type DType } from '../../core/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount, normalizeAxis, type Shape } from '../../core/shape.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import type { Operands } from '../lowering.ts';
import { commonDType, formatType, operand, requireVector } from '../operand-checks.ts';
import { hostIntegers, INDEX_DTYPES } from './integer-index.ts';

/** A cache with new entries from a place of its own for each slice of the first axis. */
export const tensorScatter: OpDefinition = defineOp({
  name: 'tensor_scatter',
  kind: 'injective',
  summary:
    'x with updates written along an axis, in slice i of the first axis from begins[i] on. What ' +
    'goes beyond the end is dropped, or comes around when circular.',
  inputs: [
    { name: 'x', dtypes: ALL_DTYPES },
    { name: 'updates', dtypes: ALL_DTYPES },
    { name: 'begins', dtypes: INDEX_DTYPES },
  ],
  attributes: {
    axis: { type: 'int', default: -2 },
    circular: { type: 'bool', default: false },
  },
  infer(inputs, attributes, dims) {
    const x = operand(inputs, 0);
    const updates = operand(inputs, 1);
    const dtype = commonDType([x, updates], 'tensor_scatter');
    const axis = axisOf(attributes, x.shape.length);
    const complaint = () => ({
      where: 'tensor_scatter',
      got: `${formatType(updates)} at ${formatType(operand(inputs, 2))} for ${formatType(x)}`,
      expected: `updates no larger than x along axis ${axis} and equal elsewhere, one begin a slice`,
    });
    if (axis === 0 || updates.shape.length !== x.shape.length) throw new ShapeError(complaint());
    for (const [i, dim] of updates.shape.entries()) {
      const size = x.shape[i] ?? dim;
      if (i === axis) dims.requireAtMost(dim, size, complaint);
      else dims.requireEqual(dim, size, complaint);
    }
    requireVector(operand(inputs, 2), x.shape[0] ?? dims.of(0), { dims, complaint });
    return { dtype, shape: x.shape };
  },
  reference: tensorScatterOnHost,
  indexMap: {
    sources({ attributes, inputs, coords, param, integer }) {
      const axis = axisOf(attributes, coords.length);
      const size = param(inputs[0]?.shape[axis] ?? 0, 'i32');
      const begin = integer(2, [coords[0] ?? '0u']);
      const from = `i32(${coords[axis] ?? '0u'}) - ${begin}`;
      const place = boolAttribute(attributes, 'circular')
        ? `u32((i32(${coords[axis] ?? '0u'}) - ${begin} % ${size} + ${size}) % ${size})`
        : `bitcast<u32>(${from})`;
      const count = param(inputs[1]?.shape[axis] ?? 0, 'u32');
      return [
        {
          input: 1,
          coords: coords.map((coord, i) => (i === axis ? place : coord)),
          when: `${place} < ${count}`,
        },
        { input: 0, coords },
      ];
    },
  },
  tolerance: EXACT,
  cases: () => [
    scatterCase([2, 4, 5], [2, 1, 5], [1, 2]),
    scatterCase([2, 4, 8], [2, 2, 8], [2, 0]),
    scatterCase([2, 4, 8], [2, 3, 8], [3, 1], { circular: true }),
    scatterCase([2, 4, 8], [2, 3, 8], [3, -1]),
    scatterCase([2, 3, 4, 5], [2, 3, 2, 5], [3, 7], { circular: true, dtype: 'int32' }),
    scatterCase([2, 3, 4], [2, 3, 2], [1, 2], { axis: -1 }),
    scatterCase([3, 4], [3, 2], [1, 2, 0], { axis: 1, dtype: 'bool' }),
    scatterCase([0, 4, 5], [0, 1, 5], []),
    scatterCase([2, 4, 5], [2, 0, 5], [1, 2], { circular: true }),
  ],
  badCases: () => [
    scatterCase([2, 4, 5], [2, 5, 5], [1, 2]),
    scatterCase([2, 4, 5], [2, 1, 5], [1]),
    scatterCase([2, 4], [2, 4], [1, 2], { axis: 0 }),
    scatterCase([2, 4, 5], [2, 1, 4], [1, 2]),
  ],
});

function axisOf(attributes: Attributes, rank: number): number {
  return normalizeAxis(intAttribute(attributes, 'axis'), rank, 'tensor_scatter: attribute axis');
}

function tensorScatterOnHost(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
  const [x, updates] = [operand(inputs, 0), operand(inputs, 1)];
  const begins = hostIntegers(operand(inputs, 2));
  const axis = axisOf(attributes, x.shape.length);
  const [size, count] = [x.shape[axis] ?? 0, updates.shape[axis] ?? 0];
  const run = elementCount(x.shape.slice(axis + 1)) * output.data.BYTES_PER_ELEMENT;
  const outerPerSlice = elementCount(x.shape.slice(1, axis));
  const to = output.bytes;
  const from = updates.bytes;
  to.set(x.bytes);
  for (let row = 0; row < outerPerSlice * begins.length; row++) {
    const begin = begins[Math.floor(row / outerPerSlice)] ?? 0;
    for (let i = 0; i < count; i++) {
      const circular = (((begin + i) % size) + size) % size;
      const place = boolAttribute(attributes, 'circular') ? circular : begin + i;
      if (place < 0 || place >= size) continue;
      const source = (row * count + i) * run;
      to.set(from.subarray(source, source + run), (row * size + place) * run);
    }
  }
}

interface ScatterCaseOptions {
  readonly axis?: number;
  readonly circular?: boolean;
  readonly dtype?: DType;
}

function scatterCase(
  shape: Shape,
  updates: Shape,
  begins: readonly number[],
  ...[options = {}]: ScatterCaseOptions[]
): OpCase {
  const { axis = -2, circular = false, dtype = 'float32' } = options;
  const mode = circular ? 'circular' : 'linear';
  return {
    title: `${mode} ${dtype} (${updates.join(', ')}) into (${shape.join(', ')}) at [${begins.join(', ')}] of axis ${axis}`,
    inputs: [
      { dtype, shape },
      { dtype, shape: updates },
      { dtype: 'int64', shape: [begins.length], values: begins },
    ],
    attributes: { axis, circular },
  };
}
