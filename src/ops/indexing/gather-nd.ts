import { ALL_DTYPES, type DType } from '../../core/dtype.ts';
import { type Dim, formatDim } from '../../core/dim.ts';
import { ShapeError, UnsupportedError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes, TensorTypeOf } from '../../core/primitive-function.ts';
import { elementCount, type Shape } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import type { Operands } from '../lowering.ts';
import { formatType, operand, requireMinimumRank } from '../operand-checks.ts';
import { hostIntegers, hostPlace, INDEX_DTYPES, placeExpression } from './integer-index.ts';

/** Slices of x at tuples of indices, after leading axes that both inputs share. */
export const gatherNd: OpDefinition = defineOp({
  name: 'gather_nd',
  kind: 'injective',
  summary:
    'For each tuple along the last axis of the indices, the slice of x there. The first batch_dims ' +
    'axes belong to both inputs. Negative indices count from the end; where one lies outside, ' +
    'elements are 0.',
  inputs: [
    { name: 'x', dtypes: ALL_DTYPES },
    { name: 'indices', dtypes: INDEX_DTYPES },
  ],
  attributes: { batch_dims: { type: 'int', default: 0, minimum: 0 } },
  infer(inputs, attributes, dims) {
    const x = operand(inputs, 0);
    const indices = operand(inputs, 1);
    const batch = intAttribute(attributes, 'batch_dims');
    const complaint = () => ({
      where: 'gather_nd',
      got: `${formatType(indices)} for ${formatType(x)}`,
      expected: `tuples for the axes of x after ${batch} that both have`,
    });
    requireMinimumRank(indices, batch + 1, 'gather_nd: input indices');
    const length = tupleLength(indices, (dim) => dims.known(dim), 'gather_nd');
    if (batch + length > x.shape.length) throw new ShapeError(complaint());
    const shape = indices.shape.slice(0, -1).map((dim, axis) => {
      return axis < batch ? dims.requireEqual(dim, x.shape[axis] ?? dim, complaint) : dim;
    });
    return { dtype: x.dtype, shape: [...shape, ...x.shape.slice(batch + length)] };
  },
  reference: gatherNdOnHost,
  indexMap: {
    sources({ attributes, inputs, coords, param, integer }) {
      const shape = inputs[0]?.shape ?? [];
      const batch = intAttribute(attributes, 'batch_dims');
      const outer = (inputs[1]?.shape.length ?? 1) - 1;
      const length = inputs[1]?.shape[outer] ?? 0;
      const tuple = coords.slice(0, outer);
      const conditions: string[] = [];
      const places = shape.slice(batch, batch + length).map((dim, k) => {
        const size = param(dim, 'u32');
        const place = placeExpression(integer(1, [...tuple, `${k}u`]), size);
        conditions.push(`(${place} < ${size})`);
        return place;
      });
      const from = [...coords.slice(0, batch), ...places, ...coords.slice(outer)];
      if (conditions.length === 0) return [{ input: 0, coords: from }];
      return [{ input: 0, coords: from, when: conditions.join(' & ') }];
    },
  },
  tolerance: EXACT,
  cases: () => [
    ndCase([2, 2], [2, 2], [0, 0, 1, 1]),
    ndCase([2, 2], [2, 1], [1, 0], { indexType: 'int64' }),
    ndCase([2, 2, 2], [2, 1, 2], [0, 1, 1, 0]),
    ndCase([2, 2, 2], [2, 1], [1, 0], { batch_dims: 1, indexType: 'int64' }),
    ndCase([2, 3, 4, 8], [2, 3, 2], [0, 1, -1, -4, 2, 2, 3, 0, 1, 7, 2, -9], { batch_dims: 2 }),
    ndCase([3, 5], [4, 2], [0, 0, 2, -5, -3, 4, -1, -1]),
    ndCase([3, 5], [3, 2], [3, 0, 0, -6, 2, 2 ** 40], { indexType: 'int64' }),
    ndCase([7], [1], [3]),
    ndCase([3, 4], [2, 0], []),
    ndCase([3, 4], [0, 1], []),
    ndCase([0, 4], [2, 1], [0, -1]),
    ndCase([5, 4], [3, 1], [4, 4, 0], { dtype: 'int64' }),
    ndCase([5, 4], [3, 1], [1, 4, 0], { dtype: 'bool' }),
    ndCase([1, 2, 1, 2, 1, 2, 1, 3], [2, 4], [0, 1, 0, 1, 0, 0, 0, 0]),
    ndCase([1], [2, 0], []),
  ],
  badCases: () => [
    ndCase([3], [1, 2], [0, 0]),
    ndCase([3, 2], [2, 1], [0, 0], { batch_dims: 1 }),
    ndCase([3, 2], [3], [0, 0, 0], { batch_dims: 1 }),
    { title: 'no axis', inputs: [type('float32', [3]), type('int32', [])] },
  ],
});

