import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { boolAttribute, floatAttribute, intAttribute } from '../attributes.ts';
import { type FloatArray, floatElements, numberElements } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import type { StaticReference } from '../op-reference.ts';

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
