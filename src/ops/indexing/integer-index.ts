import type { DType } from '../../core/dtype.ts';

/** Dtypes that ONNX allows as indices. */
export const INDEX_DTYPES: readonly DType[] = ['int32', 'int64'];

/**
 * A u32 expression for an index that may count from the end. Where the index lies outside, it is no
 * less than the size: u32 arithmetic wraps, and what is still negative becomes larger than any size.
 */
export function placeExpression(index: string, size: string): string {
  return `(bitcast<u32>(${index}) + select(0u, ${size}, ${index} < 0))`;
}
