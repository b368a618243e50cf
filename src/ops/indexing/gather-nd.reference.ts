import { elementCount } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { operand } from '../operand-checks.ts';
import { hostIntegers } from './integer-index.reference.ts';
import type { Shape } from '../../core/shape.ts';
import { hostPlace } from './integer-index.reference.ts';
import type { StaticReference } from '../op-reference.ts';

export const gatherNdReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const indices = operand(inputs, 1);
    const batch = intAttribute(attributes, 'batch_dims');
    const batchCount = elementCount(x.shape.slice(0, batch));
    const length = indices.shape.at(-1) ?? 0;
    const sizes = x.shape.slice(batch, batch + length);
    const slice = elementCount(sizes);
    const run = elementCount(x.shape.slice(batch + length)) * output.data.BYTES_PER_ELEMENT;
    const tuples = elementCount(indices.shape.slice(0, -1));
    const places = tuplePlaces(hostIntegers(indices), sizes, tuples);
    const from = x.bytes;
    const to = output.bytes;
    for (const [i, place] of places.entries()) {
      const begin = (Math.floor((i * batchCount) / tuples) * slice + place) * run;
      if (place >= 0) to.set(from.subarray(begin, begin + run), i * run);
      else to.fill(0, i * run, (i + 1) * run);
    }
  },
};

/** The row-major place of each tuple among axes of some sizes; -1 outside. */
export function tuplePlaces(indices: Float64Array, sizes: Shape, count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, i) => {
    let place = 0;
    for (const [k, size] of sizes.entries()) {
      const at = hostPlace(indices[i * sizes.length + k] ?? 0, size);
      place = at < 0 || place < 0 ? -1 : place * size + at;
    }
    return place;
  });
}
