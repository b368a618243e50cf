import { floatAttribute } from '../attributes.ts';
import { fillElements } from '../elements.ts';
import type { StaticReference } from '../op-reference.ts';

export const fullReference: StaticReference = {
  reference(_, attributes, output) {
    fillElements(output, floatAttribute(attributes, 'value'));
  },
};
