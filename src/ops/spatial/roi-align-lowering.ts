import source from '../../../shaders/roi-align.wgsl?raw';
import { elementCount } from '../../core/shape.ts';
import { boolAttribute, floatAttribute, intAttribute } from '../attributes.ts';
import { elementKernel } from '../element-kernel.ts';
import { f32, type KernelSpec, type LoweringCall } from '../lowering.ts';

/** The kernel of `roi_align`. */
export function lowerRoiAlign({
  inputs,
  output,
  attributes,
  caps,
}: LoweringCall): readonly KernelSpec[] {
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
