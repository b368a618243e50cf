import source from '../../../shaders/conv3d-direct.wgsl?raw';
import { CONCRETE_DIMS } from '../../core/dim-context.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount, type Shape } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { elementKernel } from '../element-kernel.ts';
import type { KernelSpec, LoweringCall } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import { CONVOLUTION_INPUTS, inferConvolution } from './infer-convolution.ts';
import { channelParams, windowParams } from './window-params.ts';
import { type VolumeAxes, volumeAxes, WINDOW_ATTRIBUTES, windowAxes } from './window.ts';

/** Three-dimensional convolution (cross-correlation) over NCDHW volumes. */
export const conv3d = defineOp({
  name: 'conv3d',
  kind: 'anchor',
  inputs: CONVOLUTION_INPUTS,
  attributes: { ...WINDOW_ATTRIBUTES, groups: { type: 'int', default: 1, minimum: 1 } },
  infer: (inputs, attributes, dims) => ({
    dtype: operand(inputs, 0).dtype,
    shape: inferConvolution(inputs, attributes, { name: 'conv3d', axisNames: 'Q, R, S', dims }),
  }),
  lower: lowerConv3d,
  tolerance: { rtol: 1e-4, atol: 1e-4 },
});

export function axesOf(x: Shape, w: Shape, attributes: Attributes): VolumeAxes {
  const kernel = w.slice(2);
  const options = { name: 'conv3d', kernel, ceilMode: false, dims: CONCRETE_DIMS };
  return volumeAxes(windowAxes(x, attributes, options));
}

function lowerConv3d({ inputs, output, attributes, caps }: LoweringCall): readonly KernelSpec[] {
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
}
