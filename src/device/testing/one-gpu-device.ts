import type { AdapterClass } from '../../core/contracts/launch-plan.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import type { Device } from '../device.ts';
import { openAdapter } from '../webgpu/adapter.ts';
import { keepPipelines } from '../../testing/keep-pipelines.ts';
import { kernelPlanner } from '../webgpu/kernels/kernel-planner.ts';
import { WebGpuDevice } from '../webgpu/webgpu-device.ts';

/** Kernels for hardware run on a software adapter, and that on a busy machine: only one that never ends takes longer. */
const SLOWEST_KERNEL_MS = 600_000;

/**
 * Opens devices of any class, by default the adapter's, on one device of the GPU, where equal shaders
 * compile once. It lives as long as the process: to destroy one of them leaves it to the others.
 */
export function oneGpuDevice(
  gpu: () => Promise<GPU>,
): (adapterClass?: AdapterClass) => Promise<Device> {
  const open = async () => {
    const opened = await openAdapter({ gpu: await gpu() });
    keepPipelines(opened.device);
    opened.device.destroy = () => undefined;
    return opened;
  };
  let opening: ReturnType<typeof open> | undefined;
  return async (adapterClass) => {
    opening ??= open();
    const { info, caps, ...opened } = await opening;
    const chosen = { adapterClass: adapterClass ?? caps.adapterClass };
    const planner = kernelPlanner({ ...caps, ...chosen }, CORE_OPERATORS);
    const parts = { ...opened, info: { ...info, ...chosen }, caps };
    return new WebGpuDevice(parts, planner, { deviceTimeout: SLOWEST_KERNEL_MS });
  };
}
