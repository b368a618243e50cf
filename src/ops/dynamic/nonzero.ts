import { HostTensor } from '../../core/host-tensor.ts';
import { rowMajorStrides, type Shape } from '../../core/shape.ts';
import type { DType } from '../../core/dtype.ts';
import type { OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { operand } from '../operand-checks.ts';
import { COMPARED_DTYPES, comparedElements } from './compared-elements.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';

/** Where elements are not zero: a column of coordinates for each, in row-major order. */
export const nonzero: OpDefinition = defineDynamicOp({
  name: 'nonzero',
  summary: 'Coordinates of the elements that are not zero, one column each, as int64 (rank, ?).',
  inputs: [{ name: 'x', dtypes: COMPARED_DTYPES }],
  attributes: {},
  infer: (inputs, _, dims) => ({
    dtype: 'int64',
    shape: [dims.of(operand(inputs, 0).shape.length), dims.unknown()],
  }),
  compute: (inputs) => findNonzero(operand(inputs, 0)),
  cases: () => [
    nonzeroCase('float32', [], [3]),
    nonzeroCase('float32', [5], [0, -0, 1, Number.NaN, 0]),
    nonzeroCase('int32', [2, 3], [0, 1, 2, 0, 0, 3]),
    nonzeroCase('uint32', [2, 1, 2], [0, 0, 0, 0]),
    nonzeroCase('bool', [2, 2], [1, 0, 0, 1]),
    nonzeroCase('int64', [3], [0, 2, 0]),
    { title: 'nothing', inputs: [{ dtype: 'float32', shape: [3, 0] }] },
    { title: 'large', inputs: [{ dtype: 'int32', shape: [57, 33] }] },
  ],
  badCases: () => [{ title: 'no input', inputs: [] }],
});

function nonzeroCase(dtype: DType, shape: Shape, values: readonly number[]): OpCase {
  return { title: `${dtype} (${shape.join(', ')})`, inputs: [{ dtype, shape, values }] };
}

function findNonzero(x: HostTensor): HostTensor {
  const elements = comparedElements(x);
  const positions: number[] = [];
  for (let i = 0; i < elements.length; i++) if (Number(elements[i]) !== 0) positions.push(i);
  const strides = rowMajorStrides(x.shape);
  const count = positions.length;
  const result = new BigInt64Array(strides.length * count);
  for (const [axis, stride] of strides.entries()) {
    const dim = x.shape[axis] ?? 1;
    for (const [column, position] of positions.entries()) {
      result[axis * count + column] = BigInt(Math.floor(position / stride) % dim);
    }
  }
  return new HostTensor('int64', [strides.length, count], result);
}
