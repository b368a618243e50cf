import source from '../../../shaders/conv3d-direct.wgsl?raw';
import { CONCRETE_DIMS } from '../../core/dim-context.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount, type Shape } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { type FloatArray, floatElements } from '../elements.ts';
import { elementKernel } from '../element-kernel.ts';
import { type KernelSpec, type LoweringCall, type Operands } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import { CONVOLUTION_INPUTS, inferConvolution } from './infer-convolution.ts';
import { windowParams } from './pool-lowering.ts';
import { channelParams } from './window-params.ts';
import { tapRange, type VolumeAxes, volumeAxes, WINDOW_ATTRIBUTES, windowAxes } from './window.ts';

/** Three-dimensional convolution (cross-correlation) over NCDHW volumes. */
export const conv3d: OpDefinition = defineOp({
  name: 'conv3d',
  kind: 'anchor',
  summary:
    'Three-dimensional convolution: x (N, C, D, H, W), w (K, C / groups, Q, R, S), bias (K). Pads ' +
    'are all begins, then all ends.',
  inputs: CONVOLUTION_INPUTS,
  attributes: { ...WINDOW_ATTRIBUTES, groups: { type: 'int', default: 1, minimum: 1 } },
  infer: (inputs, attributes, dims) => ({
    dtype: operand(inputs, 0).dtype,
    shape: inferConvolution(inputs, attributes, { name: 'conv3d', axisNames: 'Q, R, S', dims }),
  }),
  reference: convolveVolumes,
  lower: lowerConv3d,
  tolerance: { rtol: 1e-4, atol: 1e-4 },
  cases: () => [
    conv3dCase([1, 1, 1, 1, 1], [1, 1, 1, 1, 1]),
    conv3dCase([2, 3, 4, 5, 6], [4, 3, 2, 3, 2], { pads: [1, 0, 2, 0, 1, 1] }),
    conv3dCase([1, 4, 5, 6, 7], [6, 2, 3, 2, 3], { groups: 2, strides: [1, 2, 3] }),
    conv3dCase([1, 2, 7, 8, 9], [3, 2, 3, 2, 2], { dilations: [2, 3, 1] }, false),
    conv3dCase([0, 2, 3, 3, 3], [3, 2, 2, 2, 2]),
    conv3dCase([1, 8, 6, 9, 11], [16, 8, 3, 3, 3], { pads: [1, 1, 1, 1, 1, 1] }),
  ],
  badCases: () => [
    conv3dCase([1, 3, 5, 5], [2, 3, 3, 3]),
    conv3dCase([1, 3, 5, 5, 5], [2, 2, 3, 3, 3]),
    conv3dCase([1, 3, 2, 5, 5], [2, 3, 3, 3, 3]),
    conv3dCase([1, 3, 5, 5, 5], [2, 3, 3, 3, 3], { pads: [1, 1, 1] }),
    conv3dCase([1, 3, 5, 5, 5], [2, 3, 3, 3, 3], { groups: 0 }),
  ],
});

function conv3dCase(x: Shape, w: Shape, ...[attributes = {}, hasBias = true]: CaseOptions): OpCase {
  const bias = { dtype: 'float32', shape: w.slice(0, 1) } as const;
  return {
    title: `(${x.join(', ')}) by (${w.join(', ')}) ${JSON.stringify(attributes)}${hasBias ? '' : ' without bias'}`,
    inputs: [
      { dtype: 'float32', shape: x },
      { dtype: 'float32', shape: w },
      ...(hasBias ? [bias] : []),
    ],
    attributes,
  };
}

type CaseOptions = [Attributes?, boolean?];

function axesOf(x: Shape, w: Shape, attributes: Attributes): VolumeAxes {
  const kernel = w.slice(2);
  const options = { name: 'conv3d', kernel, ceilMode: false, dims: CONCRETE_DIMS };
  return volumeAxes(windowAxes(x, attributes, options));
}

/** Sums in double precision. */
function convolveVolumes(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
  const [x, w] = [operand(inputs, 0), operand(inputs, 1)];
  const bias = inputs[2] === undefined ? undefined : floatElements(inputs[2]);
  const axes = axesOf(x.shape, w.shape, attributes);
  const [elements, weights, y] = [floatElements(x), floatElements(w), floatElements(output)];
  const [batch = 0, outChannels = 0] = output.shape;
  const groupIn = w.shape[1] ?? 0;
  const groupOut = outChannels / intAttribute(attributes, 'groups');
  const channels = x.shape[1] ?? 0;
  const size = elementCount(x.shape.slice(2));
  const taps = elementCount(w.shape.slice(2));
  const sums = new Float64Array(elementCount(output.shape.slice(2)));
  for (let image = 0; image < batch; image++) {
    for (let k = 0; k < outChannels; k++) {
      sums.fill(bias?.[k] ?? 0);
      const first = image * channels + Math.floor(k / groupOut) * groupIn;
      for (let c = 0; c < groupIn; c++) {
        const volume = elements.subarray((first + c) * size, (first + c + 1) * size);
        const at = (k * groupIn + c) * taps;
        addVolume(sums, { volume, weights: weights.subarray(at, at + taps), axes });
      }
      y.set(sums, (image * outChannels + k) * sums.length);
    }
  }
}

interface Volume {
  readonly volume: FloatArray;
  readonly weights: FloatArray;
  readonly axes: VolumeAxes;
}

function addVolume(sums: Float64Array, { volume, weights, axes }: Volume): void {
  const [depths, rows, columns] = axes;
  for (let i = 0; i < sums.length; i++) {
    const column = i % columns.count;
    const row = Math.floor(i / columns.count) % rows.count;
    const z0 = Math.floor(i / columns.count / rows.count) * depths.stride - depths.padBefore;
    const y0 = row * rows.stride - rows.padBefore;
    const x0 = column * columns.stride - columns.padBefore;
    const [qFrom, qTo] = tapRange(depths, z0);
    const [rFrom, rTo] = tapRange(rows, y0);
    const [sFrom, sTo] = tapRange(columns, x0);
    let sum = sums[i] ?? 0;
    for (let q = qFrom; q < qTo; q++) {
      for (let r = rFrom; r < rTo; r++) {
        const plane =
          ((z0 + q * depths.dilation) * rows.size + y0 + r * rows.dilation) * columns.size;
        const weight = (q * rows.kernel + r) * columns.kernel;
        for (let s = sFrom; s < sTo; s++) {
          sum += (weights[weight + s] ?? 0) * (volume[plane + x0 + s * columns.dilation] ?? 0);
        }
      }
    }
    sums[i] = sum;
  }
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
