import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { defineOp } from '../define-op.ts';
import { operand } from '../operand-checks.ts';
import { CONVOLUTION_INPUTS, inferConvolution } from './infer-convolution.ts';
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
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-4 },
});

export function axesOf(x: Shape, w: Shape, attributes: Attributes): VolumeAxes {
  const kernel = w.slice(2);
  const options = { name: 'conv3d', kernel, ceilMode: false, dims: CONCRETE_DIMS };
  return volumeAxes(windowAxes(x, attributes, options));
}
