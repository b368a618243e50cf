import { ALL_DTYPES, type DType } from '../../core/dtype.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { normalizeAxis, rowMajorStrides, type Shape } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { elementBits } from '../elements.ts';
import type { Operands } from '../lowering.ts';
import { formatType, operand, requireRank } from '../operand-checks.ts';
import { hostIntegers, hostPlace, INDEX_DTYPES, placeExpression } from './integer-index.ts';

/** One element of x per index: that index replaces the coordinate of an axis. */
export const gatherElements: OpDefinition = defineOp({
  name: 'gather_elements',
  kind: 'injective',
  summary:
    'For each index, the element of x at its own coordinates with the index in place of the ' +
    "axis'. Negative indices count from the end; where an index lies outside, elements are 0.",
  inputs: [
    { name: 'x', dtypes: ALL_DTYPES },
    { name: 'indices', dtypes: INDEX_DTYPES },
  ],
  attributes: { axis: { type: 'int', default: 0 } },
  infer(inputs, attributes, dims) {
    const x = operand(inputs, 0);
    const indices = operand(inputs, 1);
    const axis = axisOf(attributes, x.shape.length);
    requireRank(indices, x.shape.length, 'gather_elements: input indices');
    const complaint = () => ({
      where: 'gather_elements',
      got: `${formatType(indices)} for ${formatType(x)}`,
      expected: `indices no larger than x but along axis ${axis}`,
    });
    for (const [i, dim] of indices.shape.entries()) {
      if (i !== axis) dims.requireAtMost(dim, x.shape[i] ?? dim, complaint);
    }
    return { dtype: x.dtype, shape: indices.shape };
  },
  reference: gatherElementsOnHost,
  indexMap: {
    sources({ attributes, inputs, coords, param, integer }) {
      const axis = axisOf(attributes, coords.length);
      const size = param(inputs[0]?.shape[axis] ?? 0, 'u32');
      const place = placeExpression(integer(1, coords), size);
      const from = coords.map((coord, i) => (i === axis ? place : coord));
      return [{ input: 0, coords: from, when: `${place} < ${size}` }];
    },
  },
  tolerance: EXACT,
  cases: () => [
    elementsCase([5], [4], [3, 0, -1, -5]),
    elementsCase([3, 3], [2, 3], [1, 2, 0, 2, 0, 0]),
    elementsCase([2, 2], [2, 2], [0, 0, 1, 0], { axis: 1, indexType: 'int64' }),
    elementsCase([3, 4], [2, 5], [0, 1, 2, 3, -1, -4, 0, 0, 2, 1], { axis: -1 }),
    elementsCase([2, 3, 4], [2, 1, 4], [0, 1, 2, -1, -3, 2, 0, 1], { axis: 1 }),
    elementsCase([3, 2], [4, 1], [3, -4, 2 ** 31 - 1, -(2 ** 31)]),
    elementsCase([3], [3], [2 ** 32, -(2 ** 33), 2], { axis: 0, indexType: 'int64' }),
    elementsCase([3, 4], [0, 4], []),
    elementsCase([0, 4], [2, 1], [0, 0]),
    elementsCase([3, 4], [3, 4], [0, 1, 2, 3, 3, 2, 1, 0, 1, 1, 2, 2], {
      axis: 1,
      dtype: 'int64',
    }),
    elementsCase([1, 2, 1, 2, 1, 1, 1, 2], [1, 1, 1, 2, 1, 1, 1, 1], [1, 0], { axis: 7 }),
    elementsCase([4], [3], [1, 0, 3], { axis: 0, dtype: 'bool' }),
  ],
  badCases: () => [
    elementsCase([3], [2, 2], [0, 0, 0, 0]),
    elementsCase([3, 2], [1, 3], [0, 0, 0]),
    elementsCase([3], [1], [0], { axis: 1 }),
  ],
});

function axisOf(attributes: Attributes, rank: number): number {
  return normalizeAxis(intAttribute(attributes, 'axis'), rank, 'gather_elements: attribute axis');
}

function gatherElementsOnHost(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
  const x = operand(inputs, 0);
  const indices = hostIntegers(operand(inputs, 1));
  const axis = axisOf(attributes, x.shape.length);
  const size = x.shape[axis] ?? 0;
  const from = elementBits(x);
  const to = elementBits(output);
  const strides = rowMajorStrides(x.shape);
  const own = rowMajorStrides(output.shape);
  const zero = from.constructor === BigUint64Array ? (0n as unknown as number) : 0;
  for (const [i, index] of indices.entries()) {
    const place = hostPlace(index, size);
    let offset = place * (strides[axis] ?? 0);
    for (const [a, dim] of output.shape.entries()) {
      if (a !== axis) offset += (Math.floor(i / (own[a] ?? 1)) % dim) * (strides[a] ?? 0);
    }
    to[i] = place < 0 ? zero : (from[offset] ?? zero);
  }
}

interface ElementsCaseOptions {
  readonly axis: number;
  readonly dtype?: DType;
  readonly indexType?: DType;
}

function elementsCase(
  shape: Shape,
  indexShape: Shape,
  values: readonly number[],
  ...[options]: ElementsCaseOptions[]
): OpCase {
  const { axis, dtype = 'float32', indexType = 'int32' } = options ?? { axis: 0 };
  return {
    title: `${dtype} (${shape.join(', ')}) by ${indexType} [${values.join(', ')}] along ${axis}`,
    inputs: [
      { dtype, shape },
      { dtype: indexType, shape: indexShape, values },
    ],
    attributes: { axis },
  };
}
