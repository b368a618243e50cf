import { OPS } from '../ops/registry.ts';
import type { Device } from './device.ts';
import { createHostDevice } from './host/host-device.ts';
import { createWebGpuDevice } from './webgpu/webgpu-device.ts';

export interface TestedDevice {
  readonly title: string;
  readonly open: () => Promise<Device>;
}

/** Every implementation of a device, WebGPU once for each class of adapters it has kernels for. */
export function testedDevices(gpu: () => Promise<GPU>): readonly TestedDevice[] {
  const classes = ['software', 'integrated', 'discrete'] as const;
  return [
    { title: 'the host', open: async () => createHostDevice() },
    ...classes.map((adapterClass) => ({
      title: `WebGPU as on ${adapterClass} adapters`,
      open: async () => createWebGpuDevice({ gpu: await gpu(), adapterClass, operators: OPS }),
    })),
  ];
}
