import { elementCount } from '../../core/shape.ts';
import { boolAttribute } from '../attributes.ts';
import { operand } from '../operand-checks.ts';
import { hostIntegers } from './integer-index.reference.ts';
import { axisOf } from './tensor-scatter.ts';
import type { StaticReference } from '../op-reference.ts';

export const tensorScatterReference: StaticReference = {
  reference(inputs, attributes, output) {
    const [x, updates] = [operand(inputs, 0), operand(inputs, 1)];
    const begins = hostIntegers(operand(inputs, 2));
    const axis = axisOf(attributes, x.shape.length);
    const [size, count] = [x.shape[axis] ?? 0, updates.shape[axis] ?? 0];
    const run = elementCount(x.shape.slice(axis + 1)) * output.data.BYTES_PER_ELEMENT;
    const outerPerSlice = elementCount(x.shape.slice(1, axis));
    const to = output.bytes;
    const from = updates.bytes;
    to.set(x.bytes);
    for (let row = 0; row < outerPerSlice * begins.length; row++) {
      const begin = begins[Math.floor(row / outerPerSlice)] ?? 0;
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
