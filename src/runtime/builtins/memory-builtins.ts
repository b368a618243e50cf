import type { BuiltinName } from '../../bytecode/builtins.ts';
import { storageByteLength } from '../../core/dtype.ts';
import { RuntimeError, ShapeError } from '../../core/errors.ts';
import { elementCount, formatShape } from '../../core/shape.ts';
import { STORAGE_ALIGNMENT } from '../allocator/size-class.ts';
import { rangeOf } from '../tensor-read.ts';
import { discard, isOwned, type PackedFunction, TensorValue, type Value } from '../value.ts';
import type { VmState } from '../vm-state.ts';
import { expectDType, expectInt, expectShape, expectStorage, expectTensor } from './operand.ts';

/** Storages, tensors over them, and what moves elements. */
export function memoryBuiltins(state: VmState) {
  return {
    alloc_storage: (byteLength: Value, device: Value) => {
      const allocator = state.allocator(expectInt(device, 'alloc_storage'));
      return allocator.allocate(checkedByteLength(expectInt(byteLength, 'alloc_storage')));
    },
    alloc_tensor: allocTensor,
    reshape: (tensor: Value, shape: Value) =>
      reshape(expectTensor(tensor, 'reshape'), expectShape(shape, 'reshape').dims),
    copy: (value: Value) => copyTensor(state, expectTensor(value, 'copy')),
    own: (value: Value) => {
      const tensor = expectTensor(value, 'own');
      // Another value in any case: what is known of the elements of this one does not hold for long.
      return isOwned(tensor) ? new TensorValue(tensor.storage, tensor) : copyTensor(state, tensor);
    },
    reuse: (value: Value) => {
      const tensor = expectTensor(value, 'reuse');
      if (isOwned(tensor)) return new TensorValue(tensor.storage, tensor);
      return state.allocateTensor(state.allocatorOf(tensor.storage.device), tensor);
    },
    append: (...operands: Value[]) => state.append?.(state, operands) ?? null,
    to_device: (value: Value, device: Value) =>
      toDevice(state, expectTensor(value, 'to_device'), expectInt(device, 'to_device')),
    move: (value: Value) => value,
    kill: () => null,
  } satisfies Partial<Record<BuiltinName, PackedFunction>>;
}

function copyTensor(state: VmState, tensor: TensorValue): TensorValue {
  const allocator = state.allocatorOf(tensor.storage.device);
  const copy = state.allocateTensor(allocator, tensor);
  if (tensor.byteLength > 0) allocator.device.copy(rangeOf(tensor), rangeOf(copy));
  return copy;
}

function allocTensor(storageValue: Value, offset: Value, shapeValue: Value, dtypeValue: Value) {
  const storage = expectStorage(storageValue, 'alloc_tensor');
  const begin = expectInt(offset, 'alloc_tensor');
  const shape = expectShape(shapeValue, 'alloc_tensor').dims;
  const { dtype } = expectDType(dtypeValue, 'alloc_tensor');
  const byteLength = storageByteLength(dtype, elementCount(shape));
  const fits = begin >= 0 && begin + byteLength <= Math.ceil(storage.byteLength / 4) * 4;
  if (fits && begin % STORAGE_ALIGNMENT === 0) {
    return new TensorValue(storage, { byteOffset: storage.byteOffset + begin, dtype, shape });
  }
  throw new RuntimeError({
    where: 'alloc_tensor',
    got: `${dtype} ${formatShape(shape)}, ${byteLength} bytes at ${begin}`,
    expected: fits
      ? `an offset that is a multiple of ${STORAGE_ALIGNMENT}`
      : `a tensor within the ${storage.byteLength} bytes of the storage`,
  });
}

function reshape(tensor: TensorValue, shape: readonly number[]): TensorValue {
  const { storage, byteOffset, dtype } = tensor;
  if (elementCount(shape) === elementCount(tensor.shape)) {
    return new TensorValue(storage, { byteOffset, dtype, shape });
  }
  throw new ShapeError({
    where: 'reshape',
    got: `shape ${formatShape(shape)} for a tensor ${formatShape(tensor.shape)}`,
    expected: `a shape of ${elementCount(tensor.shape)} elements`,
  });
}

function toDevice(
  state: VmState,
  tensor: TensorValue,
  index: number,
): TensorValue | Promise<TensorValue> {
  const from = tensor.storage.device;
  const allocator = state.allocator(index);
  if (allocator.device === from) return tensor;
  const target = state.allocateTensor(allocator, tensor);
  if (tensor.byteLength === 0) return target;
  const write = (bytes: Uint8Array): TensorValue => {
    allocator.device.write(target.buffer, target.byteOffset, bytes);
    return target;
  };
  try {
    const ready = from.readSync(rangeOf(tensor));
    if (ready !== undefined) return write(ready);
  } catch (error) {
    discard(target);
    throw error;
  }
  return from.read([rangeOf(tensor)]).then(
    ([bytes]) => write(bytes ?? new Uint8Array(0)),
    (error: unknown) => {
      discard(target);
      throw error;
    },
  );
}

function checkedByteLength(byteLength: number): number {
  if (byteLength >= 0) return byteLength;
  throw new RuntimeError({
    where: 'alloc_storage',
    got: `${byteLength} bytes`,
    expected: 'a number of bytes from 0 up',
  });
}
