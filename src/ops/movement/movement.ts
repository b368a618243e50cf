import { countElements } from '../../core/dims/dim-context.ts';
import { formatDim } from '../../core/dims/dim.ts';
import { ALL_DTYPES, type DType, isDType } from '../../core/tensor/dtype.ts';
import { internalError, ShapeError } from '../../core/errors.ts';
import { formatShape } from '../../core/tensor/shape.ts';
import { dimsAttribute, floatAttribute, intsAttribute, stringAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { min, rem, ZERO } from '../index-expression/build.ts';
import {
  formatType,
  operand,
  requireBroadcastsTo,
  requireFillable,
  requireLength,
} from '../operand-checks.ts';
import { KERNEL_DTYPES } from '../lowering/placement.ts';

/** Axes in another order: axis `i` of the result is axis `perm[i]` of x. */
export const transpose = defineOp({
  name: 'transpose',
  kind: 'injective',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: { perm: { type: 'ints', minimum: 0 } },
  infer(inputs, attributes, dims) {
    const { dtype, shape } = operand(inputs, 0);
    const perm = intsAttribute(attributes, 'perm');
    requireLength(perm, shape.length, 'transpose: attribute perm');
    if (new Set(perm).size !== perm.length || perm.some((axis) => axis >= perm.length)) {
      throw new ShapeError({
        where: 'transpose: attribute perm',
        got: `[${perm.join(', ')}]`,
        expected: `each of 0 to ${perm.length - 1} once`,
      });
    }
    return { dtype, shape: perm.map((axis) => shape[axis] ?? dims.of(1)) };
  },
  indexMap: {
    movesOnly: true,
    permutation: (attributes) => intsAttribute(attributes, 'perm'),
    sources({ attributes, coords }) {
      const perm = intsAttribute(attributes, 'perm');
      const from = perm.map((_, source) => coords[perm.indexOf(source)] ?? ZERO);
      return [{ input: 0, coords: from }];
    },
  },
  tolerance: EXACT,
});

/** The same elements in the same order under another shape. Outside kernels a view. */
export const reshape = defineOp({
  name: 'reshape',
  kind: 'injective',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: { shape: { type: 'dims', minimum: 0 } },
  infer(inputs, attributes, dims) {
    const x = operand(inputs, 0);
    const shape = dimsAttribute(attributes, 'shape').map((dim) => dims.of(dim));
    const count = countElements(shape, dims);
    const expected = countElements(x.shape, dims);
    dims.requireEqual(count, expected, () => ({
      where: 'reshape: attribute shape',
      got: `${formatShape(shape.map(formatDim))} of ${formatDim(count)} elements`,
      expected: `${formatDim(expected)} elements as in ${formatType(x)}`,
    }));
    return { dtype: x.dtype, shape };
  },
  indexMap: { movesOnly: true, keepsOrder: true },
  tolerance: EXACT,
});

/** Repetition along axes of size 1 and along new leading axes. */
export const broadcastTo = defineOp({
  name: 'broadcast_to',
  kind: 'injective',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: { shape: { type: 'dims', minimum: 0 } },
  infer(inputs, attributes, dims) {
    const x = operand(inputs, 0);
    const shape = dimsAttribute(attributes, 'shape').map((dim) => dims.of(dim));
    requireBroadcastsTo(x, shape, {
      dims,
      complaint: () => ({
        where: 'broadcast_to: attribute shape',
        got: formatShape(shape.map(formatDim)),
        expected: `a shape that ${formatType(x)} broadcasts to`,
        remedy: 'Each dimension of x must be 1 or the one of the result, aligned from the right.',
      }),
    });
    return { dtype: x.dtype, shape };
  },
  indexMap: {
    movesOnly: true,
    // The last coordinate of an axis is 0 where the axis is repeated, so that one expression holds
    // for sizes that are known only at run time.
    sources({ inputs, coords, param }) {
      const shape = inputs[0]?.shape ?? [];
      const lead = coords.length - shape.length;
      const from = shape.map((dim, axis) =>
        min(coords[lead + axis] ?? ZERO, param(Math.max(dim - 1, 0), 'u32')),
      );
      return [{ input: 0, coords: from }];
    },
  },
  tolerance: EXACT,
});

const FILLABLE_DTYPES: readonly DType[] = [...KERNEL_DTYPES, 'float64'];

/** A tensor of equal elements. */
export const full = defineOp({
  name: 'full',
  kind: 'injective',
  inputs: [],
  attributes: {
    shape: { type: 'dims', minimum: 0 },
    value: { type: 'float' },
    dtype: { type: 'dtype', default: 'float32', oneOf: FILLABLE_DTYPES },
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

/** The whole tensor several times along each axis. */
export const tile = defineOp({
  name: 'tile',
  kind: 'injective',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: { repeats: { type: 'dims', minimum: 0 } },
  infer(inputs, attributes, dims) {
    const { dtype, shape } = operand(inputs, 0);
    const repeats = dimsAttribute(attributes, 'repeats');
    requireLength(repeats, shape.length, 'tile: attribute repeats');
    return { dtype, shape: shape.map((dim, axis) => dims.mul(dim, repeats[axis] ?? 1)) };
  },
  indexMap: {
    movesOnly: true,
    sources({ attributes, inputs, coords, param }) {
      const repeats = dimsAttribute(attributes, 'repeats');
      const from = coords.map((coord, axis) => {
        const size = inputs[0]?.shape[axis] ?? 1;
        return repeats[axis] === 1 ? coord : rem(coord, param(size, 'u32'));
      });
      return [{ input: 0, coords: from }];
    },
  },
  tolerance: EXACT,
});
