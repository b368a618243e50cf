import source from '../../../shaders/conv3d-direct.wgsl?raw';
import { elementCount } from '../../core/tensor/shape.ts';
import { intAttribute } from '../attributes.ts';
import { elementKernel } from '../lowering/element-kernel.ts';
import type { Lowering } from '../lowering/lowering.ts';
import { axesOf } from './conv2d.ts';
import { channelParams, windowParams } from './window-params.ts';

/** The kernel of `conv3d`. */
export const lowerConv3d: Lowering = ({ inputs, output, attributes, caps }) => {
  const [x = [], w = []] = [inputs[0]?.shape, inputs[1]?.shape];
  const count = elementCount(output.shape);
  return elementKernel(count, caps, {
    name: 'conv3d-direct',
    source,
    constants: { HAS_BIAS: inputs[2] !== undefined },
    params: {
      ...windowParams(axesOf(x, w, attributes)),
      ...channelParams({
        inChannels: x[1] ?? 1,
        outChannels: output.shape[1] ?? 1,
        groups: intAttribute(attributes, 'groups'),
      }),
    },
    hooks: ['x', 'w', 'bias'],
  });
};
