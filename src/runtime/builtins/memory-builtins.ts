import type { BuiltinName } from '../../bytecode/builtins.ts';
import { storageByteLength } from '../../core/tensor/dtype.ts';
import { RuntimeError, ShapeError } from '../../core/errors.ts';
import { elementCount, formatShape } from '../../core/tensor/shape.ts';
import { STORAGE_ALIGNMENT } from '../allocator/size-class.ts';
import { rangeOf, readTensors, readTensorSync } from '../values/tensor-read.ts';
import { isOwned, type PackedFunction, TensorValue, type Value } from '../values/value.ts';
import type { VmState } from '../vm-state.ts';
import { expectDType, expectInt, expectShape, expectStorage, expectTensor } from './operand.ts';

/** Storages, tensors over them, and what moves elements. */
export function memoryBuiltins(state: VmState) {
  const emptyLike = (tensor: TensorValue): TensorValue =>
    state.allocateTensor(state.allocatorOf(tensor.storage.device), tensor);
  const copyOf = (tensor: TensorValue): TensorValue => {
    const copy = emptyLike(tensor);
    if (tensor.byteLength > 0) copy.storage.device.copy(rangeOf(tensor), rangeOf(copy));
    return copy;
  };
  /** Another value in any case: what is known of the elements of this one does not hold for long. */
  const overOwned = (tensor: TensorValue, other: typeof copyOf): TensorValue =>
    isOwned(tensor) ? tensor.over(tensor.storage) : other(tensor);
  const dense = (value: Value, where: string): TensorValue => {
    const tensor = expectTensor(value, where);
    return tensor.dense(state.allocatorOf(tensor.storage.device));
  };
  return {
    alloc_storage: (byteLength: Value, device: Value) => {
      const allocator = state.allocator(expectInt(device, 'alloc_storage'));
      return allocator.allocate(checkedByteLength(expectInt(byteLength, 'alloc_storage')));
    },
    alloc_tensor: state.widened?.around(allocTensor) ?? allocTensor,
    reshape: (tensor: Value, shape: Value) =>
      reshape(expectTensor(tensor, 'reshape'), expectShape(shape, 'reshape').dims, dense),
    copy: (value: Value) => {
      const tensor = dense(value, 'copy');
      return tensor === value ? copyOf(tensor) : tensor;
    },
    own: (value: Value) => overOwned(dense(value, 'own'), copyOf),
    reuse: (value: Value) => overOwned(dense(value, 'reuse'), emptyLike),
    append: (...operands: Value[]) => state.growing?.appendTensors(state, operands) ?? null,
    whole: (tensor: Value, axis: Value) => state.growing?.wholeTensor(state, tensor, axis) ?? null,
    to_device: (value: Value, device: Value) =>
      toDevice(state, expectTensor(value, 'to_device'), expectInt(device, 'to_device')),
    move: (value: Value) => value,
    kill: () => null,
  } satisfies Partial<Record<BuiltinName, PackedFunction>>;
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

function reshape(
  tensor: TensorValue,
  shape: readonly number[],
  dense: (tensor: TensorValue, where: string) => TensorValue,
): TensorValue {
  if (elementCount(shape) === elementCount(tensor.shape)) {
    const { storage, byteOffset, dtype } = dense(tensor, 'reshape');
    return new TensorValue(storage, { byteOffset, dtype, shape });
  }
  throw new ShapeError({
    where: 'reshape',
    got: `shape ${formatShape(shape)} for a tensor ${formatShape(tensor.shape)}`,
    expected: `a shape of ${elementCount(tensor.shape)} elements`,
  });
}

function toDevice(state: VmState, tensor: TensorValue, index: number): Value | Promise<Value> {
  if (state.allocator(index).device === tensor.storage.device) return tensor;
  const contents = readTensorSync(tensor);
  if (contents !== undefined) return state.upload(contents, index);
  return readTensors([tensor]).then(([read]) =>
    read === undefined ? null : state.upload(read, index),
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
