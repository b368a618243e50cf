import { storageByteLength } from '../../core/tensor/dtype.ts';
import { OutOfMemoryError, ShapeError } from '../../core/errors.ts';
import { elementCount, formatShape, type Shape } from '../../core/tensor/shape.ts';
import type { Allocator } from '../allocator/allocator.ts';
import {
  capacityOf,
  copySlices,
  isPitched,
  PitchedTensor,
  sliceBytes,
  sliceCount,
} from '../values/pitched-tensor.ts';
import { dropCopies } from '../values/tensor-read.ts';
import { isOwned, type StorageValue, TensorValue, type Value } from '../values/value.ts';
import type { VmState } from '../vm-state.ts';
import { expectInt, expectTensor } from './operand.ts';

const WHERE = 'append';

/**
 * Tensors one after the other along an axis. The first stays where it is if the call owns it and there is room behind
 * it, of which each slice of the axes before that one has its own. Else it moves: the first time to as much memory as
 * the result needs, and to twice that when it has grown before, so that n appends of a row copy O(n) rows.
 */
export function appendTensors(state: VmState, operands: readonly Value[]): TensorValue {
  const [firstValue = null, axisValue = null, ...partValues] = operands;
  const given = [firstValue, ...partValues].map((value) => expectTensor(value, WHERE));
  const axis = expectInt(axisValue, WHERE);
  const shape = joinedShape(given, axis);
  // Along another axis there may be room between elements.
  const parts: TensorValue[] = [];
  let result: TensorValue | undefined;
  try {
    for (const part of given) parts.push(pitchedAlong(state, part, axis));
    const [first = expectTensor(firstValue, WHERE)] = parts;
    result = placeFor(state, first, { shape, axis });
    let at = 0;
    for (const [i, part] of parts.entries()) {
      if (i > 0 || result.storage !== first.storage) copySlices(part, result, axis, at);
      at += part.shape[axis] ?? 0;
    }
    return result;
  } finally {
    const { storage } = result ?? {};
    dropCopies(
      parts.filter((part) => part.storage !== storage),
      given,
    );
  }
}

/** All memory of a tensor that may grow along an axis: its capacity is the size there. */
export function wholeTensor(state: VmState, value: Value, axisValue: Value): TensorValue {
  const tensor = expectTensor(value, 'whole');
  return pitchedAlong(state, tensor, expectInt(axisValue, 'whole')).whole();
}

/** The tensor, unless it has room along another axis: then a copy without. */
function pitchedAlong(state: VmState, tensor: TensorValue, axis: number): TensorValue {
  return isPitched(tensor, axis) ? tensor : tensor.dense(state.allocatorOf(tensor.storage.device));
}

interface Grown {
  readonly shape: Shape;
  readonly axis: number;
}

/** Where the result goes: to the storage of the first, if its elements can stay there. */
function placeFor(state: VmState, first: TensorValue, { shape, axis }: Grown): TensorValue {
  const { storage, byteOffset, dtype } = first;
  const allocator = state.allocatorOf(storage.device);
  const size = shape[axis] ?? 0;
  const isOne = sliceCount(shape, axis) === 1;
  const stepBytes = Math.max(1, sliceBytes(first, axis, sliceCount(shape, axis)));
  const over = (to: StorageValue, begin: number, capacity: number): TensorValue => {
    const view = { byteOffset: begin, dtype, shape };
    const isDense = isOne || capacity === size;
    const pitch = { axis, capacity, memory: allocator };
    return isDense ? new TensorValue(to, view) : new PitchedTensor(to, view, pitch);
  };
  const isOurs = isOwned(first);
  const end = storage.byteOffset + storage.byteLength;
  const room = isOne ? Math.floor((end - byteOffset) / stepBytes) : capacityOf(first, axis);
  if (isOurs && size <= room) return over(storage, byteOffset, room);
  const byteLength = storageByteLength(dtype, elementCount(shape));
  const grown =
    isOurs && storage.isGrowing
      ? allocateWithRoom(allocator, byteLength)
      : allocator.allocate(byteLength);
  grown.isGrowing = true;
  const capacity = Math.floor(grown.byteLength / stepBytes);
  return over(grown, grown.byteOffset, Math.max(size, capacity));
}

/** Twice the bytes, or what there is. */
function allocateWithRoom(allocator: Allocator, byteLength: number): StorageValue {
  const most = Math.floor(allocator.device.info.maxBufferByteLength / 4) * 4;
  try {
    return allocator.allocate(Math.max(byteLength, Math.min(2 * byteLength, most)));
  } catch (error) {
    if (!(error instanceof OutOfMemoryError)) throw error;
    return allocator.allocate(byteLength);
  }
}

function joinedShape(tensors: readonly TensorValue[], axis: number): Shape {
  const [first, ...parts] = tensors;
  const shape = first?.shape ?? [];
  if (first === undefined || axis < 0 || axis >= shape.length) {
    throw new ShapeError({
      where: WHERE,
      got: `axis ${axis} of a tensor ${formatShape(shape)}`,
      expected: 'one of its axes',
    });
  }
  for (const [i, part] of parts.entries()) {
    const fits =
      part.dtype === first.dtype &&
      part.storage.device === first.storage.device &&
      part.shape.length === shape.length &&
      part.shape.every((dim, at) => at === axis || dim === shape[at]);
    const before = i === 0 ? first : (parts[i - 1] ?? first);
    if (!fits || !isWords(before, axis)) throw mismatch(before, part, axis);
  }
  const size = parts.reduce((sum, part) => sum + (part.shape[axis] ?? 0), shape[axis] ?? 0);
  return shape.with(axis, size);
}

/**
 * Returns true if the next tensor would begin at a whole word of 32 bits behind this one. In each
 * of several slices it may begin at any index, so a single index must take whole words.
 */
function isWords(tensor: TensorValue, axis: number): boolean {
  const isOne = sliceCount(tensor.shape, axis) === 1;
  return sliceBytes(tensor, axis, isOne ? tensor.shape[axis] : 1) % 4 === 0;
}

function mismatch(before: TensorValue, part: TensorValue, axis: number): ShapeError {
  const textOf = ({ dtype, shape, storage }: TensorValue): string =>
    `${dtype} ${formatShape(shape)} on ${storage.device.info.name}`;
  return new ShapeError({
    where: WHERE,
    got: `${textOf(before)} and ${textOf(part)} along axis ${axis}`,
    expected: 'whole words of one dtype on one device, the same along all other axes',
  });
}
