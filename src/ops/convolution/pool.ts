import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { DimContext } from '../../core/dims/dim-context.ts';
import { type Dim, formatDim } from '../../core/dims/dim.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { intsAttribute } from '../attributes.ts';
import { type AttributeSpec, defineOp, tensor } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import {
  formatType,
  operand,
  requireElements,
  requireLength,
  requireMinimumRank,
  commonDType,
  present,
  requireRank,
} from '../operand-checks.ts';
import type { PoolKind } from './pool-lowering.ts';
import { requireSpatial, WINDOW_ATTRIBUTES, type WindowAxis, windowAxes } from './window.ts';

const POOL_ATTRIBUTES: Readonly<Record<string, AttributeSpec>> = {
  kernel: { type: 'ints', minimum: 1 },
  ...WINDOW_ATTRIBUTES,
  ceil_mode: { type: 'bool', default: false },
};

/** Attributes that one pool has and others have not. */
const MORE_ATTRIBUTES: Partial<Record<PoolKind, Readonly<Record<string, AttributeSpec>>>> = {
  mean: { count_include_pad: { type: 'bool', default: false } },
  place: { column_major: { type: 'bool', default: false } },
};

function definePool<const Name extends string>(name: Name, kind: PoolKind) {
  const isExact = kind === 'max' || kind === 'place';
  return defineOp({
    name,
    kind: 'anchor',
    inputs: [{ name: 'x', dtypes: isExact ? [...FLOATS, 'int8', 'uint8'] : FLOATS }],
    attributes: { ...POOL_ATTRIBUTES, ...MORE_ATTRIBUTES[kind] },
    infer(inputs, attributes, dims) {
      const x = operand(inputs, 0);
      requireSpatial(x, `${name}: input x`);
      const axes = poolAxes(x.shape, attributes, { name, dims });
      checkPads(axes, name, dims);
      const shape = [...x.shape.slice(0, 2), ...axes.map(({ count }) => count)];
      return { dtype: kind === 'place' ? 'int32' : x.dtype, shape };
    },
    fusion: {
      loads: (_, { inputs, output, attributes }) =>
        intsAttribute(attributes, 'kernel').reduce(
          (loads, size) => loads * size,
          elementCount(output.shape) / Math.max(elementCount(inputs[0]?.shape ?? []), 1),
        ),
    },
    lower: 'core',
    tolerance: isExact ? { rtol: 0, atol: 0 } : { rtol: 1e-5, atol: 1e-5 },
  });
}

export function poolAxes<D extends Dim>(
  shape: readonly D[],
  attributes: Attributes,
  { name, dims }: { readonly name: string; readonly dims: DimContext<D> },
): WindowAxis<D>[] {
  const kernel = intsAttribute(attributes, 'kernel').map((size) => dims.of(size));
  requireLength(kernel, shape.length - 2, `${name}: attribute kernel`);
  const ceilMode = attributes['ceil_mode'] === true;
  return windowAxes(shape, attributes, { name, kernel, ceilMode, dims });
}

function checkPads<D extends Dim>(
  axes: readonly WindowAxis<D>[],
  name: string,
  dims: DimContext<D>,
): void {
  for (const { kernel, dilation, padBefore, padAfter } of axes) {
    const room = dims.mul(dims.sub(kernel, 1), dilation);
    const largest = dims.max(padBefore, padAfter);
    dims.requireAtMost(largest, room, () => ({
      where: `${name}: attribute pads`,
      got: formatDim(largest),
      expected: `less than the window of ${formatDim(dims.add(room, 1))}, so that no window lies in the padding`,
    }));
  }
}

function defineGlobalPool<const Name extends string>(name: Name, kind: 'max' | 'mean') {
  return defineOp({
    name,
    kind: 'reduction',
    inputs: [{ name: 'x', dtypes: FLOATS }],
    attributes: {},
    infer(inputs, _, dims) {
      const x = operand(inputs, 0);
      requireMinimumRank(x, 3, `${name}: input x`);
      const kept = x.shape.slice(0, 2);
      const spatial = x.shape.slice(2);
      requireElements({ kept, reduced: spatial }, dims, () => ({
        where: name,
        got: formatType(x),
        expected: 'elements to pool',
      }));
      return { dtype: x.dtype, shape: [...kept, ...spatial.map(() => dims.of(1))] };
    },
    lower: 'core',
    tolerance: kind === 'max' ? { rtol: 0, atol: 0 } : { rtol: 1e-4, atol: 1e-5 },
  });
}

export const POOL_OPS = [
  definePool('max_pool', 'max'),
  definePool('max_pool_indices', 'place'),
  definePool('avg_pool', 'mean'),
  definePool('sum_pool', 'sum'),
  defineGlobalPool('global_max_pool', 'max'),
  defineGlobalPool('global_avg_pool', 'mean'),
] as const;

export type PoolName = (typeof POOL_OPS)[number]['name'];

/**
 * Pooling of regions: R. Girshick, "Fast R-CNN" (2015). A region is (image, x1, y1, x2, y2), its
 * corners rounded to pixels, both inside; cells overlap where they do not divide it.
 */
export const maxRoiPool = defineOp({
  name: 'max_roi_pool',
  kind: 'anchor',
  inputs: [tensor('x', FLOATS), tensor('rois', FLOATS)],
  attributes: {
    size: { type: 'ints', length: 2, minimum: 1 },
    scale: { type: 'float', default: 1 },
  },
  infer(inputs, attributes, dims) {
    const [x, rois] = [operand(inputs, 0), operand(inputs, 1)];
    requireRank(x, 4, 'max_roi_pool: input x');
    requireRank(rois, 2, 'max_roi_pool: input rois');
    const [regions = dims.of(0), width = dims.of(0)] = rois.shape;
    dims.requireEqual(width, 5, () => ({
      where: 'max_roi_pool: input rois',
      got: formatType(rois),
      expected: `(${formatDim(regions)}, 5)`,
    }));
    const [height = 1, columns = 1] = intsAttribute(attributes, 'size');
    const channels = x.shape[1] ?? dims.of(0);
    return {
      dtype: commonDType(present(inputs), 'max_roi_pool'),
      shape: [regions, channels, dims.of(height), dims.of(columns)],
    };
  },
  lower: 'core',
  tolerance: { rtol: 0, atol: 0 },
});
