import { type DType, isDType } from '../../core/dtype.ts';
import { internalError } from '../../core/errors.ts';
import { dimsAttribute, floatAttribute, stringAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { requireFillable } from '../operand-checks.ts';
import { KERNEL_DTYPES } from '../placement.ts';

const DTYPES: readonly DType[] = [...KERNEL_DTYPES, 'float64'];

/** A tensor of equal elements. */
export const full = defineOp({
  name: 'full',
  kind: 'injective',
  inputs: [],
  attributes: {
    shape: { type: 'dims', minimum: 0 },
    value: { type: 'float' },
    dtype: { type: 'dtype', default: 'float32', oneOf: DTYPES },
  },
  infer(_, attributes, dims) {
    const dtype = stringAttribute(attributes, 'dtype');
    if (!isDType(dtype)) throw internalError(`full of ${dtype}`);
    requireFillable(dtype, floatAttribute(attributes, 'value'), 'full: attribute value');
    return { dtype, shape: dimsAttribute(attributes, 'shape').map((dim) => dims.of(dim)) };
  },
  indexMap: {
    sources: () => [],
    fill: (attributes) => floatAttribute(attributes, 'value'),
  },
  tolerance: EXACT,
});
