import { intAttribute } from '../attributes.ts';
import { type FloatArray, floatElements } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { axesOf } from './deform-conv.ts';
import type { StaticReference } from '../op-reference.ts';

export const deformConvReference: StaticReference = {
  reference(inputs, attributes, output) {
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
  },
};

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
