import { rowMajorStrides } from '../../core/shape.ts';
import { elementBits } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { hostIntegers } from './integer-index.reference.ts';
import { axesOf } from './reverse-sequence.ts';
import type { StaticReference } from '../op-reference.ts';

export const reverseSequenceReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const lengths = hostIntegers(operand(inputs, 1));
    const { batch, time } = axesOf(attributes, x.shape.length);
    const strides = rowMajorStrides(x.shape);
    const coordinate = (i: number, axis: number) =>
      Math.floor(i / (strides[axis] ?? 1)) % (x.shape[axis] ?? 1);
    const from = elementBits(x);
    const to = elementBits(output);
    for (let i = 0; i < to.length; i++) {
      const length = Math.min(lengths[coordinate(i, batch)] ?? 0, x.shape[time] ?? 0);
      const at = coordinate(i, time);
      const place = at < length ? length - 1 - at : at;
      to[i] = from[i + (place - at) * (strides[time] ?? 0)] ?? 0;
    }
  },
};
