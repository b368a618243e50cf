import { DeviceLostError, UsageError } from '../../../core/errors.ts';
import type { GpuDeviceLike, GpuBufferLike } from '../../../core/contracts/gpu-like.ts';
import type { AdapterClass } from '../../../core/contracts/launch-plan.ts';
import { describeDevice, type OpenedAdapter } from '../adapter.ts';
import { asWebGpuBuffer, roundUpToGranule, WebGpuBuffer } from '../memory/buffers.ts';
import type { JoinPage } from './page-hooks.ts';
import type { DeviceRange } from '../../device.ts';
import { BUFFER_USAGE } from '../memory/buffer-usage.ts';
import type { DrawContext } from '../pictures/draw-tensor.ts';
import { probeBinding } from './probe-binding.ts';

const WHERE = 'fromGpuBuffer';
/** Offsets that every adapter binds. */
const OFFSET_ALIGNMENT = 256;
const NEEDED = BUFFER_USAGE.storage | BUFFER_USAGE.copySource;
const LEAST_BINDING = 16;

interface Adopted {
  readonly buffer: WebGpuBuffer;
  userCount: number;
}

/** Buffers of the page on one device: one for each, or a kernel might read what it writes. */
class AdoptedBuffers {
  readonly known = new Map<GPUBuffer, Adopted>();
  /** Those of the device's own buffers count from 1. */
  lastId = 0;
}

/** See `PageMemory.adopt`. */
async function adoptBuffer(
  given: GpuBufferLike,
  range: Omit<DeviceRange, 'buffer'>,
  { device, faults, adopted }: DrawContext & { readonly adopted: AdoptedBuffers },
): Promise<WebGpuBuffer> {
  checkBuffer(given, range);
  const gpuBuffer = given as GPUBuffer;
  const { known } = adopted;
  if (!known.has(gpuBuffer)) {
    const size = LEAST_BINDING;
    await probeBinding(device, {
      where: WHERE,
      kind: 'a buffer',
      layout: { buffer: { type: 'read-only-storage' } },
      resource: () => ({ buffer: gpuBuffer, size }),
    });
  }
  faults.throwIfEnded();
  const found = known.get(gpuBuffer) ?? { buffer: wrap(gpuBuffer, adopted), userCount: 0 };
  found.userCount++;
  known.set(gpuBuffer, found);
  return found.buffer;
}

/** The last user lets go of it; the buffer itself stays the page's. */
function wrap(gpuBuffer: GPUBuffer, adopted: AdoptedBuffers): WebGpuBuffer {
  const { known } = adopted;
  const destroy = (buffer: WebGpuBuffer): void => {
    const found = known.get(gpuBuffer);
    if (found === undefined || --found.userCount > 0) return;
    known.delete(gpuBuffer);
    buffer.isDestroyed = true;
    for (const user of buffer.users) user.drop();
    buffer.users.clear();
  };
  // Kernels bind whole granules.
  const byteLength = gpuBuffer.size - (gpuBuffer.size % LEAST_BINDING);
  return new WebGpuBuffer({ destroy }, --adopted.lastId, byteLength, gpuBuffer);
}

function checkBuffer(
  { size, usage, mapState }: GpuBufferLike,
  { byteOffset, byteLength }: Omit<DeviceRange, 'buffer'>,
): void {
  if (typeof size !== 'number' || typeof usage !== 'number' || typeof mapState !== 'string') {
    throw new UsageError({ where: WHERE, got: 'an object', expected: 'a GPUBuffer' });
  }
  if ((usage & NEEDED) !== NEEDED) {
    throw new UsageError({
      where: WHERE,
      got: `a buffer with the usage ${usage}`,
      expected: 'GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC',
      remedy: 'Make it with these usages, and with COPY_DST where a run is to change it.',
    });
  }
  if (mapState !== 'unmapped') {
    throw new UsageError({
      where: WHERE,
      got: `a buffer that is ${mapState}`,
      expected: 'one that is not mapped',
      remedy: 'Call unmap() first.',
    });
  }
  if (byteOffset % OFFSET_ALIGNMENT !== 0) {
    throw new UsageError({
      where: WHERE,
      got: `byteOffset ${byteOffset}`,
      expected: `a multiple of ${OFFSET_ALIGNMENT}`,
      remedy: 'Copy the elements to such a place with copyBufferToBuffer.',
    });
  }
  const end = byteOffset + roundUpToGranule(byteLength);
  if (end <= size) return;
  throw new UsageError({
    where: WHERE,
    got: `${byteLength} bytes at ${byteOffset} of a buffer of ${size}`,
    expected: `a buffer of at least ${end} bytes: kernels access whole 16 bytes`,
    remedy: 'Make the buffer larger, or the shape smaller.',
  });
}

/** Devices of browsers that do not tell their adapter, so that they count as integrated. */
const UNKNOWN = {
  vendor: '',
  architecture: '',
  device: '',
  description: '',
  isFallbackAdapter: false,
  subgroupMinSize: 0,
  subgroupMaxSize: 0,
} as GPUAdapterInfo;

/** A device of the page's own. Rejects with DeviceLostError for one that is lost or destroyed. */
export async function openPageDevice(
  given: GpuDeviceLike,
  adapterClass: AdapterClass | undefined,
): Promise<OpenedAdapter> {
  const device = given as GPUDevice;
  const lost = await Promise.race([device.lost, Promise.resolve(undefined)]);
  if (lost !== undefined) {
    throw new DeviceLostError({
      where: 'the GPUDevice of the page',
      got: `one that is lost (${lost.message || lost.reason})`,
      expected: 'a live one',
      remedy: 'Request another device, and load the session with that.',
    });
  }
  // Absent in older browsers.
  const info: GPUAdapterInfo | undefined = device.adapterInfo;
  return { ...describeDevice(device, info ?? UNKNOWN, adapterClass), join };
}

const join: JoinPage = (context, { flush, memory }) => {
  const { faults, queue } = context;
  faults.leaveUncaught();
  const adopted = new AdoptedBuffers();
  return {
    page: {
      adopt: (buffer, range) =>
        faults.untilLost(adoptBuffer(buffer, range, { ...context, adopted })),
      expose: (buffer) => {
        flush();
        return asWebGpuBuffer(buffer).gpuBuffer;
      },
    },
    // Buffers of programs are freed already: each program frees its own when it ends.
    destroy: () => {
      // Closes scopes that would hide errors of the page.
      queue.flush();
      for (const part of memory) part.destroy();
    },
  };
};
