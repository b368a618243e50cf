import { CONCRETE_DIMS } from '../../core/dim-context.ts';
import { rowMajorStrides } from '../../core/shape.ts';
import { elementBits } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { copyStrided } from './strided-copy.ts';
import { sliceAxes } from './slice.ts';
import type { StaticReference } from '../op-reference.ts';

export const sliceReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const strides = rowMajorStrides(x.shape);
    const axes = sliceAxes(x.shape, attributes, CONCRETE_DIMS);
    let offset = 0;
    for (const [axis, { start }] of axes.entries()) offset += start * (strides[axis] ?? 0);
    copyStrided(
      {
        elements: elementBits(x),
        offset,
        strides: axes.map(({ step }, axis) => step * (strides[axis] ?? 0)),
      },
      { elements: elementBits(output), offset: 0, strides: rowMajorStrides(output.shape) },
      output.shape,
    );
  },
};
