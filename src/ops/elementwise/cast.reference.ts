import { boolAttribute, stringAttribute } from '../attributes.ts';
import { operand } from '../operand-checks.ts';
import type { StaticReference } from '../op-reference.ts';
import { convertElements } from './convert-elements.ts';

export const castReference: StaticReference = {
  takesBits: true,
  reference(inputs, attributes, output) {
    convertElements(operand(inputs, 0), output, {
      saturate: boolAttribute(attributes, 'saturate'),
      roundMode: stringAttribute(attributes, 'round_mode'),
    });
  },
};
