import { conv2dReference } from '../convolution/conv2d.reference.ts';
import { conv3dReference } from '../convolution/conv3d.reference.ts';
import { matmulReference } from '../linear/matmul.reference.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import { W, X } from './conv-integer.ts';
import { fillExactly, withoutZeroPoints } from './exact-sums.reference.ts';
import { A, B } from './matmul-integer.ts';

export const matmulIntegerReference: StaticReference = {
  reference(inputs, attributes, output) {
    const operands = [A, B].map((pair) => withoutZeroPoints(inputs, pair));
    fillExactly(matmulReference, { operands, attributes, output });
  },
};

export const convIntegerReference: StaticReference = {
  reference(inputs, attributes, output) {
    const operands = [X, W].map((pair) => withoutZeroPoints(inputs, pair));
    const isVolume = operand(inputs, 0).shape.length === 5;
    fillExactly(isVolume ? conv3dReference : conv2dReference, { operands, attributes, output });
  },
};
