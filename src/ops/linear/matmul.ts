import { ShapeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import { broadcastShapes, elementCount } from '../../core/shape.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { broadcastStrides } from '../elementwise/elementwise-reference.ts';
import { floatElements } from '../elements.ts';
import { lowerMatmul } from './matmul-lowering.ts';
import { multiplyMatrices, packStrided } from './matrix-product.ts';
import { productLoads } from './product-loads.ts';
import { commonDType, formatType, operand } from '../operand-checks.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';

/** The matrix product as numpy has it, batch dimensions broadcast. */
export const matmul: OpDefinition = defineOp({
  name: 'matmul',
  kind: 'anchor',
  summary:
    'The matrix product of the last two axes, batch dimensions broadcast; a vector is a row on the ' +
    'left and a column on the right.',
  inputs: [
    { name: 'a', dtypes: FLOATS },
    { name: 'b', dtypes: FLOATS },
  ],
  attributes: {},
  infer(inputs, _, dims) {
    const a = operand(inputs, 0);
    const b = operand(inputs, 1);
    const depth = a.shape.at(-1);
    const inner = b.shape.at(b.shape.length === 1 ? -1 : -2);
    const complaint = () => ({
      where: 'matmul',
      got: `${formatType(a)} and ${formatType(b)}`,
      expected: 'rank 1 or more, and as many columns in a as rows in b',
    });
    if (depth === undefined || inner === undefined) throw new ShapeError(complaint());
    dims.requireEqual(depth, inner, complaint);
    const batch = dims.broadcast([a.shape.slice(0, -2), b.shape.slice(0, -2)], 'matmul: batch');
    const rows = a.shape.length === 1 ? [] : a.shape.slice(-2, -1);
    const columns = b.shape.length === 1 ? [] : b.shape.slice(-1);
    return { dtype: commonDType([a, b], 'matmul'), shape: [...batch, ...rows, ...columns] };
  },
  reference: (inputs, _, output) => multiplyBatches(operand(inputs, 0), operand(inputs, 1), output),
  loads: productLoads,
  lower: lowerMatmul,
  tolerance: { rtol: 1e-4, atol: 1e-4 },
  cases: () => [
    matmulCase([1, 1], [1, 1]),
    matmulCase([3], [3]),
    matmulCase([4], [4, 5]),
    matmulCase([5, 4], [4]),
    matmulCase([2, 3, 4], [4]),
    matmulCase([4], [2, 4, 3]),
    matmulCase([3, 5], [5, 7]),
    matmulCase([8, 8], [8, 8]),
    matmulCase([17, 33], [33, 19]),
    matmulCase([1, 64], [64, 100]),
    matmulCase([100, 64], [64, 1]),
    matmulCase([0, 4], [4, 3]),
    matmulCase([3, 0], [0, 4]),
    matmulCase([3, 4], [4, 0]),
    matmulCase([2, 3, 4], [2, 4, 5]),
    matmulCase([2, 1, 3, 4], [5, 4, 6]),
    matmulCase([2, 1, 3, 1, 2, 3], [1, 4, 1, 2, 3, 4]),
    matmulCase([70_000, 2, 1], [1, 2]),
    matmulCase([6, 2, 3], [3, 4]),
    matmulCase([3, 4], [6, 4, 2]),
    matmulCase([64, 64], [64, 64]),
    matmulCase([129, 257], [257, 131]),
    matmulCase([96, 520], [520, 68]),
    matmulCase([256, 128], [128, 256]),
  ],
  badCases: () => [
    matmulCase([2, 3], [4, 5]),
    matmulCase([], [3]),
    matmulCase([2, 3, 4], [3, 4, 5]),
    {
      title: 'bad dtype',
      inputs: [
        { dtype: 'int32', shape: [2, 2] },
        { dtype: 'int32', shape: [2, 2] },
      ],
    },
    {
      title: 'unknown attribute',
      inputs: [
        { dtype: 'float32', shape: [2, 2] },
        { dtype: 'float32', shape: [2, 2] },
      ],
      attributes: { trans_a: true },
    },
  ],
});

function matmulCase(a: readonly number[], b: readonly number[]): OpCase {
  return {
    title: `(${a.join(', ')}) and (${b.join(', ')})`,
    inputs: [
      { dtype: 'float32', shape: a },
      { dtype: 'float32', shape: b },
    ],
  };
}

function multiplyBatches(a: HostTensor, b: HostTensor, output: HostTensor): void {
  const [m, k] =
    a.shape.length === 1 ? [1, a.shape[0] ?? 0] : [a.shape.at(-2) ?? 0, a.shape.at(-1) ?? 0];
  const n = b.shape.length === 1 ? 1 : (b.shape.at(-1) ?? 0);
  const [aBatch, bBatch] = [a.shape.slice(0, -2), b.shape.slice(0, -2)];
  const batch = broadcastShapes([aBatch, bBatch], 'matmul');
  const aOffsets = batchOffsets(aBatch, batch, m * k);
  const bOffsets = batchOffsets(bBatch, batch, k * n);
  const [x, y, z] = [floatElements(a), floatElements(b), floatElements(output)];
  for (let i = 0; i < aOffsets.length; i++) {
    const base = i * m * n;
    multiplyMatrices({
      m,
      n,
      k,
      packA: packStrided({ elements: x, offset: aOffsets[i] ?? 0, laneStride: k, depthStride: 1 }),
      packB: packStrided({ elements: y, offset: bOffsets[i] ?? 0, laneStride: 1, depthStride: n }),
      store(row, column, sum) {
        z[base + row * n + column] = sum;
      },
    });
  }
}

/** For each matrix of the broadcast batch, where it begins in the operand. */
function batchOffsets(from: readonly number[], batch: readonly number[], size: number): number[] {
  const strides = broadcastStrides(from, batch);
  return Array.from({ length: elementCount(batch) }, (_, index) => {
    let rest = index;
    let offset = 0;
    for (let axis = batch.length - 1; axis >= 0; axis--) {
      const dim = batch[axis] ?? 1;
      offset += (rest % dim) * (strides[axis] ?? 0) * size;
      rest = Math.floor(rest / dim);
    }
    return offset;
  });
}
