import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { operand, requireShape } from '../operand-checks.ts';
import { inferConvolution } from './infer-convolution.ts';
import { type VolumeAxes, volumeAxes, WINDOW_ATTRIBUTES, windowAxes } from './window.ts';

const NAME = 'deform_conv';

/**
 * Two-dimensional convolution whose taps are moved, for each output pixel, by offsets (y, x), and
 * weighted by a mask: J. Dai et al., "Deformable Convolutional Networks" (2017), and X. Zhu et al.,
 * "Deformable ConvNets v2" (2019).
 */
export const deformConv = defineOp({
  name: NAME,
  kind: 'anchor',
  inputs: [
    ...['x', 'w', 'offset'].map((name) => ({ name, dtypes: FLOATS })),
    { name: 'mask', dtypes: FLOATS, optional: true },
  ],
  attributes: {
    ...WINDOW_ATTRIBUTES,
    groups: { type: 'int', default: 1, minimum: 1 },
    offset_groups: { type: 'int', default: 1, minimum: 1 },
  },
  infer(inputs, attributes, dims) {
    const [x, w] = [operand(inputs, 0), operand(inputs, 1)];
    const shape = inferConvolution([x, w], attributes, { name: NAME, axisNames: 'R, S', dims });
    const offsetGroups = intAttribute(attributes, 'offset_groups');
    const [, , rows = dims.of(1), columns = dims.of(1)] = w.shape;
    const [batch = dims.of(0), , height = dims.of(0), width = dims.of(0)] = shape;
    const taps = dims.mul(dims.mul(rows, columns), offsetGroups);
    for (const [index, name, channels] of [
      [2, 'offset', dims.mul(taps, 2)],
      [3, 'mask', taps],
    ] as const) {
      const type = inputs[index];
      if (type === undefined) continue;
      const where = `${NAME}: input ${name}`;
      requireShape(type, [batch, channels, height, width], { dims, where });
    }
    return { dtype: x.dtype, shape };
  },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-4 },
});

export function axesOf(x: Shape, w: Shape, attributes: Attributes): VolumeAxes {
  const options = { name: NAME, kernel: w.slice(2), ceilMode: false, dims: CONCRETE_DIMS };
  return volumeAxes(windowAxes(x, attributes, options));
}
