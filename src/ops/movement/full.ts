import { type DType, isDType } from '../../core/dtype.ts';
import { internalError } from '../../core/errors.ts';
import { dimsAttribute, floatAttribute, stringAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { fillElements } from '../elements.ts';
import { requireFillable } from '../operand-checks.ts';
import { KERNEL_DTYPES } from '../placement.ts';

const DTYPES: readonly DType[] = [...KERNEL_DTYPES, 'float64'];

/** A tensor of equal elements. */
export const full: OpDefinition = defineOp({
  name: 'full',
  kind: 'injective',
  summary: 'A tensor whose elements all equal value.',
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
  reference(_, attributes, output) {
    fillElements(output, floatAttribute(attributes, 'value'));
  },
  indexMap: {
    sources: () => [],
    fill: (attributes) => floatAttribute(attributes, 'value'),
  },
  tolerance: EXACT,
  cases: () => [
    fullCase([], 3),
    fullCase([0, 2], 3),
    fullCase([7], -1.5),
    fullCase([3, 5, 11], 0),
    fullCase([513, 257], 0.25),
    fullCase([3], -7, 'int32'),
    fullCase([3, 3], 4_000_000_000, 'uint32'),
    fullCase([5], 1, 'bool'),
    fullCase([5], 0.1, 'float16'),
    fullCase([7], -3, 'int8'),
    fullCase([4], 300, 'uint16'),
    fullCase([3], -5, 'int64'),
  ],
  badCases: () => [
    { title: 'no value', inputs: [], attributes: { shape: [2] } },
    { title: 'negative dimension', inputs: [], attributes: { shape: [2, -1], value: 0 } },
    { ...fullCase([2], -Infinity, 'int64'), title: 'an infinite integer' },
    {
      title: 'an input',
      inputs: [{ dtype: 'float32', shape: [] }],
      attributes: { shape: [], value: 0 },
    },
  ],
});

function fullCase(shape: readonly number[], value: number, dtype: DType = 'float32'): OpCase {
  return {
    title: `${dtype} (${shape.join(', ')}) of ${value}`,
    inputs: [],
    attributes: { shape, value, dtype },
  };
}
