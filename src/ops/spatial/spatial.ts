import { formatDim } from '../../core/dims/dim.ts';
import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import { intsAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { div } from '../index-expression/build.ts';
import {
  formatType,
  operand,
  requireLength,
  requireRank,
  requireVector,
} from '../operand-checks.ts';

/** Enlarging by whole numbers. */
export const repeat = defineOp({
  name: 'repeat',
  kind: 'injective',
  inputs: [tensor('x', ALL_DTYPES)],
  attributes: { repeats: { type: 'ints', minimum: 1 } },
  infer(inputs, attributes, dims) {
    const { dtype, shape } = operand(inputs, 0);
    const repeats = intsAttribute(attributes, 'repeats');
    requireLength(repeats, shape.length, 'repeat: attribute repeats');
    return { dtype, shape: shape.map((dim, axis) => dims.mul(dim, repeats[axis] ?? 1)) };
  },
  indexMap: {
    movesOnly: true,
    sources({ attributes, coords, param }) {
      const repeats = intsAttribute(attributes, 'repeats');
      const from = coords.map((coord, axis) => {
        const count = repeats[axis] ?? 1;
        return count === 1 ? coord : div(coord, param(count, 'u32'));
      });
      return [{ input: 0, coords: from }];
    },
  },
  tolerance: EXACT,
});

/**
 * Pooling of regions without rounding: K. He et al., "Mask R-CNN" (2017). The maximum is one of the
 * four pixels around each sample times its weight, not of interpolated samples: so ONNX has it.
 */
export const roiAlign = defineOp({
  name: 'roi_align',
  kind: 'anchor',
  inputs: [tensor('x', FLOATS), tensor('rois', FLOATS), tensor('images', ['int32'])],
  attributes: {
    size: { type: 'ints', length: 2, minimum: 1 },
    scale: { type: 'float', default: 1 },
    sampling: { type: 'int', default: 0, minimum: 0 },
    max: { type: 'bool', default: false },
    half_pixel: { type: 'bool', default: true },
  },
  infer(inputs, attributes, dims) {
    const [x, rois, images] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    requireRank(x, 4, 'roi_align: input x');
    requireRank(rois, 2, 'roi_align: input rois');
    const [regions = dims.of(0), width = dims.of(0)] = rois.shape;
    const complaint = () => ({
      where: 'roi_align: input rois',
      got: `${formatType(rois)} for images ${formatType(images)}`,
      expected: `(${formatDim(regions)}, 4) and as many images`,
    });
    dims.requireEqual(width, 4, complaint);
    requireVector(images, regions, { dims, complaint });
    const [height = 1, columns = 1] = intsAttribute(attributes, 'size');
    const [, channels = dims.of(0)] = x.shape;
    return { dtype: x.dtype, shape: [regions, channels, dims.of(height), dims.of(columns)] };
  },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-4 },
});
