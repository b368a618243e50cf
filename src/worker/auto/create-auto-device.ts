import type { GpuDeviceLike, GpuLike } from '../../core/contracts/gpu-like.ts';
import type { Device } from '../../device/device.ts';
import { type CreateDevice, DevicePool, type PooledOptions } from '../devices/device-pool.ts';
import { openAuto } from './open-auto.ts';

/** The device that sessions have for `auto`, for a machine of one's own. Rejects as {@link openAuto} does. */
export async function createAutoDevice(
  create: CreateDevice,
  options: PooledOptions,
  gpu: GpuLike | GpuDeviceLike | undefined,
): Promise<Device> {
  const { main } = await openAuto(new DevicePool(create), options, gpu);
  return main.device;
}
