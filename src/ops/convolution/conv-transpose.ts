import type { DimContext } from '../../core/dims/dim-context.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { formatDim } from '../../core/dims/dim.ts';
import type { Attributes, TensorTypeOf } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { dimsAttribute, intAttribute, intsAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import type { Operands } from '../lowering/lowering.ts';
import {
  commonDType,
  formatType,
  operand,
  present,
  requireLength,
  requireRank,
} from '../operand-checks.ts';
import { CONVOLUTION_INPUTS, requireBias } from './infer-convolution.ts';
import { requireSpatial, type VolumeAxes, volumeAxes, WINDOW_ATTRIBUTES } from './window.ts';

const NAME = 'conv_transpose';

/**
 * The transpose of a convolution: each element of x adds the window, times itself, to the result at
 * its place times the stride, less the padding. What falls outside is lost.
 */
export const convTranspose = defineOp({
  name: NAME,
  kind: 'anchor',
  inputs: CONVOLUTION_INPUTS,
  attributes: {
    size: { type: 'dims', minimum: 0 },
    ...WINDOW_ATTRIBUTES,
    groups: { type: 'int', default: 1, minimum: 1 },
  },
  infer: (inputs, attributes, dims) => ({
    dtype: operand(inputs, 0).dtype,
    shape: inferShape(inputs, attributes, dims),
  }),
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-4 },
});

function inferShape<D extends Dim>(
  inputs: Operands<TensorTypeOf<D>>,
  attributes: Attributes,
  dims: DimContext<D>,
): D[] {
  const x = operand(inputs, 0);
  const w = operand(inputs, 1);
  commonDType(present(inputs), NAME);
  requireSpatial(x, `${NAME}: input x`);
  requireRank(w, x.shape.length, `${NAME}: input w`);
  const groups = intAttribute(attributes, 'groups');
  const none = dims.of(0);
  const [batch = none, channels = none] = x.shape;
  const [inChannels = none, groupChannels = none] = w.shape;
  const wrongWeights = () => ({
    where: `${NAME}: input w`,
    got: formatType(w),
    expected: `(${formatDim(channels)}, K / ${groups}, ...), in ${groups} groups`,
  });
  dims.requireEqual(channels, inChannels, wrongWeights);
  dims.requireEqual(dims.mod(channels, groups), 0, wrongWeights);
  const outChannels = dims.mul(groupChannels, groups);
  requireBias(inputs[2], outChannels, { name: NAME, dims });
  const size = dimsAttribute(attributes, 'size');
  const rank = x.shape.length - 2;
  requireLength(size, rank, `${NAME}: attribute size`);
  for (const name of ['strides', 'dilations', 'pads']) {
    const list = dimsAttribute(attributes, name);
    if (list.length > 0) requireLength(list, rank, `${NAME}: attribute ${name}`);
  }
  return [batch, outChannels, ...size.map((dim) => dims.of(dim))];
}

export function transposedAxes(x: Shape, w: Shape, attributes: Attributes): VolumeAxes {
  const list = (name: string) => intsAttribute(attributes, name);
  const [size, strides, dilations, pads] = ['size', 'strides', 'dilations', 'pads'].map(list);
  return volumeAxes(
    x.slice(2).map((length, axis) => ({
      size: length,
      kernel: w[axis + 2] ?? 1,
      stride: strides?.[axis] ?? 1,
      dilation: dilations?.[axis] ?? 1,
      padBefore: pads?.[axis] ?? 0,
      padAfter: 0,
      count: size?.[axis] ?? 0,
    })),
  );
}
