import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { normalizeAxis } from '../../core/tensor/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import {
  constant,
  less,
  min,
  select,
  sub,
  toSigned,
  toUnsigned,
  ZERO,
} from '../index-expression/build.ts';
import { formatType, operand, requireVector } from '../operand-checks.ts';
import { INDEX_DTYPES } from './integer-index.ts';

/** The first elements of each sequence of a batch in reverse order. */
export const reverseSequence = defineOp({
  name: 'reverse_sequence',
  kind: 'injective',
  inputs: [tensor('x', ALL_DTYPES), tensor('lengths', INDEX_DTYPES)],
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
  indexMap: {
    sources({ attributes, inputs, coords, param, integer }) {
      const { batch, time } = axesOf(attributes, coords.length);
      const size = param(inputs[0]?.shape[time] ?? 0, 'i32');
      const length = min(integer(1, [coords[batch] ?? ZERO]), size);
      const at = toSigned(coords[time] ?? ZERO);
      const reversed = sub(sub(length, constant(1, 'i32')), at);
      const place = toUnsigned(select(less(at, length), reversed, at));
      return [{ input: 0, coords: coords.with(time, place) }];
    },
  },
  tolerance: EXACT,
});

export function axesOf(attributes: Attributes, rank: number): { batch: number; time: number } {
  const axis = (name: string) =>
    normalizeAxis(intAttribute(attributes, name), rank, `reverse_sequence: attribute ${name}`);
  return { batch: axis('batch_axis'), time: axis('time_axis') };
}
