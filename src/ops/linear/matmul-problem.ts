import type { Shape } from '../../core/tensor/shape.ts';
import type { LoweringCall } from '../lowering/lowering.ts';

/** The part of a call that decides, whatever it is lowered to. */
type ProductCall = Pick<LoweringCall, 'inputs' | 'attributes'>;

/** One batched matrix product in terms of element strides, whatever operator it comes from. */
export interface MatmulProblem {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Batch dimensions, outer first, at least two. */
  readonly batch: readonly number[];
  readonly a: MatrixStrides;
  readonly b: MatrixStrides;
  /**
   * True if B has any number of matrices, of which `matrix_of` of the kernel's source chooses one
   * for each batch.
   */
  readonly gathers?: boolean;
  readonly c: BiasStrides | undefined;
  readonly alpha: number;
  readonly beta: number;
}

export interface BiasStrides {
  readonly row: number;
  readonly column: number;
  /** Stride along the second of the batch dimensions; default 0. */
  readonly batch?: number;
}

export interface MatrixStrides {
  /** Strides along the batch dimensions. */
  readonly batch: readonly number[];
  /** Stride along m for A, along k for B. */
  readonly row: number;
  /** Stride along k for A, along n for B. */
  readonly column: number;
}

/** The product of two matrices in row-major order. */
export const plainProblem = ({ m, n, k }: Pick<MatmulProblem, 'm' | 'n' | 'k'>): MatmulProblem => ({
  m,
  n,
  k,
  batch: [1, 1],
  a: { batch: [0, 0], row: k, column: 1 },
  b: { batch: [0, 0], row: n, column: 1 },
  c: undefined,
  alpha: 1,
  beta: 0,
});

/** The problem of `matmul`: numpy's rules, batch dimensions broadcast, rank 1 promoted. */
export function matmulProblem(call: ProductCall): MatmulProblem {
  const aShape = call.inputs[0]?.shape ?? [];
  const bShape = call.inputs[1]?.shape ?? [];
  const m = aShape.length > 1 ? (aShape.at(-2) ?? 1) : 1;
  const k = aShape.at(-1) ?? 1;
  const n = bShape.length > 1 ? (bShape.at(-1) ?? 1) : 1;
  const groups = batchGroups(aShape.slice(0, -2), bShape.slice(0, -2));
  return {
    m,
    n,
    k,
    batch: groups.map(({ size }) => size),
    a: { batch: groups.map((group) => group.a * m * k), row: k, column: 1 },
    b: { batch: groups.map((group) => group.b * k * n), row: n, column: 1 },
    c: undefined,
    alpha: 1,
    beta: 0,
  };
}

/** The problem of `gemm`: alpha op(A) op(B) + beta C. */
export function gemmProblem(call: ProductCall): MatmulProblem {
  const [aRows = 1, aColumns = 1] = call.inputs[0]?.shape ?? [];
  const [bRows = 1, bColumns = 1] = call.inputs[1]?.shape ?? [];
  const transA = Boolean(call.attributes.trans_a);
  const transB = Boolean(call.attributes.trans_b);
  const c = call.inputs[2]?.shape;
  return {
    m: transA ? aColumns : aRows,
    k: transA ? aRows : aColumns,
    n: transB ? bRows : bColumns,
    batch: [1, 1],
    a: { batch: [0, 0], row: transA ? 1 : aColumns, column: transA ? aColumns : 1 },
    b: { batch: [0, 0], row: transB ? 1 : bColumns, column: transB ? bColumns : 1 },
    c: c === undefined ? undefined : biasStrides(c),
    alpha: Number(call.attributes.alpha ?? 1),
    beta: Number(call.attributes.beta ?? 1),
  };
}

function biasStrides(shape: Shape): BiasStrides {
  const columns = shape.at(-1) ?? 1;
  const rows = shape.at(-2) ?? 1;
  return { row: rows === 1 ? 0 : columns, column: columns === 1 ? 0 : 1 };
}

interface BatchGroup {
  readonly size: number;
  readonly a: number;
  readonly b: number;
}

/**
 * Merges adjacent batch axes that both operands step through alike; outer first, at least two.
 * Strides count matrices.
 */
function batchGroups(aBatch: Shape, bBatch: Shape): BatchGroup[] {
  const rank = Math.max(aBatch.length, bBatch.length);
  const groups: BatchGroup[] = [];
  let aStride = 1;
  let bStride = 1;
  for (let i = 1; i <= rank; i++) {
    const aDim = aBatch[aBatch.length - i] ?? 1;
    const bDim = bBatch[bBatch.length - i] ?? 1;
    const size = aDim === 1 ? bDim : aDim;
    if (size === 1) continue;
    const axis = { size, a: aDim === 1 ? 0 : aStride, b: bDim === 1 ? 0 : bStride };
    const inner = groups.at(-1);
    if (
      inner !== undefined &&
      continues(inner.a, inner.size, axis.a) &&
      continues(inner.b, inner.size, axis.b)
    ) {
      groups[groups.length - 1] = { size: inner.size * size, a: inner.a, b: inner.b };
    } else {
      groups.push(axis);
    }
    aStride *= aDim;
    bStride *= bDim;
  }
  while (groups.length < 2) groups.push({ size: 1, a: 0, b: 0 });
  return groups.reverse();
}

function continues(innerStride: number, innerSize: number, outerStride: number): boolean {
  return outerStride === innerStride * innerSize;
}
