import { dtypeInfo } from '../../core/tensor/dtype.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount, normalizeAxis, type Shape } from '../../core/tensor/shape.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import { numberElements } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import type { StaticReference } from '../op-reference.ts';

export const cumulativeReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    accumulate(x, output, {
      axis: normalizeAxis(intAttribute(attributes, 'axis'), x.shape.length, 'cumulative'),
      isProduct: boolAttribute(attributes, 'product'),
      isExclusive: boolAttribute(attributes, 'exclusive'),
      isReverse: boolAttribute(attributes, 'reverse'),
    });
  },
};

interface Accumulation {
  readonly axis: number;
  readonly isProduct: boolean;
  readonly isExclusive: boolean;
  readonly isReverse: boolean;
}

/** Accumulates in double precision, or in 64-bit integers, which wrap. */
function accumulate(x: HostTensor, output: HostTensor, how: Accumulation): void {
  const { data } = x;
  const target = output.elements;
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) {
    if (!(target instanceof BigInt64Array || target instanceof BigUint64Array)) return;
    eachRow(x.shape, how, (places) => {
      let result = how.isProduct ? 1n : 0n;
      for (const at of places) {
        const value = data[at] ?? 0n;
        const next = BigInt.asIntN(64, how.isProduct ? result * value : result + value);
        target[at] = how.isExclusive ? result : next;
        result = next;
      }
    });
    return;
  }
  const elements = numberElements(x);
  const numbers = numberElements(output);
  const isFloat = dtypeInfo(x.dtype).category === 'float';
  const multiply = isFloat ? (a: number, b: number) => a * b : Math.imul;
  eachRow(x.shape, how, (places) => {
    let result = how.isProduct ? 1 : 0;
    for (const at of places) {
      const value = elements[at] ?? 0;
      const next = how.isProduct ? multiply(result, value) : result + value;
      numbers[at] = how.isExclusive ? result : next;
      result = next;
    }
  });
}

/** Calls back with the places of each row's elements, in the order of accumulation. */
function eachRow(
  shape: Shape,
  { axis, isReverse }: Accumulation,
  visit: (places: readonly number[]) => void,
): void {
  const size = shape[axis] ?? 1;
  const inner = elementCount(shape.slice(axis + 1));
  const rows = size === 0 ? 0 : elementCount(shape) / size;
  for (let row = 0; row < rows; row++) {
    const start = Math.floor(row / inner) * inner * size + (row % inner);
    const places = Array.from({ length: size }, (_, k) => start + k * inner);
    visit(isReverse ? places.reverse() : places);
  }
}
