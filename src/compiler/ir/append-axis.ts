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

/**
 * The axis along which a call extends its first operand, whose size there is no number: what a loop or a session
 * may do again and again. Each part of it is whole words.
 */
export function appendAxis(call: JoiningCall, first: TensorType): number | undefined {
  const axis = joinAxis(call);
  if (axis === undefined || typeof first.shape[axis] === 'number') return undefined;
  const inner = first.shape.slice(axis + 1).filter((dim) => typeof dim === 'number');
  const isWords = inner.reduce((n, dim) => n * dim, elementByteLength(first.dtype)) % 4 === 0;
  return isWords ? axis : undefined;
}
