import { rowMajorStrides } from '../../core/shape.ts';
import { elementBits } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { hostIntegers, hostPlace } from './integer-index.reference.ts';
import { axisOf } from './gather-elements.ts';
import type { StaticReference } from '../op-reference.ts';

export const gatherElementsReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const indices = hostIntegers(operand(inputs, 1));
    const axis = axisOf(attributes, x.shape.length);
    const size = x.shape[axis] ?? 0;
    const from = elementBits(x);
    const to = elementBits(output);
    const strides = rowMajorStrides(x.shape);
    const own = rowMajorStrides(output.shape);
    const zero = from.constructor === BigUint64Array ? (0n as unknown as number) : 0;
    for (const [i, index] of indices.entries()) {
      const place = hostPlace(index, size);
      let offset = place * (strides[axis] ?? 0);
      for (const [a, dim] of output.shape.entries()) {
        if (a !== axis) offset += (Math.floor(i / (own[a] ?? 1)) % dim) * (strides[a] ?? 0);
      }
      to[i] = place < 0 ? zero : (from[offset] ?? zero);
    }
  },
};
