import { convolutionLoads } from './convolution-loads.ts';
import { defineOp } from '../define-op.ts';
import { operand } from '../operand-checks.ts';
import { CONVOLUTION_INPUTS, inferConvolution } from './infer-convolution.ts';

/** Two-dimensional convolution (cross-correlation) over NCHW images. */
export const conv2d = defineOp({
  name: 'conv2d',
  kind: 'anchor',
  inputs: CONVOLUTION_INPUTS,
  attributes: {
    strides: { type: 'ints', default: [1, 1], length: 2, minimum: 1 },
    pads: { type: 'dims', default: [0, 0, 0, 0], length: 4, minimum: 0 },
    dilations: { type: 'ints', default: [1, 1], length: 2, minimum: 1 },
    groups: { type: 'int', default: 1, minimum: 1 },
  },
  infer: (inputs, attributes, dims) => ({
    dtype: operand(inputs, 0).dtype,
    shape: inferConvolution(inputs, attributes, { name: 'conv2d', axisNames: 'R, S', dims }),
  }),
  fusion: { loads: convolutionLoads },
  lower: 'core',
  tolerance: { rtol: 2e-5, atol: 2e-5 },
});
