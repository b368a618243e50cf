import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import { axisAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { less, sub, ZERO } from '../index-expression/build.ts';
import { commonDType, formatType, present } from '../operand-checks.ts';

/** Tensors that one `concat` is given in compiled code: a kernel binds eight on every adapter, one of them its result. */
export const MOST_JOINED = 7;

export const concatAxisOf = /* @__PURE__ */ axisAttribute('concat');

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
    const axis = concatAxisOf(attributes, first.shape.length);
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
    joinedAxis: concatAxisOf,
    sources({ attributes, inputs, output, coords, param }) {
      const axis = concatAxisOf(attributes, output.shape.length);
      const along = coords[axis] ?? ZERO;
      let begin = 0;
      return inputs.map((type, input) => {
        const local = begin === 0 ? along : sub(along, param(begin, 'u32'));
        begin += type.shape[axis] ?? 0;
        const isLast = input === inputs.length - 1;
        const when = isLast ? undefined : less(along, param(begin, 'u32'));
        return { input, coords: coords.with(axis, local), when };
      });
    },
  },
  tolerance: EXACT,
});
