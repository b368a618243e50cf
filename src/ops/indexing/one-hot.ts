import { ALL_DTYPES, type DType } from '../../core/dtype.ts';
import { formatDim } from '../../core/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount, normalizeAxis, type Shape } from '../../core/shape.ts';
import { dimsAttribute, intAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { elementBits } from '../elements.ts';
import type { Operands } from '../lowering.ts';
import { operand, requireVector } from '../operand-checks.ts';
import { hostIntegers, hostPlace, INDEX_DTYPES, placeExpression } from './integer-index.ts';

/** A new axis with one value at the index and another everywhere else. */
export const oneHot: OpDefinition = defineOp({
  name: 'one_hot',
  kind: 'injective',
  summary:
    'Along a new axis of size depth, the second value at the index and the first everywhere else. ' +
    'Negative indices count from the end; an index outside is nowhere.',
  inputs: [
    { name: 'indices', dtypes: INDEX_DTYPES },
    { name: 'values', dtypes: ALL_DTYPES },
  ],
  attributes: {
    depth: { type: 'dims', minimum: 0, length: 1 },
    axis: { type: 'int', default: -1 },
  },
  infer(inputs, attributes, dims) {
    const { shape } = operand(inputs, 0);
    const values = operand(inputs, 1);
    const [depth] = dimsAttribute(attributes, 'depth');
    if (depth === undefined) throw new ShapeError({ got: 'no depth', expected: 'one' });
    const complaint = () => ({
      where: 'one_hot: input values',
      got: `shape (${values.shape.map(formatDim).join(', ')})`,
      expected: 'two values',
    });
    requireVector(values, dims.of(2), { dims, complaint });
    const axis = axisOf(attributes, shape.length + 1);
    const size = dims.of(depth);
    return { dtype: values.dtype, shape: [...shape.slice(0, axis), size, ...shape.slice(axis)] };
  },
  reference: oneHotOnHost,
  indexMap: {
    sources({ attributes, output, coords, param, integer }) {
      const axis = axisOf(attributes, coords.length);
      const index = integer(0, [...coords.slice(0, axis), ...coords.slice(axis + 1)]);
      const place = placeExpression(index, param(output.shape[axis] ?? 0, 'u32'));
      return [{ input: 1, coords: [`select(0u, 1u, ${place} == ${coords[axis] ?? '0u'})`] }];
    },
  },
  tolerance: EXACT,
  cases: () => [
    hotCase([], [2], 4),
    hotCase([3], [0, 7, 8], 10),
    hotCase([3], [0, -7, -8], 10, { axis: 1 }),
    hotCase([2, 2], [1, 9, 2, 4], 10, { axis: 1, indexType: 'int64' }),
    hotCase([2, 2], [1, 9, 2, 4], 10, { axis: -2 }),
    hotCase([2, 2], [1, 0, 2, -1], 3, { axis: 0, dtype: 'int64' }),
    hotCase([4], [11, 3, -5, 2 ** 31 - 1], 3),
    hotCase([3], [2 ** 32, 2 ** 32 + 1, -(2 ** 32)], 3, { indexType: 'int64' }),
    hotCase([3], [0, 1, 2], 0),
    hotCase([0, 3], [], 4),
    hotCase([4], [0, 1, 2, 1], 3, { axis: 0, dtype: 'bool' }),
  ],
  badCases: () => [
    hotCase([3], [0, 1, 2], -1),
    hotCase([3], [0, 1, 2], 3, { axis: 2 }),
    {
      title: 'three values',
      inputs: [
        { dtype: 'int32', shape: [2] },
        { dtype: 'float32', shape: [3] },
      ],
      attributes: { depth: [2] },
    },
  ],
});

function axisOf(attributes: Attributes, rank: number): number {
  return normalizeAxis(intAttribute(attributes, 'axis'), rank, 'one_hot: attribute axis');
}

function oneHotOnHost(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
  const indices = hostIntegers(operand(inputs, 0));
  const values = elementBits(operand(inputs, 1));
  const to = elementBits(output);
  const axis = axisOf(attributes, output.shape.length);
  const depth = output.shape[axis] ?? 0;
  const inner = elementCount(output.shape.slice(axis + 1));
  to.fill(values[0] ?? 0);
  for (const [i, index] of indices.entries()) {
    const place = hostPlace(index, depth);
    const outer = Math.floor(i / inner);
    if (place >= 0) to[(outer * depth + place) * inner + (i % inner)] = values[1] ?? 0;
  }
}

interface HotCaseOptions {
  readonly axis?: number;
  readonly dtype?: DType;
  readonly indexType?: DType;
}

function hotCase(
  shape: Shape,
  values: readonly number[],
  depth: number,
  ...[options = {}]: HotCaseOptions[]
): OpCase {
  const { axis = -1, dtype = 'float32', indexType = 'int32' } = options;
  return {
    title: `${dtype} at ${indexType} [${values.join(', ')}] of ${depth} along ${axis}`,
    inputs: [
      { dtype: indexType, shape, values },
      { dtype, shape: [2], values: [0, 1] },
    ],
    attributes: { depth: [depth], axis },
  };
}
