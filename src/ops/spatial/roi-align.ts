import source from '../../../shaders/roi-align.wgsl?raw';
import { formatDim } from '../../core/dim.ts';
import { elementCount } from '../../core/shape.ts';
import { boolAttribute, floatAttribute, intAttribute, intsAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { elementKernel } from '../element-kernel.ts';
import { f32, type KernelSpec, type LoweringCall } from '../lowering.ts';
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
  lower: lowerRoiAlign,
  tolerance: { rtol: 1e-4, atol: 1e-4 },
});

function lowerRoiAlign({ inputs, output, attributes, caps }: LoweringCall): readonly KernelSpec[] {
  const [batch = 1, channels = 1, height = 1, width = 1] = inputs[0]?.shape ?? [];
  const [, , rows = 1, columns = 1] = output.shape;
  const count = elementCount(output.shape);
  const isHalfPixel = boolAttribute(attributes, 'half_pixel');
  return elementKernel(count, caps, {
    name: 'roi-align',
    source,
    constants: { IS_MAX: boolAttribute(attributes, 'max') },
    params: {
      batch: batch,
      channels: channels,
      in_h: height,
      in_w: width,
      out_h: rows,
      out_w: columns,
      sampling: intAttribute(attributes, 'sampling'),
      scale: f32(floatAttribute(attributes, 'scale')),
      offset: f32(isHalfPixel ? 0.5 : 0),
      smallest: f32(isHalfPixel ? -Infinity : 1),
      lowest: f32(-Infinity),
    },
    hooks: ['x', 'rois', 'images'],
  });
}
