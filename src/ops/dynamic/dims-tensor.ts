import type { TypedArray } from '../../core/dtype.ts';
import { elementCount } from '../../core/shape.ts';
import { dimsAttribute, intAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';

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

function store(elements: TypedArray, values: readonly number[]): void {
  if (elements instanceof BigInt64Array) elements.set(values.map(BigInt));
}
