import type { DType } from '../../core/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount, normalizeAxis, type Shape } from '../../core/shape.ts';
import { boolAttribute, dimsAttribute, intAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { NUMERIC } from '../elementwise/number-dtypes.ts';
import { numberElements } from '../elements.ts';
import type { Operands } from '../lowering.ts';
import { formatType, operand } from '../operand-checks.ts';
import { lowerTopK } from './top-k-lowering.ts';

/** Where the k largest or smallest elements of each row are, in their order. */
export const topK: OpDefinition = defineOp({
  name: 'top_k',
  kind: 'anchor',
  summary:
    'Indices along an axis of its k largest or smallest elements, the first of them first; of equal ' +
    'ones the lower index first. NaN is larger than any number.',
  inputs: [{ name: 'x', dtypes: NUMERIC }],
  attributes: {
    k: { type: 'dims', minimum: 0, length: 1 },
    axis: { type: 'int', default: -1 },
    largest: { type: 'bool', default: true },
  },
  infer(inputs, attributes, dims) {
    const x = operand(inputs, 0);
    const axis = axisOf(attributes, x.shape.length);
    const [k] = dimsAttribute(attributes, 'k');
    const size = x.shape[axis];
    if (k === undefined || size === undefined) {
      throw new ShapeError({ where: 'top_k', got: formatType(x), expected: 'an axis and k' });
    }
    const count = dims.of(k);
    dims.requireAtMost(count, size, () => ({
      where: 'top_k: attribute k',
      got: `more than the elements along axis ${axis} of ${formatType(x)}`,
      expected: 'at most as many',
    }));
    return { dtype: 'int64', shape: x.shape.map((dim, i) => (i === axis ? count : dim)) };
  },
  reference: topKOnHost,
  lower: lowerTopK,
  tolerance: EXACT,
  cases: () => [
    topKCase([5], 3),
    topKCase([3, 4], 3),
    topKCase([3, 4], 2, { axis: 0, largest: false }),
    topKCase([2, 9, 3], 9, { axis: 1 }),
    topKCase([2, 2], 2, { values: [-0, 0, 0, -0] }),
    topKCase([6], 4, { values: [Infinity, -Infinity, 1e-40, -1e-40, 3e38, 0] }),
    topKCase([64], 5, { dtype: 'int32' }),
    topKCase([64], 64, { dtype: 'uint32', largest: false }),
    topKCase([7], 7, { dtype: 'int64', values: [2 ** 40, -(2 ** 40), 1, -1, 0, 2 ** 32, 5] }),
    topKCase([7], 7, {
      dtype: 'uint64',
      largest: false,
      values: [2 ** 40, 2 ** 33, 1, 9, 0, 2 ** 32, 5],
    }),
    topKCase([40], 8, { dtype: 'float16' }),
    topKCase([40], 8, { dtype: 'int8', largest: false }),
    topKCase([100], 100, { dtype: 'uint8' }),
    topKCase([3, 1025], 10),
    topKCase([2, 700, 3], 600, { axis: 1 }),
    topKCase([1100, 2], 1000, { axis: 0 }),
    topKCase([2, 3000], 3000),
    topKCase([9001], 5),
    topKCase([2, 9217], 9217),
    topKCase([4097, 2], 1030, { axis: 0, dtype: 'int64' }),
    topKCase([5], 0),
    topKCase([0, 5], 2),
    topKCase([2, 0], 0),
    topKCase([1, 2, 1, 2, 1, 2, 4, 1], 3, { axis: 6 }),
  ],
  badCases: () => [
    topKCase([5], 6),
    topKCase([], 0),
    topKCase([5], -1),
    topKCase([5], 2, { dtype: 'bool' }),
    topKCase([5], 2, { axis: 1 }),
  ],
});

function axisOf(attributes: Attributes, rank: number): number {
  return normalizeAxis(intAttribute(attributes, 'axis'), rank, 'top_k: attribute axis');
}

function topKOnHost(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
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
}

/** NaN is the largest. */
function compare(a: number | bigint, b: number | bigint): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

interface TopKCaseOptions {
  readonly axis?: number;
  readonly largest?: boolean;
  readonly dtype?: DType;
  readonly values?: readonly number[];
}

function topKCase(shape: Shape, k: number, ...[options = {}]: TopKCaseOptions[]): OpCase {
  const { axis = -1, largest = true, dtype = 'float32', values } = options;
  const order = largest ? 'largest' : 'smallest';
  return {
    title: `${k} ${order} of ${dtype} (${shape.join(', ')}) along ${axis}`,
    inputs: [{ dtype, shape, ...(values === undefined ? {} : { values }) }],
    attributes: { k: [k], axis, largest },
  };
}
