import { elementByteLength } from '../../core/dtype.ts';
import type { Dim } from '../../core/dim.ts';
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
 * may do again and again. There are few slices of the axes before it, as far as that is known, and each step along
 * it is whole words.
 */
export function appendAxis(call: JoiningCall, first: TensorType): number | undefined {
  const { op, attributes, result } = call;
  const axis = op.indexMap?.joinedAxis?.(completeAttributes(op, attributes), result.shape.length);
  if (axis === undefined || typeof first.shape[axis] === 'number') return undefined;
  if (knownProduct(result.shape.slice(0, axis)) > MAX_SLICES) return undefined;
  const stepLength = knownProduct(first.shape.slice(axis + 1));
  return (stepLength * elementByteLength(first.dtype)) % 4 === 0 ? axis : undefined;
}

/** Whether there may be several slices of the axes before an axis. */
export function isInnerAxis({ shape }: TensorType, axis: number): boolean {
  return shape.slice(0, axis).some((dim) => dim !== 1);
}

function knownProduct(dims: readonly Dim[]): number {
  return dims.reduce<number>((n, dim) => (typeof dim === 'number' ? n * dim : n), 1);
}
