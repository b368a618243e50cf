import { boolAttribute } from '../attributes.ts';
import { elementBits } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { hostIntegers } from './integer-index.reference.ts';
import type { StaticReference } from '../op-reference.ts';

export const triluReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const isUpper = boolAttribute(attributes, 'upper');
    const k = hostIntegers(operand(inputs, 1))[0] ?? 0;
    const [rows = 1, columns = 1] = x.shape.slice(-2);
    const from = elementBits(x);
    const to = elementBits(output);
    output.bytes.fill(0);
    for (let i = 0; i < to.length; i++) {
      const above = (i % columns) - (Math.floor(i / columns) % rows);
      if (isUpper ? above >= k : above <= k) to[i] = from[i] ?? 0;
    }
  },
};
