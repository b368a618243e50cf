import type { Device } from '../../device/device.ts';
import { createWebGpuDevice, type WebGpuDeviceOptions } from '../../device/webgpu/index.ts';

/** The device that runs on WebGPU, with the choices of kernels that were kept. */
export async function openWebGpu(options: WebGpuDeviceOptions): Promise<Device> {
  const [device, isTuned] = await Promise.all([createWebGpuDevice(options), hasChoices()]);
  // Choices that cannot be read are measured again when they are asked for.
  if (isTuned) {
    const { restoreChoices } = await import('./choice-store.ts');
    await restoreChoices(device).catch(() => undefined);
  }
  return device;
}

/** Resolves to true if a session was ever tuned here. */
async function hasChoices(): Promise<boolean> {
  const known = await globalThis.indexedDB?.databases?.().catch(() => undefined);
  return known?.some(({ name }) => name === 'weft-tuning') === true;
}
