import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { intAttribute } from '../attributes.ts';
import { floatElements, type FloatArray } from '../elements.ts';
import type { Operands } from '../lowering/lowering.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import { transposedAxes } from './conv-transpose.ts';
import { axesOf } from './conv2d.ts';
import { type ConvolutionPlan, convolve } from './convolution.ts';
import { volumeAxes, windowAxes, tapRange, type VolumeAxes, type WindowAxis } from './window.ts';

const WINDOW = { name: 'conv2d', ceilMode: false };

export const conv2dReference: StaticReference = {
  reference: (inputs, attributes, output) => convolve(convolutionPlan(inputs, attributes, output)),
};

function convolutionPlan(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): ConvolutionPlan {
  const x = operand(inputs, 0);
  const w = operand(inputs, 1);
  const bias = inputs[2];
  const axes = windowAxes(x.shape, attributes, {
    ...WINDOW,
    kernel: w.shape.slice(2),
    dims: CONCRETE_DIMS,
  });
  const [, rows, columns] = volumeAxes(axes);
  return {
    x: floatElements(x),
    w: floatElements(w),
    bias: bias === undefined ? undefined : floatElements(bias),
    y: floatElements(output),
    batch: x.shape[0] ?? 0,
    channels: x.shape[1] ?? 0,
    outChannels: w.shape[0] ?? 0,
    groups: intAttribute(attributes, 'groups'),
    rows,
    columns,
  };
}

/** Sums in double precision. */
export const conv3dReference: StaticReference = {
  reference(inputs, attributes, output) {
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
  },
};

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

export const convTransposeReference: StaticReference = {
  reference(inputs, attributes, output) {
    const [x, w] = [operand(inputs, 0), operand(inputs, 1)];
    const axes = transposedAxes(x.shape, w.shape, attributes);
    const groups = intAttribute(attributes, 'groups');
    scatterVolumes({ x, w, bias: inputs[2], axes, groups }, output);
  },
};

interface TransposePlan {
  readonly x: HostTensor;
  readonly w: HostTensor;
  readonly bias: HostTensor | undefined;
  /** `size` is that of x, `count` that of the result. */
  readonly axes: VolumeAxes;
  readonly groups: number;
}

/** Adds each element's window to the result; sums in double precision. */
function scatterVolumes({ x, w, bias, axes, groups }: TransposePlan, y: HostTensor): void {
  const [elements, weights, result] = [floatElements(x), floatElements(w), floatElements(y)];
  const biases = bias === undefined ? undefined : floatElements(bias);
  const [batch = 0, outChannels = 0] = y.shape;
  const channels = x.shape[1] ?? 0;
  const groupIn = channels / groups;
  const groupOut = outChannels / groups;
  const size = elementCount(x.shape.slice(2));
  const taps = elementCount(w.shape.slice(2));
  const sums = new Float64Array(elementCount(y.shape.slice(2)));
  for (let image = 0; image < batch; image++) {
    for (let k = 0; k < outChannels; k++) {
      sums.fill(biases?.[k] ?? 0);
      const group = Math.floor(k / groupOut);
      for (let c = group * groupIn; c < (group + 1) * groupIn; c++) {
        const from = (image * channels + c) * size;
        const weight = (c * groupOut + (k % groupOut)) * taps;
        const volume = elements.subarray(from, from + size);
        scatterVolume(sums, { volume, weights: weights.subarray(weight, weight + taps), axes });
      }
      result.set(sums, (image * outChannels + k) * sums.length);
    }
  }
}

interface ScatteredVolume {
  readonly volume: FloatArray;
  readonly weights: FloatArray;
  readonly axes: VolumeAxes;
}

function scatterVolume(sums: Float64Array, { volume, weights, axes }: ScatteredVolume): void {
  const [depths, rows, columns] = axes;
  for (const [z, q, zTo] of places(depths)) {
    for (const [y, r, yTo] of places(rows)) {
      const from = (z * rows.size + y) * columns.size;
      const weight = (q * rows.kernel + r) * columns.kernel;
      const to = (zTo * rows.count + yTo) * columns.count;
      for (const [x, s, xTo] of places(columns)) {
        const product = (volume[from + x] ?? 0) * (weights[weight + s] ?? 0);
        sums[to + xTo] = (sums[to + xTo] ?? 0) + product;
      }
    }
  }
}

/** Along one axis: an element, a tap, and where their product goes, if that is inside. */
function places(axis: WindowAxis): readonly (readonly [number, number, number])[] {
  const { size, kernel, stride, dilation, padBefore, count } = axis;
  const found: [number, number, number][] = [];
  for (let i = 0; i < size; i++) {
    for (let tap = 0; tap < kernel; tap++) {
      const to = i * stride + tap * dilation - padBefore;
      if (to >= 0 && to < count) found.push([i, tap, to]);
    }
  }
  return found;
}
