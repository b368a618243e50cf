import { type DType, dtypeInfo, storageByteLength } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import type { Device, DeviceBuffer } from '../../device/device.ts';

/** Bytes of one write when a splat is expanded. */
const SPLAT_PIECE_BYTE_LENGTH = 256 * 1024;

interface TransferTarget {
  readonly device: Device;
  readonly buffer: DeviceBuffer;
  /** From the begin of the buffer; a multiple of 4. */
  readonly byteOffset: number;
}

/** Writes a tensor into device memory in the storage layout of {@link storageByteLength}. */
export function writeTensor(target: TransferTarget, tensor: HostTensor): void {
  if (tensor.elementCount === 0) return;
  if (tensor.isSplat) {
    writeSplat(target, tensor);
    return;
  }
  const bytes = toStorageBytes(tensor.dtype, tensor.bytes);
  target.device.write(target.buffer, target.byteOffset, bytes);
}

/** Host bytes as they stand in a storage: bool widened to words, the end padded to a word. */
export function toStorageBytes(dtype: DType, bytes: Uint8Array): Uint8Array {
  if (dtype === 'bool') {
    const words = new Uint32Array(bytes.length);
    for (let i = 0; i < bytes.length; i++) words[i] = bytes[i] === 0 ? 0 : 1;
    return new Uint8Array(words.buffer);
  }
  if (bytes.byteLength % 4 === 0) return bytes;
  const padded = new Uint8Array(Math.ceil(bytes.byteLength / 4) * 4);
  padded.set(bytes);
  return padded;
}

/** The tensor that storage bytes hold. Views the bytes where the layout is the host's own. */
export function fromStorageBytes(dtype: DType, shape: Shape, bytes: Uint8Array): HostTensor {
  const count = elementCount(shape);
  if (dtype !== 'bool') {
    return HostTensor.fromBytes(
      dtype,
      shape,
      bytes.subarray(0, count * dtypeInfo(dtype).byteLength),
    );
  }
  const flags = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const at = i * 4;
    const low = (bytes[at] ?? 0) | (bytes[at + 1] ?? 0);
    flags[i] = low | (bytes[at + 2] ?? 0) | (bytes[at + 3] ?? 0) ? 1 : 0;
  }
  return new HostTensor(dtype, shape, flags);
}

/** Repeats one piece, so that a large splat never stands whole in host memory. */
function writeSplat({ device, buffer, byteOffset }: TransferTarget, tensor: HostTensor): void {
  const total = storageByteLength(tensor.dtype, tensor.elementCount);
  const pieceCount = Math.min(tensor.elementCount, SPLAT_PIECE_BYTE_LENGTH / 8);
  const piece = new HostTensor(tensor.dtype, [pieceCount], tensor.elements, true);
  const bytes = toStorageBytes(tensor.dtype, piece.bytes);
  for (let done = 0; done < total; done += bytes.byteLength) {
    const length = Math.min(bytes.byteLength, total - done);
    device.write(buffer, byteOffset + done, bytes.subarray(0, length));
  }
}
