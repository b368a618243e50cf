import { elementBits } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import type { StaticReference } from '../op-reference.ts';

export const reshapeReference: StaticReference = {
  reference(inputs, _, output) {
    elementBits(output).set(elementBits(operand(inputs, 0)));
  },
};
