import { UsageError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import { fromStorageBytes } from './tensor-transfer.ts';
import { describeValue, discard, type TensorValue, type Value } from './value.ts';

/** Contents of tensors after all work launched so far, one round trip for each device. */
export async function readTensors(
  tensors: readonly TensorValue[],
  room: readonly ArrayBuffer[] = [],
): Promise<HostTensor[]> {
  const byDevice = new Map<Device, TensorValue[]>();
  for (const tensor of tensors) {
    requireLive(tensor, 'read');
    if (tensor.byteLength === 0) continue;
    const { device } = tensor.storage;
    byDevice.set(device, [...(byDevice.get(device) ?? []), tensor]);
  }
  const contents = new Map<TensorValue, Uint8Array>();
  await Promise.all(
    [...byDevice].map(async ([device, group]) => {
      const dense: TensorValue[] = [];
      try {
        for (const tensor of group) dense.push(tensor.dense());
        const blocks = await device.read(dense.map(rangeOf), byDevice.size === 1 ? room : []);
        for (const [index, bytes] of blocks.entries()) {
          const tensor = group[index];
          if (tensor !== undefined) contents.set(tensor, bytes);
        }
      } finally {
        dropCopies(dense, group);
      }
    }),
  );
  return tensors.map((tensor) => hostTensor(tensor, contents.get(tensor)));
}

/** Contents of one tensor, or undefined where its device has to be waited for. */
export function readTensorSync(tensor: TensorValue): HostTensor | undefined {
  requireLive(tensor, 'read');
  if (tensor.byteLength === 0) return hostTensor(tensor);
  const dense = tensor.dense();
  try {
    const bytes = dense.storage.device.readSync(rangeOf(dense));
    return bytes === undefined ? undefined : hostTensor(tensor, bytes);
  } finally {
    dropCopies([dense], [tensor]);
  }
}

/** Frees what is not among the tensors that it was made of. */
export function dropCopies(dense: readonly Value[], given: readonly Value[]): void {
  for (const value of dense) if (!given.includes(value)) discard(value);
}

/** The bytes of a tensor in its buffer, in whole words, unless there is room between them. */
export function rangeOf({ buffer, byteOffset, byteLength }: TensorValue) {
  return { buffer, byteOffset, byteLength };
}

function hostTensor(
  { dtype, shape }: TensorValue,
  bytes: Uint8Array = new Uint8Array(0),
): HostTensor {
  return fromStorageBytes(dtype, shape, bytes);
}

/** Throws UsageError for a tensor whose storage went back to its allocator. */
export function requireLive(tensor: TensorValue, where: string): void {
  if (tensor.storage.references > 0) return;
  throw new UsageError({
    where,
    got: `a ${describeValue(tensor)} that was released`,
    expected: 'a tensor with a reference',
    remedy: 'Call vm.retain on a value that is used after a release.',
  });
}
