import { elementBits } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { noAlternative } from './wgsl-kernel.ts';
import type { StaticReference } from '../op-reference.ts';

export const wgslKernelReference: StaticReference = {
  reference(inputs, attributes, output) {
    if (attributes['alternative'] !== true) throw noAlternative(attributes);
    elementBits(output).set(elementBits(operand(inputs, inputs.length - 1)));
  },
};
