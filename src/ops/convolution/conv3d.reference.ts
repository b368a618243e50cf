import { elementCount } from '../../core/tensor/shape.ts';
import { intAttribute } from '../attributes.ts';
import { type FloatArray, floatElements } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { tapRange, type VolumeAxes } from './window.ts';
import { axesOf } from './conv3d.ts';
import type { StaticReference } from '../op-reference.ts';

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
