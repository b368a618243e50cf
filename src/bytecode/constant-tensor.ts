import { HostTensor } from '../core/tensor/host-tensor.ts';
import type { TensorConstant } from './executable.ts';

/** A tensor constant as a view of the data section; a splat stays one. */
export function tensorOf(constant: TensorConstant, data: Uint8Array): HostTensor {
  const { dtype, shape, isSplat, byteOffset, byteLength } = constant;
  const bytes = data.subarray(byteOffset, byteOffset + byteLength);
  if (!isSplat) return HostTensor.fromBytes(dtype, shape, bytes);
  const { elements } = HostTensor.fromBytes(dtype, [1], bytes);
  return new HostTensor(dtype, shape, elements, true);
}
