import { countElements } from '../../core/dim-context.ts';
import type { TypedArray } from '../../core/dtype.ts';
import { elementCount, normalizeAxis, rowMajorStrides, type Shape } from '../../core/shape.ts';
import { dimsAttribute, intAttribute, stringAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { operand } from '../operand-checks.ts';
import { INTEGERS, integersOf } from './integers.ts';

/** Dimensions as elements, for what is no longer arithmetic of sizes: `Sqrt(Cast(Shape(x)))`. */
export const dimsTensor: OpDefinition = defineOp({
  name: 'dims_tensor',
  kind: 'opaque',
  host: 'the sizes of tensors are known on the host',
  summary: 'Dimensions as the elements of a vector, int64.',
  inputs: [],
  attributes: { dims: { type: 'dims' } },
  infer: (_, attributes, dims) => ({
    dtype: 'int64',
    shape: [dims.of(dimsAttribute(attributes, 'dims').length)],
  }),
  reference(_, attributes, output) {
    store(output.elements, dimsAttribute(attributes, 'dims').map(Number));
  },
  tolerance: EXACT,
  cases: () => [
    { title: 'three', inputs: [], attributes: { dims: [3, -1, 5] } },
    { title: 'none', inputs: [], attributes: { dims: [] } },
  ],
  badCases: () => [{ title: 'no dims', inputs: [] }],
});

/** A range whose length is arithmetic of sizes, such as positions of a sequence. */
export const arange: OpDefinition = defineOp({
  name: 'arange',
  kind: 'opaque',
  host: 'the sizes of tensors are known on the host',
  summary: 'size[0] integers from start[0] on by step, int64.',
  inputs: [],
  attributes: {
    start: { type: 'dims', length: 1 },
    size: { type: 'dims', length: 1, minimum: 0 },
    step: { type: 'int', default: 1 },
  },
  infer: (_, attributes, dims) => ({
    dtype: 'int64',
    shape: dimsAttribute(attributes, 'size').map((dim) => dims.of(dim)),
  }),
  reference(_, attributes, output) {
    const [start = 0] = dimsAttribute(attributes, 'start').map(Number);
    const step = intAttribute(attributes, 'step');
    const count = elementCount(output.shape);
    store(
      output.elements,
      Array.from({ length: count }, (_element, i) => start + i * step),
    );
  },
  tolerance: EXACT,
  cases: () => [
    { title: 'four', inputs: [], attributes: { start: [2], size: [4], step: -3 } },
    { title: 'none', inputs: [], attributes: { start: [0], size: [0] } },
  ],
  badCases: () => [
    { title: 'negative size', inputs: [], attributes: { start: [0], size: [-1] } },
    { title: 'two starts', inputs: [], attributes: { start: [0, 1], size: [1] } },
  ],
});

/** A gather by it of all elements puts axes that only the running program knows behind the others. */
export const axesLastIndices: OpDefinition = defineOp({
  name: 'axes_last_indices',
  kind: 'opaque',
  host: 'it is arithmetic of positions, which depends on few integers',
  summary:
    'Positions of the elements of data of sizes dims, in the order of a transpose that puts the ' +
    'given axes behind the others.',
  inputs: [{ name: 'axes', dtypes: INTEGERS }],
  attributes: { dims: { type: 'dims' }, where: { type: 'string', default: 'axes_last_indices' } },
  infer: (_, attributes, dims) => ({
    dtype: 'int64',
    shape: [
      countElements(
        dimsAttribute(attributes, 'dims').map((dim) => dims.of(dim)),
        dims,
      ),
    ],
  }),
  reference(inputs, attributes, output) {
    const shape = dimsAttribute(attributes, 'dims').map(Number);
    const where = stringAttribute(attributes, 'where');
    const last = new Set(
      integersOf(operand(inputs, 0)).map((axis) => normalizeAxis(axis, shape.length, where)),
    );
    const axes = [...shape.keys()];
    const order = [...axes.filter((axis) => !last.has(axis)), ...last];
    store(output.elements, transposedPositions(shape, order));
  },
  tolerance: EXACT,
  cases: () => [
    {
      title: 'the first and the last but one of three',
      inputs: [{ dtype: 'int64', shape: [2], values: [0, -2] }],
      attributes: { dims: [2, 3, 4], where: 'a node' },
    },
    {
      title: 'int32, nothing',
      inputs: [{ dtype: 'int32', shape: [1], values: [1] }],
      attributes: { dims: [0, 3] },
    },
  ],
  badCases: () => [{ title: 'no axes', inputs: [], attributes: { dims: [1] } }],
});

function transposedPositions(shape: Shape, order: readonly number[]): number[] {
  const strides = rowMajorStrides(shape);
  let positions = [0];
  for (const axis of order) {
    const steps = Array.from({ length: shape[axis] ?? 1 }, (_, i) => i * (strides[axis] ?? 1));
    positions = positions.flatMap((position) => steps.map((step) => position + step));
  }
  return positions;
}

function store(elements: TypedArray, values: readonly number[]): void {
  if (elements instanceof BigInt64Array) elements.set(values.map(BigInt));
}
