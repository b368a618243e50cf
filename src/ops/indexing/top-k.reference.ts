import { elementCount } from '../../core/shape.ts';
import { boolAttribute } from '../attributes.ts';
import { numberElements } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { axisOf } from './top-k.ts';
import type { StaticReference } from '../op-reference.ts';

export const topKReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const axis = axisOf(attributes, x.shape.length);
    const [size, k] = [x.shape[axis] ?? 0, output.shape[axis] ?? 0];
    const inner = elementCount(x.shape.slice(axis + 1));
    const { data } = x;
    const isBig = data instanceof BigInt64Array || data instanceof BigUint64Array;
    const elements: ArrayLike<number | bigint> = isBig ? data : numberElements(x);
    const sign = boolAttribute(attributes, 'largest') ? -1 : 1;
    const to = output.data as BigInt64Array;
    const rows = size === 0 ? 0 : elementCount(x.shape) / size;
    for (let row = 0; row < rows; row++) {
      const outer = Math.floor(row / inner);
      const base = outer * size * inner + (row % inner);
      const at = (index: number) => elements[base + index * inner] ?? 0;
      const order = Array.from({ length: size }, (_, index) => index);
      order.sort((a, b) => sign * compare(at(a), at(b)) || a - b);
      for (let place = 0; place < k; place++) {
        to[(outer * k + place) * inner + (row % inner)] = BigInt(order[place] ?? 0);
      }
    }
  },
};

/** Compares two numbers; NaN is the largest. */
function compare(a: number | bigint, b: number | bigint): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}
