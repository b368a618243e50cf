import { DeviceLostError } from '../../../core/errors.ts';
import type { GpuDeviceLike } from '../../../core/contracts/gpu-like.ts';
import type { AdapterClass } from '../../../core/contracts/launch-plan.ts';
import { describeDevice, type OpenedAdapter } from '../adapter.ts';
import { asWebGpuBuffer } from '../memory/buffers.ts';
import { AdoptedBuffers, adoptBuffer } from './adopt-buffer.ts';
import type { JoinPage } from './page-hooks.ts';

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
