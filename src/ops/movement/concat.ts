import { ALL_DTYPES } from '../../core/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { normalizeAxis } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { commonDType, formatType, present } from '../operand-checks.ts';

/** Tensors one after the other along an axis. */
export const concat = defineOp({
  name: 'concat',
  kind: 'injective',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES, variadic: true }],
  attributes: { axis: { type: 'int' } },
  infer(inputs, attributes, dims) {
    const types = present(inputs);
    const first = types[0];
    if (first === undefined) {
      throw new ShapeError({ where: 'concat', got: 'no inputs', expected: 'one or more' });
    }
    const dtype = commonDType(types, 'concat');
    const axis = axisOf(attributes, first.shape.length);
    const shape = [...first.shape];
    for (const type of types.slice(1)) {
      const complaint = () => ({
        where: 'concat',
        got: `${formatType(first)} and ${formatType(type)}`,
        expected: `shapes that differ along axis ${axis} only`,
      });
      if (type.shape.length !== shape.length) throw new ShapeError(complaint());
      for (const [i, dim] of type.shape.entries()) {
        const total = shape[i] ?? dim;
        shape[i] = i === axis ? dims.add(total, dim) : dims.requireEqual(total, dim, complaint);
      }
    }
    return { dtype, shape };
  },
  indexMap: {
    movesOnly: true,
    joinedAxis: axisOf,
    sources({ attributes, inputs, output, coords, param }) {
      const axis = axisOf(attributes, output.shape.length);
      const along = coords[axis] ?? '0u';
      let begin = 0;
      return inputs.map((type, input) => {
        const local = begin === 0 ? along : `(${along} - ${param(begin, 'u32')})`;
        begin += type.shape[axis] ?? 0;
        const source = { input, coords: coords.map((c, i) => (i === axis ? local : c)) };
        const isLast = input === inputs.length - 1;
        return isLast ? source : { ...source, when: `${along} < ${param(begin, 'u32')}` };
      });
    },
  },
  tolerance: EXACT,
});

export function axisOf(attributes: Attributes, rank: number): number {
  return normalizeAxis(intAttribute(attributes, 'axis'), rank, 'concat: attribute axis');
}
