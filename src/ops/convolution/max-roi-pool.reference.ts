import { floatAttribute } from '../attributes.ts';
import { floatElements } from '../elements.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';

export const maxRoiPoolReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const [elements, rois] = [floatElements(x), floatElements(operand(inputs, 1))];
    const y = floatElements(output);
    const scale = Math.fround(floatAttribute(attributes, 'scale'));
    const [images = 0, channels = 0, height = 0, width = 0] = x.shape;
    const [, , rows = 1, columns = 1] = output.shape;
    const corner = (at: number): number => roundAway(Math.fround((rois[at] ?? 0) * scale));
    for (let i = 0; i < y.length; i++) {
      const region = Math.floor(i / columns / rows / channels);
      const image = Math.min(Math.max(Math.trunc(rois[region * 5] ?? 0), 0), images - 1);
      const plane = (image * channels + (Math.floor(i / columns / rows) % channels)) * height;
      const [top, bottom] = cellOf(corner(region * 5 + 2), corner(region * 5 + 4), {
        index: Math.floor(i / columns) % rows,
        cells: rows,
        size: height,
      });
      const [left, right] = cellOf(corner(region * 5 + 1), corner(region * 5 + 3), {
        index: i % columns,
        cells: columns,
        size: width,
      });
      let largest = top < bottom && left < right ? -Infinity : 0;
      for (let row = top; row < bottom; row++) {
        for (let column = left; column < right; column++) {
          largest = Math.max(largest, elements[(plane + row) * width + column] ?? 0);
        }
      }
      y[i] = largest;
    }
  },
};

interface Cell {
  readonly index: number;
  readonly cells: number;
  readonly size: number;
}

function cellOf(first: number, last: number, { index, cells, size }: Cell): [number, number] {
  const extent = Math.max(last - first + 1, 1);
  const inside = (at: number): number => Math.min(Math.max(at + first, 0), size);
  return [
    inside(Math.floor((index * extent) / cells)),
    inside(Math.ceil(((index + 1) * extent) / cells)),
  ];
}

/** Rounds to the nearest integer, halves away from zero. */
function roundAway(value: number): number {
  return Math.sign(value) * Math.floor(Math.abs(value) + 0.5);
}
