import { elementByteLength } from '../../core/dtype.ts';
import type { Attributes, TensorType } from '../../core/primitive-function.ts';
import { completeAttributes } from '../../ops/attributes.ts';
import type { OpDefinition } from '../../ops/define-op.ts';

/** A call of an operator, by the types of what it reads and gives. */
interface JoiningCall {
  readonly op: OpDefinition;
  readonly attributes: Attributes;
  readonly result: TensorType;
}

/** The axis along which a call puts its operands one after the other in memory: all before that are 1. */
export function joinAxis({ op, attributes, result: { shape } }: JoiningCall): number | undefined {
  const axis = op.indexMap?.joinedAxis?.(completeAttributes(op, attributes), shape.length);
  const isOutermost = axis !== undefined && shape.slice(0, axis).every((dim) => dim === 1);
  return isOutermost ? axis : undefined;
}

/** Of more slices the copies would take longer than a kernel that writes everything. */
const MAX_SLICES = 64;

/**
 * The axis along which a call extends its first operand, whose size there is no number: what a loop or a session
 * may do again and again. There are few slices of the axes before it, and each step along it is whole words.
 */
export function appendAxis(call: JoiningCall, first: TensorType): number | undefined {
  const { op, attributes, result } = call;
  const axis = op.indexMap?.joinedAxis?.(completeAttributes(op, attributes), result.shape.length);
  if (axis === undefined || typeof first.shape[axis] === 'number') return undefined;
  if (!(sliceCount(result, axis) <= MAX_SLICES)) return undefined;
  const inner = first.shape.slice(axis + 1).filter((dim) => typeof dim === 'number');
  const isWords = inner.reduce((n, dim) => n * dim, elementByteLength(first.dtype)) % 4 === 0;
  return isWords ? axis : undefined;
}

/** How many slices there are of the axes before an axis; NaN where a size is no number. */
export function sliceCount({ shape }: Pick<TensorType, 'shape'>, axis: number): number {
  return shape.slice(0, axis).reduce<number>((count, dim) => count * Number(dim), 1);
}
