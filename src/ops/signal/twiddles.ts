import { dimsAttribute, stringAttribute } from '../attributes.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';

/**
 * Cosines and sines for Fourier transforms, in double precision and on the host: those of shaders
 * may be off by a thousandth.
 */
export const twiddles = defineOp({
  name: 'twiddles',
  kind: 'opaque',
  hostOnlyBecause: 'the sizes of tensors are known on the host',
  inputs: [],
  attributes: {
    length: { type: 'dims', length: 1, minimum: 0 },
    dtype: { type: 'dtype', default: 'float32' },
  },
  infer(_, attributes, dims) {
    const dtype = stringAttribute(attributes, 'dtype');
    if (!isFloat(dtype)) {
      throw new ShapeError({
        where: 'twiddles: attribute dtype',
        got: dtype,
        expected: 'float32 or float64',
      });
    }
    const [length = 0] = dimsAttribute(attributes, 'length');
    return { dtype, shape: [dims.of(length), dims.of(2)] };
  },
  tolerance: EXACT,
});

function isFloat(dtype: string): dtype is DType & ('float32' | 'float64') {
  return dtype === 'float32' || dtype === 'float64';
}
