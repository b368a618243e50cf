import { rowMajorStrides } from '../../core/shape.ts';
import { broadcastStrides } from '../elementwise/gather-broadcast.ts';
import { elementBits } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { copyStrided } from './strided-copy.ts';
import type { StaticReference } from '../op-reference.ts';

export const broadcastToReference: StaticReference = {
  reference(inputs, _, output) {
    const x = operand(inputs, 0);
    copyStrided(
      { elements: elementBits(x), offset: 0, strides: broadcastStrides(x.shape, output.shape) },
      { elements: elementBits(output), offset: 0, strides: rowMajorStrides(output.shape) },
      output.shape,
    );
  },
};
