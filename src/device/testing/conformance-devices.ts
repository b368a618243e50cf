import type { AdapterClass } from '../../core/launch-plan.ts';
import { OPS } from '../../ops/registry.ts';
import type { Device } from '../device.ts';
import { createHostDevice } from '../host/host-device.ts';
import { openAdapter } from '../webgpu/adapter.ts';
import { keepPipelines } from '../webgpu/keep-pipelines.ts';
import { kernelPlanner } from '../webgpu/kernel-planner.ts';
import { createWebGpuDevice, WebGpuDevice } from '../webgpu/webgpu-device.ts';

export interface TestedDevice {
  readonly title: string;
  readonly open: () => Promise<Device>;
}

/** Every implementation of a device, WebGPU once for each class of adapters it has kernels for. */
export function testedDevices(gpu: () => Promise<GPU>): readonly TestedDevice[] {
  return devicesOf(async (adapterClass) =>
    createWebGpuDevice({ gpu: await gpu(), adapterClass, operators: OPS }),
  );
}

/** The same for tests of kernels, on one device of the GPU: many kernels are the same in all classes. */
export function kernelDevices(gpu: () => Promise<GPU>): readonly TestedDevice[] {
  return devicesOf(oneGpuDevice(gpu));
}

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
    const planner = kernelPlanner({ ...caps, ...chosen }, OPS);
    return new WebGpuDevice({ ...opened, info: { ...info, ...chosen }, caps }, planner);
  };
}

function devicesOf(open: (adapterClass: AdapterClass) => Promise<Device>): readonly TestedDevice[] {
  const classes = ['software', 'integrated', 'discrete'] as const;
  return [
    { title: 'the host', open: async () => createHostDevice() },
    ...classes.map((adapterClass) => ({
      title: `WebGPU as on ${adapterClass} adapters`,
      open: () => open(adapterClass),
    })),
  ];
}
