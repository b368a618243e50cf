import source from '../../../shaders/conv-transpose-direct.wgsl?raw';
import { elementCount } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { elementKernel } from '../element-kernel.ts';
import type { KernelSpec, LoweringCall } from '../lowering.ts';
import { transposedAxes } from './conv-transpose.ts';
import { windowParams } from './window-params.ts';

/** The kernel of `conv_transpose`. */
export function lowerConvTranspose(call: LoweringCall): readonly KernelSpec[] {
  const { inputs, output, attributes, caps } = call;
  const [x = [], w = []] = [inputs[0]?.shape, inputs[1]?.shape];
  const count = elementCount(output.shape);
  const groups = intAttribute(attributes, 'groups');
  return elementKernel(count, caps, {
    name: 'conv-transpose-direct',
    source,
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
