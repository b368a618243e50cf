import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import { defineOp } from '../define-op.ts';
import type { LoweringCall } from '../lowering/lowering.ts';
import { operand } from '../operand-checks.ts';
import { CONVOLUTION_INPUTS, inferConvolution } from './infer-convolution.ts';
import { type VolumeAxes, volumeAxes, WINDOW_ATTRIBUTES, windowAxes } from './window.ts';

/** Output channels, pixels of a row and lanes that share what a register tile loads. */
const TILE = { channels: 8, columns: 8, pixels: 16 };

/** How often the kernels of a convolution load each element of x, the weights or the bias. */
function convolutionLoads(
  input: number,
  { inputs, output, attributes }: Omit<LoweringCall, 'caps'>,
): number {
  const count = elementCount(output.shape);
  const [outChannels = 1, ...window] = inputs[1]?.shape ?? [];
  const uses = input > 1 ? count : count * elementCount(window);
  const loads = uses / Math.max(elementCount(inputs[input]?.shape ?? []), 1);
  const width = window.at(-1) ?? 1;
  const channels = Math.min(outChannels / Number(attributes['groups'] ?? 1), TILE.channels);
  const shared = [(channels * width) / (1 + (width - 1) / TILE.columns), TILE.pixels];
  return Math.max(loads / (shared[input] ?? 1), 1);
}

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
