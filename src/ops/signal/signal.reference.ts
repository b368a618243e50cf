import { elementCount } from '../../core/tensor/shape.ts';
import { intsAttribute } from '../attributes.ts';
import { elementBits, floatElements } from '../elements.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import { transformOf } from './dft.ts';
import { axisOf } from './frames.ts';

export const dftReference: StaticReference = {
  reference(inputs, attributes, output) {
    const [x, table] = [operand(inputs, 0), operand(inputs, 1)];
    const [elements, circle, y] = [floatElements(x), floatElements(table), floatElements(output)];
    const of = transformOf([x.shape, table.shape, output.shape], attributes);
    const { length, inner, parts, isHermitian } = of;
    const outParts = isHermitian ? 1 : 2;
    for (let i = 0; i < y.length / outParts; i++) {
      const line = Math.floor(i / inner);
      const k = line % of.outSize;
      const first = Math.floor(line / of.outSize) * of.size * inner + (i % inner);
      let [real, imaginary, turn] = [0, 0, 0];
      for (let j = 0; j < of.read; j++) {
        const at = (first + j * inner) * parts;
        const weight = isHermitian && j > 0 && 2 * j !== length ? 2 : 1;
        const [a, b] = [
          (elements[at] ?? 0) * weight,
          parts === 2 ? (elements[at + 1] ?? 0) * weight : 0,
        ];
        const [c, s] = [circle[2 * turn] ?? 0, of.direction * (circle[2 * turn + 1] ?? 0)];
        real += a * c - b * s;
        imaginary += a * s + b * c;
        turn += k;
        if (turn >= length) turn -= length;
      }
      y[i * outParts] = real * of.scale;
      if (!isHermitian) y[i * 2 + 1] = imaginary * of.scale;
    }
  },
};

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

export const twiddlesReference: StaticReference = {
  reference(_, attributes, output) {
    const [length = 0] = intsAttribute(attributes, 'length');
    const elements = floatElements(output);
    for (let i = 0; i < length; i++) {
      const angle = (2 * Math.PI * i) / length;
      elements.set([Math.cos(angle), Math.sin(angle)], 2 * i);
    }
  },
};
