import type { DType } from '../../core/tensor/dtype.ts';
import { dtypeInfo } from '../../core/tensor/dtype.ts';
import { internalError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import type { NumberArray } from '../../ops/define-op.ts';

/** A tensor in host memory as devices store it: bool is one 32-bit word per element. */
export interface StoredTensor extends ConcreteTensorType {
  readonly bytes: ArrayBuffer;
  readonly byteOffset: number;
}

/** The stored elements, for dtypes that scalar functions compute with. */
export function storedElements({ dtype, shape, bytes, byteOffset }: StoredTensor): NumberArray {
  const count = elementCount(shape);
  const view =
    dtype === 'bool'
      ? new Uint32Array(bytes, byteOffset, count)
      : new (dtypeInfo(dtype).array)(bytes, byteOffset, count);
  if (view instanceof BigInt64Array || view instanceof BigUint64Array) {
    throw internalError(`a scalar function was given ${dtype}`);
  }
  return view;
}

export function newElements(dtype: DType, count: number): NumberArray {
  const bytes = new ArrayBuffer(count * (dtype === 'bool' ? 4 : dtypeInfo(dtype).byteLength));
  return storedElements({ dtype, shape: [count], bytes, byteOffset: 0 });
}

/** The tensor as references take it: a view, except that bool becomes one byte per element. */
export function toHostTensor(stored: StoredTensor): HostTensor {
  const { dtype, shape, bytes, byteOffset } = stored;
  if (dtype === 'bool') {
    return new HostTensor(dtype, shape, Uint8Array.from(storedElements(stored)));
  }
  const view = new (dtypeInfo(dtype).array)(bytes, byteOffset, elementCount(shape));
  return new HostTensor(dtype, shape, view);
}

/** Stores what a reference wrote to the tensor that {@link toHostTensor} gave for `stored`. */
export function storeBack(tensor: HostTensor, stored: StoredTensor): void {
  if (stored.dtype !== 'bool') return;
  const target = storedElements(stored);
  const source = tensor.elements;
  for (let i = 0; i < target.length; i++) target[i] = source[i] === 0 ? 0 : 1;
}
