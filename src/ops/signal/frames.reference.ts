import { elementCount } from '../../core/shape.ts';
import { intsAttribute } from '../attributes.ts';
import { elementBits } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { axisOf } from './frames.ts';
import type { StaticReference } from '../op-reference.ts';

export const framesReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const axis = axisOf(attributes, x.shape.length);
    const [step = 1] = intsAttribute(attributes, 'step');
    const [from, to] = [elementBits(x), elementBits(output)];
    const [count = 0, size = 0, ...rest] = output.shape.slice(axis);
    const inner = elementCount(rest);
    const length = x.shape[axis] ?? 0;
    for (let i = 0; i < to.length; i++) {
      const line = Math.floor(i / inner);
      const piece = Math.floor(line / size);
      const place = (piece % count) * step + (line % size);
      to[i] = from[(Math.floor(piece / count) * length + place) * inner + (i % inner)] ?? 0;
    }
  },
};
