import { rowMajorStrides } from '../../core/shape.ts';
import { stringAttribute } from '../attributes.ts';
import { operand } from '../operand-checks.ts';
import { hostIntegers, hostPlace } from './integer-index.reference.ts';
import { scatterOnHost } from './scatter-reduction.reference.ts';
import { axisOf } from './scatter-elements.ts';
import type { StaticReference } from '../op-reference.ts';

export const scatterElementsReference: StaticReference = {
  reference(inputs, attributes, output) {
    const indices = operand(inputs, 1);
    const { shape } = indices;
    const axis = axisOf(attributes, shape.length);
    const strides = rowMajorStrides(output.shape);
    const own = rowMajorStrides(shape);
    const rows = hostIntegers(indices).map((index, i) => {
      const place = hostPlace(index, output.shape[axis] ?? 0);
      if (place < 0) return -1;
      let row = place * (strides[axis] ?? 0);
      for (const [a, size] of shape.entries()) {
        if (a !== axis) row += (Math.floor(i / (own[a] ?? 1)) % size) * (strides[a] ?? 0);
      }
      return row;
    });
    const [x, updates] = [operand(inputs, 0), operand(inputs, 2)];
    const reduction = stringAttribute(attributes, 'reduction');
    scatterOnHost({ x, updates, reduction, run: 1, rows }, output);
  },
};
