import { storageByteLength } from '../../core/tensor/dtype.ts';
import { UnsupportedError, UsageError } from '../../core/errors.ts';
import { elementCount } from '../../core/tensor/element-count.ts';
import { StorageValue, TensorValue, type Value } from '../../runtime/values/value.ts';
import { handOver } from '../tools/hand-over.ts';
import type { HostedSession } from './hosted-session.ts';
import type { ControlRequest, GpuRange } from '../protocol/control-request.ts';
import type { WireResult } from '../protocol/wire-value.ts';

/** A tensor of a buffer of the page's on the device that it brought. Rejects with UsageError for a buffer that does not fit. */
export async function adoptBuffer(
  hosted: HostedSession,
  { buffer: pageBuffer, byteOffset, dtype, shape }: Extract<ControlRequest, { kind: 'adopt' }>,
): Promise<WireResult> {
  const { device } = hosted.machine.internals().state.allocator(0);
  const byteLength = storageByteLength(dtype, elementCount(shape));
  const buffer = await device.page?.adopt(pageBuffer, { byteOffset, byteLength });
  if (buffer === undefined) throw notThere('fromGpuBuffer', device.info.name);
  const place = { device, buffer, byteOffset };
  const storage = new StorageValue({ reclaim: () => buffer.destroy() }, place, byteLength);
  const tensor = new TensorValue(storage, { byteOffset, dtype, shape });
  hosted.machine.retain(tensor);
  return { name: 'tensor', value: await handOver(hosted, tensor) };
}

/** Where a tensor of a session lies on the device that the page brought. Throws UnsupportedError for one that lies elsewhere. */
export function exposeTensor([tensor]: readonly Value[]): GpuRange {
  if (!(tensor instanceof TensorValue) || tensor.layout !== '') {
    throw new UsageError({ where: 'gpuBuffer', got: 'no tensor', expected: 'one without gaps' });
  }
  const { device } = tensor.storage;
  const buffer = device.page?.expose(tensor.buffer);
  if (buffer === undefined) throw notThere('gpuBuffer', device.info.name);
  const { byteOffset, byteLength } = tensor;
  return { buffer, byteOffset, byteLength };
}

function notThere(where: string, device: string): UnsupportedError {
  return new UnsupportedError({
    where,
    got: `a tensor on ${device}`,
    expected: 'one on a device of the page',
    remedy:
      "Load the session with { worker: false, device: 'webgpu', gpu: device }, or read the tensor.",
  });
}
