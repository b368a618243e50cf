import { formatDim } from '../../core/dim.ts';
import { intsAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { formatType, operand, requireRank, requireVector } from '../operand-checks.ts';

const NAME = 'roi_align';

/**
 * Pooling of regions without rounding: K. He et al., "Mask R-CNN" (2017). The maximum is one of the
 * four pixels around each sample times its weight, not of interpolated samples: so ONNX has it.
 */
export const roiAlign = defineOp({
  name: NAME,
  kind: 'anchor',
  inputs: [
    { name: 'x', dtypes: FLOATS },
    { name: 'rois', dtypes: FLOATS },
    { name: 'images', dtypes: ['int32'] },
  ],
  attributes: {
    size: { type: 'ints', length: 2, minimum: 1 },
    scale: { type: 'float', default: 1 },
    sampling: { type: 'int', default: 0, minimum: 0 },
    max: { type: 'bool', default: false },
    half_pixel: { type: 'bool', default: true },
  },
  infer(inputs, attributes, dims) {
    const [x, rois, images] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    requireRank(x, 4, `${NAME}: input x`);
    requireRank(rois, 2, `${NAME}: input rois`);
    const [regions = dims.of(0), width = dims.of(0)] = rois.shape;
    const complaint = () => ({
      where: `${NAME}: input rois`,
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
