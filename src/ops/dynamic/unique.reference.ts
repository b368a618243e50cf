import { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount } from '../../core/shape.ts';
import { boolAttribute } from '../attributes.ts';
import type { Operands } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import { comparedElements } from './compared-elements.ts';
import { axisOf } from './unique.ts';
import type { OpReference } from '../op-reference.ts';

export const uniqueIndicesReference: OpReference = {
  compute: (inputs, attributes) => int64s(groupSlices(inputs, attributes).first),
};

export const uniqueCountsReference: OpReference = {
  compute: (inputs, attributes) => int64s(groupSlices(inputs, attributes).counts),
};

export const uniqueInverseReference: OpReference = {
  reference(inputs, attributes, output) {
    const target = output.elements;
    const { inverse } = groupSlices(inputs, attributes);
    if (target instanceof BigInt64Array) target.set(inverse.map(BigInt));
  },
};

interface Groups {
  /** The first slice of each group. */
  readonly first: readonly number[];
  readonly counts: readonly number[];
  /** The number of each slice's group. */
  readonly inverse: readonly number[];
}

/** Slices along an axis compare by their elements in row-major order; NaN equals NaN, behind all. */
function groupSlices(inputs: Operands<HostTensor>, attributes: Attributes): Groups {
  const x = operand(inputs, 0);
  const size = x.shape[axisOf(inputs, attributes)] ?? 0;
  const compare = sliceComparison(x, axisOf(inputs, attributes));
  const order = Array.from({ length: size }, (_, i) => i);
  order.sort((a, b) => compare(a, b) || a - b);
  const groups: number[][] = [];
  for (const slice of order) {
    const last = groups.at(-1);
    if (last !== undefined && compare(last[0] ?? 0, slice) === 0) last.push(slice);
    else groups.push([slice]);
  }
  const isSorted = boolAttribute(attributes, 'sorted');
  if (!isSorted) groups.sort(([a = 0], [b = 0]) => a - b);
  const inverse = new Array<number>(size).fill(0);
  for (const [group, slices] of groups.entries()) for (const i of slices) inverse[i] = group;
  return {
    first: groups.map(([slice = 0]) => slice),
    counts: groups.map((slices) => slices.length),
    inverse,
  };
}

function sliceComparison(x: HostTensor, axis: number): (a: number, b: number) => number {
  const elements = comparedElements(x);
  const inner = elementCount(x.shape.slice(axis + 1));
  const outer = elementCount(x.shape.slice(0, axis));
  const stride = (x.shape[axis] ?? 1) * inner;
  return (a, b) => {
    for (let o = 0; o < outer; o++) {
      for (let i = 0; i < inner; i++) {
        const at = o * stride + i;
        const order = compareElements(elements[at + a * inner], elements[at + b * inner]);
        if (order !== 0) return order;
      }
    }
    return 0;
  };
}

function compareElements(a: number | bigint = 0, b: number | bigint = 0): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

function int64s(values: readonly number[]): HostTensor {
  return HostTensor.from('int64', [values.length], values);
}
