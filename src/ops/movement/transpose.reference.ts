import { rowMajorStrides } from '../../core/shape.ts';
import { intsAttribute } from '../attributes.ts';
import { elementBits } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { copyStrided } from './strided-copy.ts';
import type { StaticReference } from '../op-reference.ts';

export const transposeReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const own = rowMajorStrides(x.shape);
    const strides = intsAttribute(attributes, 'perm').map((axis) => own[axis] ?? 0);
    copyStrided(
      { elements: elementBits(x), offset: 0, strides },
      { elements: elementBits(output), offset: 0, strides: rowMajorStrides(output.shape) },
      output.shape,
    );
  },
};
