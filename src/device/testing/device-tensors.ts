import { dtypeInfo, storageByteLength } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import type { Device, DeviceRange, DeviceTensor } from '../device.ts';

/** A new device tensor that holds the elements of a host tensor. */
export function uploadTensor(device: Device, tensor: HostTensor): DeviceTensor {
  const uploaded = allocateTensor(device, tensor);
  const { dtype, bytes } = tensor;
  const words = new Uint8Array(storageByteLength(dtype, tensor.elementCount));
  if (dtype === 'bool') new Uint32Array(words.buffer).set(bytes);
  else words.set(bytes);
  device.write(uploaded.buffer, 0, words);
  return uploaded;
}

/** A new device tensor of zeros. */
export function allocateTensor(device: Device, { dtype, shape }: ConcreteTensorType): DeviceTensor {
  const buffer = device.createBuffer(storageByteLength(dtype, elementCount(shape)));
  return { buffer, byteOffset: 0, dtype, shape };
}

/** The elements of device tensors, in one round trip. */
export async function downloadTensors(
  device: Device,
  tensors: readonly DeviceTensor[],
): Promise<HostTensor[]> {
  const ranges = tensors.map(
    ({ buffer, byteOffset, dtype, shape }): DeviceRange => ({
      buffer,
      byteOffset,
      byteLength: storageByteLength(dtype, elementCount(shape)),
    }),
  );
  const results = await device.read(ranges);
  return tensors.map(({ dtype, shape }, i) => {
    const words = results[i] ?? new Uint8Array();
    if (dtype === 'bool') {
      const bools = Uint8Array.from(new Uint32Array(words.slice().buffer));
      return new HostTensor(dtype, shape, bools);
    }
    const byteLength = elementCount(shape) * dtypeInfo(dtype).byteLength;
    return HostTensor.fromBytes(dtype, shape, words.slice(0, byteLength));
  });
}
