import { elementCount } from '../../core/tensor/shape.ts';
import { floatElements } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { type Sampling, samplingOf } from './grid-sample.ts';
import type { StaticReference } from '../op-reference.ts';

export const gridSampleReference: StaticReference = {
  reference(inputs, attributes, output) {
    const [x, grid] = [operand(inputs, 0), operand(inputs, 1)];
    const [elements, places, y] = [floatElements(x), floatElements(grid), floatElements(output)];
    const [, channels = 1, ...sizes] = x.shape;
    const pixels = elementCount(sizes);
    const points = elementCount(output.shape.slice(2));
    const how = samplingOf(attributes);
    for (let i = 0; i < y.length; i++) {
      const plane = Math.floor(i / points);
      const at = (Math.floor(plane / channels) * points + (i % points)) * sizes.length;
      let taps = [{ index: plane * pixels, weight: 1 }];
      let stride = pixels;
      for (const [axis, size] of sizes.entries()) {
        stride /= size;
        const own = tapsOf(places[at + sizes.length - 1 - axis] ?? 0, size, how);
        taps = taps.flatMap(({ index, weight }) =>
          own.map((tap) => ({ index: index + tap.index * stride, weight: weight * tap.weight })),
        );
      }
      y[i] = taps.reduce((sum, { index, weight }) => sum + weight * (elements[index] ?? 0), 0);
    }
  },
};

interface Tap {
  readonly index: number;
  readonly weight: number;
}

/** The elements of an axis around a place, those that are there. */
function tapsOf(from: number, size: number, { mode, padding, isAligned }: Sampling): Tap[] {
  const low = isAligned ? 0 : -0.5;
  const high = size - 1 - low;
  const scaled = Math.fround(Math.fround(from + 1) * (isAligned ? size - 1 : size));
  let at = Math.fround(isAligned ? scaled : scaled - 1) / 2;
  if (mode === 'nearest') at = roundHalfEven(at);
  if (at < low || at > high) {
    // Of a cubic kernel each tap is clamped, not their place.
    if (padding === 'border' && mode !== 'cubic') at = Math.min(Math.max(at, 0), size - 1);
    if (padding === 'reflection') at = mirrored(at, low, high);
  }
  const begin = Math.floor(at) - (mode === 'cubic' ? 1 : 0);
  const count = mode === 'nearest' ? 1 : mode === 'cubic' ? 4 : 2;
  const taps: Tap[] = [];
  for (let index = begin; index < begin + count; index++) {
    const distance = Math.abs(index - at);
    const weight = mode === 'cubic' ? cubic(distance) : 1 - distance;
    const isInside = index >= 0 && index < size;
    if (!isInside && padding === 'zeros') continue;
    const mirror = padding === 'reflection' && !isInside;
    const resolved = mirror ? Math.round(mirrored(index, low, high)) : index;
    taps.push({ index: Math.min(Math.max(resolved, 0), size - 1), weight });
  }
  return taps;
}

function mirrored(at: number, low: number, high: number): number {
  const span = high - low;
  if (span <= 0) return low;
  const distance = Math.abs(at - low);
  const turns = Math.floor(distance / span);
  const rest = distance - turns * span;
  return turns % 2 === 0 ? low + rest : high - rest;
}

function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** R. Keys' kernel with a = -0.75. */
function cubic(x: number): number {
  return x <= 1 ? (1.25 * x - 2.25) * x * x + 1 : ((-0.75 * x + 3.75) * x - 6) * x + 3;
}
