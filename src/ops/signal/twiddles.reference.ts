import { intsAttribute } from '../attributes.ts';
import { floatElements } from '../elements.ts';
import type { StaticReference } from '../op-reference.ts';

export const twiddlesReference: StaticReference = {
  reference(_, attributes, output) {
    const [length = 0] = intsAttribute(attributes, 'length');
    const elements = floatElements(output);
    for (let i = 0; i < length; i++) {
      const angle = (2 * Math.PI * i) / length;
      elements.set([Math.cos(angle), Math.sin(angle)], 2 * i);
    }
  },
};
