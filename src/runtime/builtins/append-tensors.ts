import { elementByteLength, storageByteLength } from '../../core/dtype.ts';
import { OutOfMemoryError, ShapeError } from '../../core/errors.ts';
import { elementCount, formatShape, type Shape } from '../../core/shape.ts';
import type { Allocator } from '../allocator/allocator.ts';
import { rangeOf } from '../tensor-read.ts';
import { isOwned, type StorageValue, TensorValue, type Value } from '../value.ts';
import type { VmState } from '../vm-state.ts';
import { expectInt, expectTensor } from './operand.ts';

const WHERE = 'append';

/**
 * Tensors one after the other along an axis. The first stays where it is if the call owns it and its storage has room
 * behind it. Else it moves: the first time to as much memory as the result needs, and to twice that when it has grown
 * before, so that n appends of a row copy O(n) rows.
 */
export function appendTensors(state: VmState, operands: readonly Value[]): TensorValue {
  const [firstValue = null, axisValue = null, ...partValues] = operands;
  const first = expectTensor(firstValue, WHERE);
  const parts = partValues.map((value) => expectTensor(value, WHERE));
  const { dtype } = first;
  const shape = joinedShape(first, parts, expectInt(axisValue, WHERE));
  const byteLength = storageByteLength(dtype, elementCount(shape));
  const place = placeFor(state, first, byteLength);
  const result = new TensorValue(place.storage, { byteOffset: place.byteOffset, dtype, shape });
  const { device } = first.storage;
  const { buffer } = result;
  let at = result.byteOffset;
  for (const part of [first, ...parts]) {
    const { byteLength } = part;
    const isThere = part === first && place.isExtended;
    if (byteLength > 0 && !isThere)
      device.copy(rangeOf(part), { buffer, byteOffset: at, byteLength });
    at += byteLength;
  }
  return result;
}

interface Place {
  readonly storage: StorageValue;
  readonly byteOffset: number;
  /** Whether the first tensor is there already. */
  readonly isExtended: boolean;
}

function placeFor(state: VmState, first: TensorValue, byteLength: number): Place {
  const { storage, byteOffset } = first;
  const isOurs = isOwned(first);
  const end = storage.byteOffset + storage.byteLength;
  if (isOurs && byteOffset + byteLength <= end) return { storage, byteOffset, isExtended: true };
  const allocator = state.allocatorOf(storage.device);
  const grown =
    isOurs && storage.isGrowing
      ? allocateWithRoom(allocator, byteLength)
      : allocator.allocate(byteLength);
  grown.isGrowing = true;
  return { storage: grown, byteOffset: grown.byteOffset, isExtended: false };
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

function joinedShape(first: TensorValue, parts: readonly TensorValue[], axis: number): Shape {
  const { shape, dtype, storage } = first;
  if (axis < 0 || axis >= shape.length) {
    throw new ShapeError({
      where: WHERE,
      got: `axis ${axis} of a tensor ${formatShape(shape)}`,
      expected: 'one of its axes',
    });
  }
  for (const [i, part] of parts.entries()) {
    const fits =
      part.dtype === dtype &&
      part.storage.device === storage.device &&
      part.shape.length === shape.length &&
      part.shape.every((dim, at) => at === axis || (dim === shape[at] && (at > axis || dim === 1)));
    const before = i === 0 ? first : (parts[i - 1] ?? first);
    if (!fits || !isWords(before)) throw mismatch(before, part, axis);
  }
  const size = parts.reduce((sum, part) => sum + (part.shape[axis] ?? 0), shape[axis] ?? 0);
  return shape.with(axis, size);
}

/** Whether the next tensor can begin at once behind one. */
function isWords({ dtype, shape }: TensorValue): boolean {
  return (elementCount(shape) * elementByteLength(dtype)) % 4 === 0;
}

function mismatch(before: TensorValue, part: TensorValue, axis: number): ShapeError {
  const textOf = ({ dtype, shape, storage }: TensorValue): string =>
    `${dtype} ${formatShape(shape)} on ${storage.device.info.name}`;
  return new ShapeError({
    where: WHERE,
    got: `${textOf(before)} and ${textOf(part)} along axis ${axis}`,
    expected:
      'whole words of one dtype on one device, 1 along the axes before it and the same along those behind',
  });
}