const type = (dtype: DType, shape: Shape) => ({ dtype, shape });

/** How many indices one tuple has: the last dimension, which decides ranks and so must be a number. */
export function tupleLength<D extends Dim>(
  indices: TensorTypeOf<D>,
  known: (dim: D) => number | undefined,
  where: string,
): number {
  const last = indices.shape.at(-1);
  const length = last === undefined ? undefined : known(last);
  if (length !== undefined) return length;
  const isScalar = last === undefined;
  const complaint = {
    where: `${where}: input indices`,
    got: isScalar ? formatType(indices) : `tuples of ${formatDim(last)} indices`,
    expected: 'a last dimension that is a number',
  };
  throw isScalar ? new ShapeError(complaint) : new UnsupportedError(complaint);
}

function gatherNdOnHost(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
  const x = operand(inputs, 0);
  const indices = operand(inputs, 1);
  const batch = intAttribute(attributes, 'batch_dims');
  const batchCount = elementCount(x.shape.slice(0, batch));
  const length = indices.shape.at(-1) ?? 0;
  const sizes = x.shape.slice(batch, batch + length);
  const slice = elementCount(sizes);
  const run = elementCount(x.shape.slice(batch + length)) * output.data.BYTES_PER_ELEMENT;
  const tuples = elementCount(indices.shape.slice(0, -1));
  const places = tuplePlaces(hostIntegers(indices), sizes, tuples);
  const from = x.bytes;
  const to = output.bytes;
  for (const [i, place] of places.entries()) {
    const begin = (Math.floor((i * batchCount) / tuples) * slice + place) * run;
    if (place >= 0) to.set(from.subarray(begin, begin + run), i * run);
    else to.fill(0, i * run, (i + 1) * run);
  }
}

/** The row-major place of each tuple among axes of some sizes; -1 outside. */
export function tuplePlaces(indices: Float64Array, sizes: Shape, count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, i) => {
    let place = 0;
    for (const [k, size] of sizes.entries()) {
      const at = hostPlace(indices[i * sizes.length + k] ?? 0, size);
      place = at < 0 || place < 0 ? -1 : place * size + at;
    }
    return place;
  });
}

interface NdCaseOptions {
  readonly batch_dims?: number;
  readonly dtype?: DType;
  readonly indexType?: DType;
}

function ndCase(
  shape: Shape,
  indexShape: Shape,
  values: readonly number[],
  ...[options = {}]: NdCaseOptions[]
): OpCase {
  const { batch_dims = 0, dtype = 'float32', indexType = 'int32' } = options;
  const tuples = `(${indexShape.join(', ')}) [${values.join(', ')}]`;
  return {
    title: `${dtype} (${shape.join(', ')}) by ${indexType} ${tuples} after ${batch_dims}`,
    inputs: [
      { dtype, shape },
      { dtype: indexType, shape: indexShape, values },
    ],
    attributes: { batch_dims },
  };
}
