import source from '../../../shaders/grid-sample.wgsl?raw';
import { elementCount } from '../../core/shape.ts';
import { elementKernel } from '../element-kernel.ts';
import type { KernelSpec, LoweringCall } from '../lowering.ts';
import { MODES, PADDINGS, samplingOf } from './grid-sample.ts';

/** The kernel of `grid_sample`. */
export function lowerGridSample({
  inputs,
  output,
  attributes,
  caps,
}: LoweringCall): readonly KernelSpec[] {
  const [, channels = 1, ...sizes] = inputs[0]?.shape ?? [];
  const [width = 1, height = 1, depth = 1] = sizes.toReversed();
  const { mode, padding, isAligned } = samplingOf(attributes);
  const count = elementCount(output.shape);
  return elementKernel(count, caps, {
    name: 'grid-sample',
    source,
    constants: {
      RANK: sizes.length,
      MODE: MODES.indexOf(mode),
      PADDING: PADDINGS.indexOf(padding),
      ALIGN_CORNERS: isAligned,
    },
    params: {
      channels: channels,
      points: elementCount(output.shape.slice(2)),
      in_d: depth,
      in_h: height,
      in_w: width,
    },
    hooks: ['x', 'grid'],
  });
}
