import { ALL_DTYPES } from '../../core/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { normalizeAxis, rowMajorStrides, type Shape } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { elementBits } from '../elements.ts';
import type { Operands } from '../lowering.ts';
import { formatType, operand, requireVector } from '../operand-checks.ts';
import { hostIntegers, INDEX_DTYPES } from './integer-index.ts';

/** The first elements of each sequence of a batch in reverse order. */
export const reverseSequence: OpDefinition = defineOp({
  name: 'reverse_sequence',
  kind: 'injective',
  summary:
    'The first lengths[i] elements along time_axis of slice i of batch_axis in reverse order, the ' +
    'others as they are. Lengths beyond the axis count as its size.',
  inputs: [
    { name: 'x', dtypes: ALL_DTYPES },
    { name: 'lengths', dtypes: INDEX_DTYPES },
  ],
  attributes: {
    batch_axis: { type: 'int', default: 1 },
    time_axis: { type: 'int', default: 0 },
  },
  infer(inputs, attributes, dims) {
    const x = operand(inputs, 0);
    const lengths = operand(inputs, 1);
    const { batch, time } = axesOf(attributes, x.shape.length);
    const complaint = () => ({
      where: 'reverse_sequence',
      got: `${formatType(lengths)} for ${formatType(x)}`,
      expected: `one length for each slice of axis ${batch}, along another axis`,
    });
    if (batch === time) throw new ShapeError(complaint());
    requireVector(lengths, x.shape[batch] ?? dims.of(0), { dims, complaint });
    return x;
  },
  reference: reverseOnHost,
  indexMap: {
    sources({ attributes, inputs, coords, param, integer }) {
      const { batch, time } = axesOf(attributes, coords.length);
      const size = param(inputs[0]?.shape[time] ?? 0, 'i32');
      const length = `min(${integer(1, [coords[batch] ?? '0u'])}, ${size})`;
      const at = coords[time] ?? '0u';
      const place = `u32(select(i32(${at}), ${length} - 1 - i32(${at}), i32(${at}) < ${length}))`;
      return [{ input: 0, coords: coords.map((coord, axis) => (axis === time ? place : coord)) }];
    },
  },
  tolerance: EXACT,
  cases: () => [
    reverseCase([4, 4], [4, 3, 2, 1]),
    reverseCase([4, 4], [1, 2, 3, 4], { batch_axis: 0, time_axis: 1 }),
    reverseCase([5, 2, 8], [0, 5]),
    reverseCase([3, 5, 2], [9, 1], { batch_axis: -1, time_axis: 1 }),
    reverseCase([0, 3], [0, 0, 0]),
    reverseCase([3, 0], []),
    {
      title: 'bool by int32',
      inputs: [
        { dtype: 'bool', shape: [5, 2] },
        { dtype: 'int32', shape: [2], values: [5, 2] },
      ],
    },
  ],
  badCases: () => [
    reverseCase([4, 4], [4, 3]),
    reverseCase([4, 4], [4, 3, 2, 1], { batch_axis: 0, time_axis: 0 }),
  ],
});

function axesOf(attributes: Attributes, rank: number): { batch: number; time: number } {
  const axis = (name: string) =>
    normalizeAxis(intAttribute(attributes, name), rank, `reverse_sequence: attribute ${name}`);
  return { batch: axis('batch_axis'), time: axis('time_axis') };
}

function reverseOnHost(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
  const x = operand(inputs, 0);
  const lengths = hostIntegers(operand(inputs, 1));
  const { batch, time } = axesOf(attributes, x.shape.length);
  const strides = rowMajorStrides(x.shape);
  const coordinate = (i: number, axis: number) =>
    Math.floor(i / (strides[axis] ?? 1)) % (x.shape[axis] ?? 1);
  const from = elementBits(x);
  const to = elementBits(output);
  for (let i = 0; i < to.length; i++) {
    const length = Math.min(lengths[coordinate(i, batch)] ?? 0, x.shape[time] ?? 0);
    const at = coordinate(i, time);
    const place = at < length ? length - 1 - at : at;
    to[i] = from[i + (place - at) * (strides[time] ?? 0)] ?? 0;
  }
}

function reverseCase(
  shape: Shape,
  lengths: readonly number[],
  attributes: { readonly batch_axis?: number; readonly time_axis?: number } = {},
): OpCase {
  return {
    title: `(${shape.join(', ')}) by [${lengths.join(', ')}] ${JSON.stringify(attributes)}`,
    inputs: [
      { dtype: 'float32', shape },
      { dtype: 'int64', shape: [lengths.length], values: lengths },
    ],
    attributes,
  };
}
