import { conv2dReference } from '../convolution/conv2d.reference.ts';
import { conv3dReference } from '../convolution/conv3d.reference.ts';
import { operand } from '../operand-checks.ts';
import { fillExactly, withoutZeroPoints } from './exact-sums.reference.ts';
import { W, X } from './conv-integer.ts';
import type { StaticReference } from '../op-reference.ts';

export const convIntegerReference: StaticReference = {
  reference(inputs, attributes, output) {
    const operands = [X, W].map((pair) => withoutZeroPoints(inputs, pair));
    const isVolume = operand(inputs, 0).shape.length === 5;
    fillExactly(isVolume ? conv3dReference : conv2dReference, { operands, attributes, output });
  },
};
