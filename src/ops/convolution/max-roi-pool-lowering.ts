import source from '../../../shaders/max-roi-pool.wgsl?raw';
import { elementCount } from '../../core/shape.ts';
import { floatAttribute } from '../attributes.ts';
import { elementKernel } from '../element-kernel.ts';
import { f32, type KernelSpec, type LoweringCall } from '../lowering.ts';

/** The kernel of `max_roi_pool`. */
export function lowerMaxRoiPool({
  inputs,
  output,
  attributes,
  caps,
}: LoweringCall): readonly KernelSpec[] {
  const [batch = 1, channels = 1, height = 1, width = 1] = inputs[0]?.shape ?? [];
  const [, , rows = 1, columns = 1] = output.shape;
  const count = elementCount(output.shape);
  return elementKernel(count, caps, {
    name: 'max-roi-pool',
    source,
    params: {
      batch: batch,
      channels: channels,
      in_h: height,
      in_w: width,
      out_h: rows,
      out_w: columns,
      scale: f32(floatAttribute(attributes, 'scale')),
      lowest: f32(-Infinity),
    },
    hooks: ['x', 'rois'],
  });
}
