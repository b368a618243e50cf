import type { TypedArray } from '../../core/dtype.ts';
import { elementCount } from '../../core/shape.ts';
import { dimsAttribute, intAttribute } from '../attributes.ts';
import type { StaticReference } from '../op-reference.ts';

export const dimsTensorReference: StaticReference = {
  reference(_, attributes, output) {
    store(output.elements, dimsAttribute(attributes, 'dims').map(Number));
  },
};

export const arangeReference: StaticReference = {
  reference(_, attributes, output) {
    const [start = 0] = dimsAttribute(attributes, 'start').map(Number);
    const step = intAttribute(attributes, 'step');
    const count = elementCount(output.shape);
    store(
      output.elements,
      Array.from({ length: count }, (_element, i) => start + i * step),
    );
  },
};

function store(elements: TypedArray, values: readonly number[]): void {
  if (elements instanceof BigInt64Array) elements.set(values.map(BigInt));
}
