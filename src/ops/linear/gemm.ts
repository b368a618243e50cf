import { type Dim, formatDim } from '../../core/dim.ts';
import { internalError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes, TensorTypeOf } from '../../core/primitive-function.ts';
import { boolAttribute, floatAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { broadcastStrides } from '../elementwise/elementwise-reference.ts';
import { floatElements } from '../elements.ts';
import type { Operands } from '../lowering.ts';
import { lowerGemm } from './matmul-lowering.ts';
import { multiplyMatrices, packStrided } from './matrix-product.ts';
import { productLoads } from './product-loads.ts';
import {
  commonDType,
  formatType,
  operand,
  present,
  requireBroadcastsTo,
  requireRank,
} from '../operand-checks.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';

/** alpha * op(a) op(b) + beta * c, where op may transpose. */
export const gemm: OpDefinition = defineOp({
  name: 'gemm',
  kind: 'anchor',
  summary: 'alpha * op(a) op(b) + beta * c for matrices, where op transposes if asked.',
  inputs: [
    { name: 'a', dtypes: FLOATS },
    { name: 'b', dtypes: FLOATS },
    { name: 'c', dtypes: FLOATS, optional: true },
  ],
  attributes: {
    alpha: { type: 'float', default: 1 },
    beta: { type: 'float', default: 1 },
    trans_a: { type: 'bool', default: false },
    trans_b: { type: 'bool', default: false },
  },
  infer(inputs, attributes, dims) {
    const a = operand(inputs, 0);
    const b = operand(inputs, 1);
    requireRank(a, 2, 'gemm: input a');
    requireRank(b, 2, 'gemm: input b');
    const { m, n, aDepth, bDepth } = gemmSizes(a, b, attributes);
    dims.requireEqual(aDepth, bDepth, () => ({
      where: 'gemm',
      got: `${formatType(a)} and ${formatType(b)}`,
      expected: `equal inner dimensions (they are ${formatDim(aDepth)} and ${formatDim(bDepth)})`,
    }));
    const c = inputs[2];
    if (c !== undefined) {
      requireBroadcastsTo(c, [m, n], {
        dims,
        complaint: () => ({
          where: 'gemm: input c',
          got: formatType(c),
          expected: `a shape that broadcasts to (${formatDim(m)}, ${formatDim(n)})`,
        }),
      });
    }
    return { dtype: commonDType(present(inputs), 'gemm'), shape: [m, n] };
  },
  reference: multiplyAdd,
  loads: productLoads,
  lower: lowerGemm,
  tolerance: { rtol: 1e-4, atol: 1e-4 },
  cases: () => [
    gemmCase([1, 1], [1, 1]),
    gemmCase([3, 5], [5, 7]),
    gemmCase([3, 5], [5, 7], [7]),
    gemmCase([3, 5], [5, 7], [3, 1]),
    gemmCase([3, 5], [5, 7], [3, 7]),
    gemmCase([3, 5], [5, 7], [], { alpha: 0.5, beta: 2 }),
    gemmCase([5, 3], [5, 7], [1, 7], { trans_a: true }),
    gemmCase([3, 5], [7, 5], [7], { trans_b: true, alpha: -1 }),
    gemmCase([5, 3], [7, 5], [7], { trans_a: true, trans_b: true, beta: 0.25 }),
    gemmCase([0, 5], [5, 7], [7]),
    gemmCase([3, 0], [0, 7], [7]),
    gemmCase([1, 200], [100, 200], [100], { trans_b: true }),
    gemmCase([1, 512], [512, 64], [64]),
    gemmCase([67, 130], [130, 65], [65]),
    gemmCase([130, 67], [65, 130], [67, 65], { trans_a: true, trans_b: true }),
  ],
  badCases: () => [
    gemmCase([2, 3], [4, 5]),
    gemmCase([2], [2, 3]),
    gemmCase([2, 3], [3, 4], [3]),
    gemmCase([2, 3], [3, 4], [1, 2, 4]),
    gemmCase([2, 3], [3, 4], [4], { alpha: 'one' }),
  ],
});

function gemmCase(
  a: readonly number[],
  b: readonly number[],
  c?: readonly number[],
  ...[attributes = {}]: Attributes[]
): OpCase {
  const shapes = c === undefined ? [a, b] : [a, b, c];
  const more = Object.entries(attributes).map(
    ([name, value]) => `, ${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
  );
  return {
    title: shapes.map((shape) => `(${shape.join(', ')})`).join(' and ') + more.join(''),
    inputs: shapes.map((shape) => ({ dtype: 'float32', shape })),
    attributes,
  };
}

interface GemmSizes<D extends Dim> {
  readonly m: D;
  readonly n: D;
  readonly aDepth: D;
  readonly bDepth: D;
}

function gemmSizes<D extends Dim>(
  a: TensorTypeOf<D>,
  b: TensorTypeOf<D>,
  attributes: Attributes,
): GemmSizes<D> {
  const [aRows, aColumns] = matrixShape(a);
  const [bRows, bColumns] = matrixShape(b);
  const transA = boolAttribute(attributes, 'trans_a');
  const transB = boolAttribute(attributes, 'trans_b');
  return {
    m: transA ? aColumns : aRows,
    aDepth: transA ? aRows : aColumns,
    n: transB ? bRows : bColumns,
    bDepth: transB ? bColumns : bRows,
  };
}

function matrixShape<D extends Dim>({ shape }: TensorTypeOf<D>): readonly [D, D] {
  const [rows, columns] = shape;
  if (rows === undefined || columns === undefined) throw internalError('gemm of no matrix');
  return [rows, columns];
}

function multiplyAdd(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
  const a = operand(inputs, 0);
  const b = operand(inputs, 1);
  const c = inputs[2];
  const { m, n, aDepth: k } = gemmSizes(a, b, attributes);
  const alpha = floatAttribute(attributes, 'alpha');
  const beta = floatAttribute(attributes, 'beta');
  const aStrides = boolAttribute(attributes, 'trans_a') ? [1, m] : [k, 1];
  const bStrides = boolAttribute(attributes, 'trans_b') ? [k, 1] : [1, n];
  const bias = c === undefined ? undefined : floatElements(c);
  const [rowStride = 0, columnStride = 0] = broadcastStrides(c?.shape ?? [], [m, n]);
  const target = floatElements(output);
  multiplyMatrices({
    m,
    n,
    k,
    packA: packMatrix(a, aStrides),
    packB: packMatrix(b, bStrides),
    store(row, column, sum) {
      const added = bias?.[row * rowStride + column * columnStride] ?? 0;
      target[row * n + column] = alpha * sum + beta * added;
    },
  });
}

function packMatrix(tensor: HostTensor, [laneStride = 1, depthStride = 1]: readonly number[]) {
  return packStrided({ elements: floatElements(tensor), offset: 0, laneStride, depthStride });
}
