import { boolAttribute } from '../attributes.ts';
import { startFrom } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { hostIntegers } from './integer-index.reference.ts';
import { placesOf } from './tensor-scatter.ts';
import type { StaticReference } from '../op-reference.ts';

export const tensorScatterReference: StaticReference = {
  reference(inputs, attributes, output) {
    const [x, updates] = [operand(inputs, 0), operand(inputs, 1)];
    const begins = hostIntegers(operand(inputs, 2));
    const { axis, run: elements, rows } = placesOf(x.shape, attributes);
    const [size, count] = [x.shape[axis] ?? 0, updates.shape[axis] ?? 0];
    const run = elements * output.data.BYTES_PER_ELEMENT;
    const to = output.bytes;
    const from = updates.bytes;
    startFrom(x, output);
    for (let row = 0; row < rows * begins.length; row++) {
      const begin = begins[Math.floor(row / rows)] ?? 0;
      for (let i = 0; i < count; i++) {
        const circular = (((begin + i) % size) + size) % size;
        const place = boolAttribute(attributes, 'circular') ? circular : begin + i;
        if (place < 0 || place >= size) continue;
        const source = (row * count + i) * run;
        to.set(from.subarray(source, source + run), (row * size + place) * run);
      }
    }
  },
};
