import { matmulReference } from '../linear/matmul.reference.ts';
import { fillExactly, withoutZeroPoints } from './exact-sums.reference.ts';
import { A, B } from './matmul-integer.ts';
import type { StaticReference } from '../op-reference.ts';

export const matmulIntegerReference: StaticReference = {
  reference(inputs, attributes, output) {
    const operands = [A, B].map((pair) => withoutZeroPoints(inputs, pair));
    fillExactly(matmulReference, { operands, attributes, output });
  },
};
