import type { DType } from '../../core/tensor/dtype.ts';
import { add, constant, less, select, wrapped, ZERO } from '../index-expression/build.ts';
import type { IndexExpression } from '../index-expression/expression.ts';

/** Dtypes that ONNX allows as indices. */
export const INDEX_DTYPES: readonly DType[] = ['int32', 'int64'];

/**
 * The place of an index that may count from the end. Where the index lies outside, it is no less than
 * the size: u32 arithmetic wraps, and what is still negative becomes larger than any size.
 */
export function placeExpression(
  index: IndexExpression<'i32'>,
  size: IndexExpression<'u32'>,
): IndexExpression<'u32'> {
  return add(wrapped(index), select(less(index, constant(0, 'i32')), size, ZERO));
}
