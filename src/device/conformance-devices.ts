import { OPS } from '../ops/registry.ts';
import { nodeGpu } from '../testing/node-gpu.ts';
import type { Device } from './device.ts';
import { createHostDevice } from './host/host-device.ts';
import { createWebGpuDevice } from './webgpu/webgpu-device.ts';

export interface TestedDevice {
  readonly title: string;
  readonly open: () => Promise<Device>;
}

/** Every implementation of a device, WebGPU once for each class of adapters it has kernels for. */
export const TESTED_DEVICES: readonly TestedDevice[] = [
  { title: 'the host', open: async () => createHostDevice() },
  ...(['software', 'integrated', 'discrete'] as const).map((adapterClass) => ({
    title: `WebGPU as on ${adapterClass} adapters`,
    open: async () =>
      createWebGpuDevice({ gpu: await nodeGpu(), adapterClass, operators: OPS }),
  })),
];
