import { storageByteLength } from '../../core/tensor/dtype.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import { expectInt, expectShape, expectStorage } from '../builtins/operand.ts';
import {
  type PackedFunction,
  type StorageOwner,
  StorageValue,
  TensorValue,
  type Value,
} from '../values/value.ts';

/** Twice the bytes of float16 are those of float32. */
const FACTOR = 2;

/**
 * Memory for tensors of float32 in a program that was planned for float16: each storage has a second one of twice its
 * size beside it, in which they lie as planned, with offsets twice as large. So parts of a joined tensor stay side by side.
 */
export class WidenedStorages implements StorageOwner {
  readonly #dtypes: ReadonlySet<Value>;
  readonly #wide = new WeakMap<StorageValue, StorageValue>();

  /** `dtypes` are the values that stand for float16 in the code. */
  constructor(dtypes: ReadonlySet<Value>) {
    this.#dtypes = dtypes;
  }

  /** The builtin `alloc_tensor` of such a program, in place of that for all others. */
  around(allocTensor: PackedFunction): PackedFunction {
    return (storage = null, offset = null, shape = null, dtype = null) => {
      if (!this.#dtypes.has(dtype)) return allocTensor(storage, offset, shape, dtype);
      const planned = expectStorage(storage, 'alloc_tensor');
      const begin = expectInt(offset, 'alloc_tensor');
      return this.#place(planned, begin, expectShape(shape, 'alloc_tensor').dims);
    };
  }

  /** Buffers of the host go with the last tensor that anybody knows. */
  reclaim(): void {}

  #place(storage: StorageValue, begin: number, shape: Shape): TensorValue {
    const byteLength = storageByteLength('float32', elementCount(shape));
    const byteOffset = FACTOR * begin;
    const wide = this.#wideOf(storage, byteOffset + byteLength);
    return new TensorValue(wide, { byteOffset, dtype: 'float32', shape });
  }

  #wideOf(storage: StorageValue, needed: number): StorageValue {
    const known = this.#wide.get(storage);
    if (known !== undefined) return known;
    const byteLength = Math.max(FACTOR * storage.byteLength, needed);
    const { device } = storage;
    const place = { device, buffer: device.createBuffer(byteLength), byteOffset: 0 };
    const wide = new StorageValue(this, place, byteLength);
    // Held by the table for as long as the planned one lives.
    wide.references = 1;
    this.#wide.set(storage, wide);
    return wide;
  }
}
