import { rowMajorStrides } from '../../core/shape.ts';
import { elementBits } from '../elements.ts';
import { present } from '../operand-checks.ts';
import { copyStrided } from './strided-copy.ts';
import { axisOf } from './concat.ts';
import type { StaticReference } from '../op-reference.ts';

export const concatReference: StaticReference = {
  reference(inputs, attributes, output) {
    const axis = axisOf(attributes, output.shape.length);
    const strides = rowMajorStrides(output.shape);
    const elements = elementBits(output);
    let offset = 0;
    for (const x of present(inputs)) {
      copyStrided(
        { elements: elementBits(x), offset: 0, strides: rowMajorStrides(x.shape) },
        { elements, offset, strides },
        x.shape,
      );
      offset += (x.shape[axis] ?? 0) * (strides[axis] ?? 0);
    }
  },
};
