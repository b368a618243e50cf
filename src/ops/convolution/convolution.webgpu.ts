import transposeShader from '../../../shaders/conv-transpose-direct.wgsl?raw';
import deformShader from '../../../shaders/deform-conv.wgsl?raw';
import roiPoolShader from '../../../shaders/max-roi-pool.wgsl?raw';
import { elementCount } from '../../core/tensor/shape.ts';
import { floatAttribute, intAttribute } from '../attributes.ts';
import { elementKernel } from '../lowering/element-kernel.ts';
import { f32, type KernelSpec, type Lowering, type LoweringCall } from '../lowering/lowering.ts';
import { transposedAxes } from './conv-transpose.ts';
import { axesOf } from './deform-conv.ts';
import { channelParams, windowParams } from './window-params.ts';

/** The kernel of `conv_transpose`. */
export function lowerConvTranspose(call: LoweringCall): readonly KernelSpec[] {
  const { inputs, output, attributes, caps } = call;
  const [x = [], w = []] = [inputs[0]?.shape, inputs[1]?.shape];
  const count = elementCount(output.shape);
  const groups = intAttribute(attributes, 'groups');
  return elementKernel(count, caps, {
    name: 'conv-transpose-direct',
    source: transposeShader,
    constants: { HAS_BIAS: inputs[2] !== undefined },
    params: {
      ...windowParams(transposedAxes(x, w, attributes)),
      out_channels: output.shape[1] ?? 1,
      in_channels: x[1] ?? 1,
      group_in_channels: (x[1] ?? 1) / groups,
      group_out_channels: w[1] ?? 1,
    },
    hooks: ['x', 'w', 'bias'],
  });
}

/** The kernel of `deform_conv`. */
export const lowerDeformConv: Lowering = ({ inputs, output, attributes, caps }) => {
  const [x = [], w = []] = [inputs[0]?.shape, inputs[1]?.shape];
  const count = elementCount(output.shape);
  const offsetGroups = intAttribute(attributes, 'offset_groups');
  return elementKernel(count, caps, {
    name: 'deform-conv',
    source: deformShader,
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
};

/** The kernel of `max_roi_pool`. */
export const lowerMaxRoiPool: Lowering = ({ inputs, output, attributes, caps }) => {
  const [batch = 1, channels = 1, height = 1, width = 1] = inputs[0]?.shape ?? [];
  const [, , rows = 1, columns = 1] = output.shape;
  const count = elementCount(output.shape);
  return elementKernel(count, caps, {
    name: 'max-roi-pool',
    source: roiPoolShader,
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
};
