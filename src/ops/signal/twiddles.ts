import { intsAttribute, dimsAttribute, stringAttribute } from '../attributes.ts';
import type { DType } from '../../core/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { floatElements } from '../elements.ts';

/**
 * Cosines and sines for Fourier transforms, in double precision and on the host: those of shaders
 * may be off by a thousandth.
 */
export const twiddles: OpDefinition = defineOp({
  name: 'twiddles',
  kind: 'opaque',
  host: 'the sizes of tensors are known on the host',
  summary: 'cos and sin of 2 π i / length for each i below length: (length, 2).',
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
  reference(_, attributes, output) {
    const [length = 0] = intsAttribute(attributes, 'length');
    const elements = floatElements(output);
    for (let i = 0; i < length; i++) {
      const angle = (2 * Math.PI * i) / length;
      elements.set([Math.cos(angle), Math.sin(angle)], 2 * i);
    }
  },
  tolerance: EXACT,
  cases: () => [
    { title: 'five', inputs: [], attributes: { length: [5] } },
    { title: 'four, double', inputs: [], attributes: { length: [4], dtype: 'float64' } },
    { title: 'none', inputs: [], attributes: { length: [0] } },
  ],
  badCases: () => [
    { title: 'integers', inputs: [], attributes: { length: [4], dtype: 'int32' } },
    { title: 'negative', inputs: [], attributes: { length: [-4] } },
  ],
});

function isFloat(dtype: string): dtype is DType & ('float32' | 'float64') {
  return dtype === 'float32' || dtype === 'float64';
}
