import { ALL_DTYPES } from '../../core/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { normalizeAxis, rowMajorStrides } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { elementBits } from '../elements.ts';
import { commonDType, formatType, present } from '../operand-checks.ts';
import { copyStrided } from './strided-copy.ts';

/** Tensors one after the other along an axis. */
export const concat: OpDefinition = defineOp({
  name: 'concat',
  kind: 'injective',
  summary: 'Tensors one after the other along an axis; all other dimensions are equal.',
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
  reference(inputs, attributes, output) {
    const axis = axisOf(attributes, output.shape.length);
    const strides = rowMajorStrides(output.shape);
    const elements = elementBits(output);
    let offset = 0;
    for (const x of present(inputs)) {
      copyStrided(
        { elements: elementBits(x), offset: 0, strides: rowMajorStrides(x.shape) },
        { elements, offset, strides },
        x.shape,
      );
      offset += (x.shape[axis] ?? 0) * (strides[axis] ?? 0);
    }
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
  cases: () => [
    concatCase(0, [[5]]),
    concatCase(0, [[2], [3]]),
    concatCase(0, [[2], [0], [3]]),
    concatCase(-1, [
      [3, 1],
      [3, 4],
      [3, 2],
    ]),
    concatCase(1, [
      [2, 3, 5, 5],
      [2, 4, 5, 5],
    ]),
    concatCase(2, [
      [2, 3, 1],
      [2, 3, 1],
      [2, 3, 1],
      [2, 3, 7],
    ]),
    concatCase(1, [
      [0, 2],
      [0, 3],
    ]),
    concatCase(1, [
      [130, 127],
      [130, 301],
    ]),
    {
      title: 'int32',
      inputs: [
        { dtype: 'int32', shape: [2, 2] },
        { dtype: 'int32', shape: [1, 2] },
      ],
      attributes: { axis: 0 },
    },
    {
      title: 'bool',
      inputs: [
        { dtype: 'bool', shape: [3] },
        { dtype: 'bool', shape: [2] },
      ],
      attributes: { axis: 0 },
    },
  ],
  badCases: () => [
    { title: 'no inputs', inputs: [], attributes: { axis: 0 } },
    concatCase(2, [[2, 3]]),
    concatCase(0, [
      [2, 3],
      [2, 4],
    ]),
    concatCase(0, [[2, 3], [2]]),
    {
      title: 'dtypes differ',
      inputs: [
        { dtype: 'float32', shape: [2] },
        { dtype: 'int32', shape: [2] },
      ],
      attributes: { axis: 0 },
    },
  ],
});

function axisOf(attributes: Attributes, rank: number): number {
  return normalizeAxis(intAttribute(attributes, 'axis'), rank, 'concat: attribute axis');
}

function concatCase(axis: number, shapes: readonly (readonly number[])[]): OpCase {
  return {
    title: `${shapes.map((shape) => `(${shape.join(', ')})`).join(' and ')} along ${axis}`,
    inputs: shapes.map((shape) => ({ dtype: 'float32', shape })),
    attributes: { axis },
  };
}
