import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { boolAttribute, floatAttribute, intAttribute } from '../attributes.ts';
import { type FloatArray, floatElements, numberElements } from '../elements.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import { type Sampling, samplingOf } from './grid-sample.ts';
import { layoutOf } from './resample.ts';

/** More samples than this along a cell add nothing. */
const MAX_SAMPLES = 4096;

export const roiAlignReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const [elements, rois] = [floatElements(x), floatElements(operand(inputs, 1))];
    const images = numberElements(operand(inputs, 2));
    const y = floatElements(output);
    const [batch = 1, channels = 1, height = 1, width = 1] = x.shape;
    const [, , rows = 1, columns = 1] = output.shape;
    const isMax = boolAttribute(attributes, 'max');
    for (let i = 0; i < y.length; i++) {
      const plane = Math.floor(i / columns / rows);
      const region = Math.floor(plane / channels);
      const image = Math.min(Math.max(images[region] ?? 0, 0), batch - 1);
      const start = (image * channels + (plane % channels)) * height * width;
      const pixels = elements.subarray(start, start + height * width);
      const along = (corner: number, cell: number, cells: number) =>
        samplesOf([rois[corner] ?? 0, rois[corner + 2] ?? 0], { cell, cells, attributes });
      const ys = along(region * 4 + 1, Math.floor(i / columns) % rows, rows);
      const xs = along(region * 4, i % columns, columns);
      let [sum, largest] = [0, ys.length * xs.length === 0 ? 0 : -Infinity];
      for (const py of ys) {
        for (const px of xs) {
          const parts = weighted({ pixels, height, width }, py, px);
          for (const part of parts) sum += part;
          largest = Math.max(largest, ...parts);
        }
      }
      y[i] = isMax ? largest : sum / Math.max(ys.length * xs.length, 1);
    }
  },
};

interface Cell {
  readonly cell: number;
  readonly cells: number;
  readonly attributes: Attributes;
}

/** The places of a cell's samples along an axis. */
function samplesOf(
  corners: readonly [number, number],
  { cell, cells, attributes }: Cell,
): readonly number[] {
  const scale = Math.fround(floatAttribute(attributes, 'scale'));
  const isHalfPixel = boolAttribute(attributes, 'half_pixel');
  const offset = isHalfPixel ? 0.5 : 0;
  const [begin, end] = corners.map((corner) =>
    Math.fround(Math.fround(corner * scale) - offset),
  ) as [number, number];
  const size = Math.max(Math.fround(end - begin), isHalfPixel ? -Infinity : 1);
  const given = intAttribute(attributes, 'sampling');
  const count = given || Math.min(Math.max(Math.ceil(size / cells), 0), MAX_SAMPLES);
  const extent = size / cells;
  return Array.from({ length: count }, (_, i) => begin + (cell + (i + 0.5) / count) * extent);
}

interface Plane {
  readonly pixels: FloatArray;
  readonly height: number;
  readonly width: number;
}

/** The four pixels around a place times their weights; nothing further than 1 outside. */
function weighted({ pixels, height, width }: Plane, y: number, x: number): readonly number[] {
  if (y < -1 || y > height || x < -1 || x > width) return [0];
  const row = Math.min(Math.max(y, 0), height - 1);
  const column = Math.min(Math.max(x, 0), width - 1);
  const [top, left] = [Math.floor(row), Math.floor(column)];
  const parts: number[] = [];
  for (const down of [0, 1]) {
    for (const right of [0, 1]) {
      const at = Math.min(top + down, height - 1) * width + Math.min(left + right, width - 1);
      const weight = (1 - Math.abs(top + down - row)) * (1 - Math.abs(left + right - column));
      parts.push((pixels[at] ?? 0) * weight);
    }
  }
  return parts;
}

export const resampleReference: StaticReference = {
  reference(inputs, attributes, output) {
    const [x, table] = [operand(inputs, 0), operand(inputs, 1)];
    const { size, inner } = layoutOf(x.shape, attributes);
    const [outSize = 0, width = 1] = table.shape;
    const [elements, rows, y] = [floatElements(x), floatElements(table), floatElements(output)];
    for (let i = 0; i < y.length; i++) {
      const line = Math.floor(i / inner);
      const row = (line % outSize) * width;
      const begin = rows[row] ?? 0;
      const from = (Math.floor(line / outSize) * size + begin) * inner + (i % inner);
      let sum = 0;
      for (let tap = 0; tap < width - 1; tap++) {
        sum += (rows[row + 1 + tap] ?? 0) * (elements[from + tap * inner] ?? 0);
      }
      y[i] = begin < 0 ? (rows[row + 1] ?? 0) : sum;
    }
  },
};

/**
 * References of the spatial operators, without `repeat`, whose reference follows from its index
 * map.
 */

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
