import { elementByteLength } from '../../core/tensor/dtype.ts';
import type { Dim } from '../../core/dims/dim.ts';
import type { Attributes, TensorType } from '../../core/contracts/primitive-function.ts';
import { completeAttributes } from '../../ops/attributes.ts';
import type { OpDefinition } from '../../ops/define-op.ts';
import { OPERATOR_ROOM } from '../../ops/tables/room.ts';

/** A call of an operator, by the type of what it gives. */
interface OperatorCall {
  readonly op: OpDefinition;
  readonly attributes: Attributes;
  readonly result: TensorType;
}

/** The axis along which a call puts its operands one after the other in memory: all before that are 1. */
export function joinAxis({ op, attributes, result: { shape } }: OperatorCall): number | undefined {
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
export function appendAxis(call: OperatorCall, first: TensorType): number | undefined {
  const { op, attributes, result } = call;
  const axis = op.indexMap?.joinedAxis?.(completeAttributes(op, attributes), result.shape.length);
  return axis !== undefined && growsInPlace(first, axis) ? axis : undefined;
}

/** Returns true if a tensor can be extended along an axis in its own memory. */
export function growsInPlace({ dtype, shape }: TensorType, axis: number): boolean {
  if (typeof shape[axis] === 'number' || knownProduct(shape.slice(0, axis)) > MAX_SLICES)
    return false;
  return (knownProduct(shape.slice(axis + 1)) * elementByteLength(dtype)) % 4 === 0;
}

/**
 * The axis along which the input that a call changes may have more elements than the call knows of; undefined if none may.
 */
export function changedAxis({ op, attributes, result }: OperatorCall): number | undefined {
  const use = OPERATOR_ROOM[op.name];
  return use?.changedAxis?.(completeAttributes(op, attributes), result.shape.length);
}

/** Returns true if a tensor may have several slices along the axes before `axis`. */
export function isInnerAxis({ shape }: TensorType, axis: number): boolean {
  return shape.slice(0, axis).some((dim) => dim !== 1);
}

function knownProduct(dims: readonly Dim[]): number {
  return dims.reduce<number>((n, dim) => (typeof dim === 'number' ? n * dim : n), 1);
}
