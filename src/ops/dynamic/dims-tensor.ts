import { dimsAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';

/** Dimensions as elements, for what is no longer arithmetic of sizes: `Sqrt(Cast(Shape(x)))`. */
export const dimsTensor = defineOp({
  name: 'dims_tensor',
  kind: 'opaque',
  hostOnlyBecause: 'the sizes of tensors are known on the host',
  inputs: [],
  attributes: { dims: { type: 'dims' } },
  infer: (_, attributes, dims) => ({
    dtype: 'int64',
    shape: [dims.of(dimsAttribute(attributes, 'dims').length)],
  }),
  tolerance: EXACT,
});

/** A range whose length is arithmetic of sizes, such as positions of a sequence. */
export const arange = defineOp({
  name: 'arange',
  kind: 'opaque',
  hostOnlyBecause: 'the sizes of tensors are known on the host',
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
  tolerance: EXACT,
});
