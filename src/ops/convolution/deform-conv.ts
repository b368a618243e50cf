import source from '../../../shaders/deform-conv.wgsl?raw';
import { CONCRETE_DIMS } from '../../core/dim-context.ts';
import { formatDim } from '../../core/dim.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount, type Shape } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { type FloatArray, floatElements } from '../elements.ts';
import { elementKernel } from '../element-kernel.ts';
import { type KernelSpec, type LoweringCall, type Operands } from '../lowering.ts';
import { formatType, operand } from '../operand-checks.ts';
import { inferConvolution } from './infer-convolution.ts';
import { windowParams } from './pool-lowering.ts';
import { channelParams } from './window-params.ts';
import { type VolumeAxes, volumeAxes, WINDOW_ATTRIBUTES, windowAxes } from './window.ts';

const NAME = 'deform_conv';

/**
 * Two-dimensional convolution whose taps are moved, for each output pixel, by offsets (y, x), and
 * weighted by a mask: J. Dai et al., "Deformable Convolutional Networks" (2017), and X. Zhu et al.,
 * "Deformable ConvNets v2" (2019).
 */
export const deformConv: OpDefinition = defineOp({
  name: NAME,
  kind: 'anchor',
  summary:
    'Two-dimensional convolution with moved taps: x (N, C, H, W), w (K, C / groups, R, S), offset ' +
    '(N, offset_groups * R * S * 2, ...), mask (N, offset_groups * R * S, ...).',
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
      const expected = [batch, channels, height, width];
      const complaint = () => ({
        where: `${NAME}: input ${name}`,
        got: formatType(type),
        expected: `(${expected.map(formatDim).join(', ')})`,
      });
      for (const [axis, dim] of expected.entries()) {
        dims.requireEqual(type.shape[axis] ?? dims.of(-1), dim, complaint);
      }
    }
    return { dtype: x.dtype, shape };
  },
  reference: convolveDeformed,
  lower: lowerDeformConv,
  tolerance: { rtol: 1e-4, atol: 1e-4 },
  cases: () => [
    deformCase([1, 1, 1, 1], [1, 1, 1, 1], [1, 1]),
    deformCase([2, 3, 6, 7], [4, 3, 3, 2], [6, 7], { pads: [1, 1, 1, 0] }),
    deformCase([1, 4, 7, 8], [6, 2, 2, 3], [3, 6], {
      groups: 2,
      offset_groups: 2,
      strides: [2, 1],
    }),
    deformCase([1, 4, 9, 9], [2, 4, 3, 3], [5, 5], { offset_groups: 4, dilations: [2, 2] }, false),
    deformCase([0, 1, 3, 3], [1, 1, 2, 2], [2, 2]),
  ],
  badCases: () => [
    deformCase([1, 1, 4], [1, 1, 2], [3]),
    {
      title: 'offsets of one group',
      inputs: [
        [1, 2, 4, 4],
        [1, 2, 2, 2],
        [1, 8, 3, 3],
      ].map((shape) => ({
        dtype: 'float32',
        shape,
      })),
      attributes: { offset_groups: 2 },
    },
    {
      title: 'a mask for another image',
      inputs: [
        [1, 1, 4, 4],
        [1, 1, 2, 2],
        [1, 8, 3, 3],
        [1, 4, 4, 4],
      ].map((shape) => ({
        dtype: 'float32',
        shape,
      })),
    },
  ],
});

function axesOf(x: Shape, w: Shape, attributes: Attributes): VolumeAxes {
  const options = { name: NAME, kernel: w.slice(2), ceilMode: false, dims: CONCRETE_DIMS };
  return volumeAxes(windowAxes(x, attributes, options));
}

function deformCase(
  x: Shape,
  w: Shape,
  image: Shape,
  ...[attributes = {}, hasMask = true]: [Attributes?, boolean?]
): OpCase {
  const taps = elementCount(w.slice(2)) * Number(attributes['offset_groups'] ?? 1);
  const shapes = [x, w, [x[0] ?? 0, taps * 2, ...image]];
  if (hasMask) shapes.push([x[0] ?? 0, taps, ...image]);
  return {
    title: `(${x.join(', ')}) by (${w.join(', ')}) ${JSON.stringify(attributes)}${hasMask ? '' : ' without mask'}`,
    inputs: shapes.map((shape) => ({ dtype: 'float32', shape })),
    attributes,
  };
}

function convolveDeformed(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
  const [x, w] = [operand(inputs, 0), operand(inputs, 1)];
  const [, rows, columns] = axesOf(x.shape, w.shape, attributes);
  const [elements, weights] = [floatElements(x), floatElements(w)];
  const offsets = floatElements(operand(inputs, 2));
  const mask = inputs[3] === undefined ? undefined : floatElements(inputs[3]);
  const y = floatElements(output);
  const [channels = 0, groupIn = 0, outChannels = 0] = [x.shape[1], w.shape[1], w.shape[0]];
  const groupOut = outChannels / intAttribute(attributes, 'groups');
  const offsetGroups = intAttribute(attributes, 'offset_groups');
  const taps = rows.kernel * columns.kernel;
  const pixels = rows.count * columns.count;
  const size = rows.size * columns.size;
  for (let i = 0; i < y.length; i++) {
    const pixel = i % pixels;
    const channel = Math.floor(i / pixels) % outChannels;
    const image = Math.floor(i / pixels / outChannels);
    const y0 = Math.floor(pixel / columns.count) * rows.stride - rows.padBefore;
    const x0 = (pixel % columns.count) * columns.stride - columns.padBefore;
    let sum = 0;
    for (let c = 0; c < groupIn; c++) {
      const from = Math.floor(channel / groupOut) * groupIn + c;
      const group = image * offsetGroups + Math.floor((from * offsetGroups) / channels);
      const start = (image * channels + from) * size;
      const plane = { elements: elements.subarray(start, start + size), width: columns.size };
      for (let tap = 0; tap < taps; tap++) {
        const at = group * taps + tap;
        const r = Math.floor(tap / columns.kernel) * rows.dilation;
        const s = (tap % columns.kernel) * columns.dilation;
        const py = y0 + r + (offsets[at * 2 * pixels + pixel] ?? 0);
        const px = x0 + s + (offsets[(at * 2 + 1) * pixels + pixel] ?? 0);
        const weight = weights[(channel * groupIn + c) * taps + tap] ?? 0;
        sum += interpolate(plane, py, px) * weight * (mask?.[at * pixels + pixel] ?? 1);
      }
    }
    y[i] = sum;
  }
}

/** The image between its pixels, with zeros around it. */
function interpolate(
  { elements, width }: { readonly elements: FloatArray; readonly width: number },
  y: number,
  x: number,
): number {
  const [top, left] = [Math.floor(y), Math.floor(x)];
  let sum = 0;
  for (const [row, rowShare] of [[top, top + 1 - y] as const, [top + 1, y - top] as const]) {
    for (const [column, share] of [[left, left + 1 - x] as const, [left + 1, x - left] as const]) {
      if (row < 0 || column < 0 || column >= width) continue;
      sum += (elements[row * width + column] ?? 0) * rowShare * share;
    }
  }
  return sum;
}

function lowerDeformConv({
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
