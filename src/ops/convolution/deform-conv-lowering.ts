import source from '../../../shaders/deform-conv.wgsl?raw';
import { elementCount } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { elementKernel } from '../element-kernel.ts';
import type { KernelSpec, LoweringCall } from '../lowering.ts';
import { axesOf } from './deform-conv.ts';
import { channelParams, windowParams } from './window-params.ts';

/** The kernel of `deform_conv`. */
export function lowerDeformConv({
  inputs,
  output,
  attributes,
  caps,
}: LoweringCall): readonly KernelSpec[] {
  const [x = [], w = []] = [inputs[0]?.shape, inputs[1]?.shape];
  const count = elementCount(output.shape);
  const offsetGroups = intAttribute(attributes, 'offset_groups');
  return elementKernel(count, caps, {
    name: 'deform-conv',
    source,
    constants: { HAS_MASK: inputs[3] !== undefined },
    params: {
      ...windowParams(axesOf(x, w, attributes)),
      ...channelParams({
        inChannels: x[1] ?? 1,
        outChannels: output.shape[1] ?? 1,
        groups: intAttribute(attributes, 'groups'),
      }),
      offset_groups: offsetGroups,
      offset_channels: (x[1] ?? 1) / offsetGroups,
    },
    hooks: ['x', 'w', 'offset', 'mask'],
  });
}
