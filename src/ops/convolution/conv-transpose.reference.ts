import { intAttribute } from '../attributes.ts';
import { operand } from '../operand-checks.ts';
import { transposedAxes } from './conv-transpose.ts';
import type { StaticReference } from '../op-reference.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { type FloatArray, floatElements } from '../elements.ts';
import type { VolumeAxes, WindowAxis } from './window.ts';

export const convTransposeReference: StaticReference = {
  reference(inputs, attributes, output) {
    const [x, w] = [operand(inputs, 0), operand(inputs, 1)];
    const axes = transposedAxes(x.shape, w.shape, attributes);
    const groups = intAttribute(attributes, 'groups');
    scatterVolumes({ x, w, bias: inputs[2], axes, groups }, output);
  },
};

export interface TransposePlan {
  readonly x: HostTensor;
  readonly w: HostTensor;
  readonly bias: HostTensor | undefined;
  /** `size` is that of x, `count` that of the result. */
  readonly axes: VolumeAxes;
  readonly groups: number;
}

/** Adds each element's window to the result; sums in double precision. */
export function scatterVolumes({ x, w, bias, axes, groups }: TransposePlan, y: HostTensor): void {
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
