import { type Dim, formatDim } from '../../core/dims/dim.ts';
import { internalError } from '../../core/errors.ts';
import type { Attributes, TensorTypeOf } from '../../core/contracts/primitive-function.ts';
import { boolAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
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
export const gemm = defineOp({
  name: 'gemm',
  kind: 'anchor',
  inputs: [tensor('a', FLOATS), tensor('b', FLOATS), tensor('c', FLOATS, { optional: true })],
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
  fusion: { loads: productLoads },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-4 },
});

interface GemmSizes<D extends Dim> {
  readonly m: D;
  readonly n: D;
  readonly aDepth: D;
  readonly bDepth: D;
}

export function gemmSizes<D extends Dim>(
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
