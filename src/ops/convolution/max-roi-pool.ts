import { formatDim } from '../../core/dims/dim.ts';
import { intsAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { commonDType, formatType, operand, present, requireRank } from '../operand-checks.ts';

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
