import { elementCount } from '../../core/shape.ts';
import { elementBits } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { hostIntegers, hostPlace } from './integer-index.reference.ts';
import { axisOf } from './one-hot.ts';
import type { StaticReference } from '../op-reference.ts';

export const oneHotReference: StaticReference = {
  reference(inputs, attributes, output) {
    const indices = hostIntegers(operand(inputs, 0));
    const values = elementBits(operand(inputs, 1));
    const to = elementBits(output);
    const axis = axisOf(attributes, output.shape.length);
    const depth = output.shape[axis] ?? 0;
    const inner = elementCount(output.shape.slice(axis + 1));
    to.fill(values[0] ?? 0);
    for (const [i, index] of indices.entries()) {
      const place = hostPlace(index, depth);
      const outer = Math.floor(i / inner);
      if (place >= 0) to[(outer * depth + place) * inner + (i % inner)] = values[1] ?? 0;
    }
  },
};
