import type { AdapterClass } from '../../core/contracts/launch-plan.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { nodeGpu } from '../../testing/node-gpu.ts';
import { TIER } from '../../testing/tier.ts';
import type { Device } from '../device.ts';
import { createHostDevice } from '../host/host-device.ts';
import { nodeThreads } from '../wasm/testing/node-threads.ts';
import { sharedThreads } from '../wasm/threads/shared-threads.ts';
import { createWasmDevice } from '../wasm/wasm-device.ts';
import { createWebGpuDevice } from '../webgpu/webgpu-device.ts';
import { oneGpuDevice } from './one-gpu-device.ts';

interface TestedDevice {
  readonly title: string;
  readonly open: () => Promise<Device>;
}

/** Opens a device on the GPU that all files of a worker share, with the pipelines that they compiled. */
export const openNodeGpu = oneGpuDevice(nodeGpu);

const onGpu = (adapterClass: AdapterClass): TestedDevice => ({
  title: `WebGPU as on ${adapterClass} adapters`,
  open: () => openNodeGpu(adapterClass),
});

export const HOST: TestedDevice = { title: 'the host', open: async () => createHostDevice() };
export const WEBGPU = onGpu('software');
export const WASM: TestedDevice = { title: 'wasm', open: async () => createWasmDevice() };

export const WASM_THREADS: TestedDevice = {
  title: 'wasm with two threads',
  open: async () =>
    createWasmDevice({
      createThreads: sharedThreads({ threads: 2, startThread: nodeThreads(), sharesAll: true }),
    }),
};

/** Each implementation of a device once. */
export const DEVICES = [HOST, WEBGPU, WASM] as const;

/** WebGPU on a device of the GPU of its own, for tests that lose or exhaust it. */
export const WEBGPU_ALONE: TestedDevice = {
  title: 'WebGPU',
  open: async () =>
    createWebGpuDevice({
      gpu: await nodeGpu(),
      adapterClass: 'software',
      operators: CORE_OPERATORS,
    }),
};

/** Those for what the machine does whatever the device. */
export const MACHINE_DEVICES = TIER === 'all' ? DEVICES : [HOST, WASM];

/** Those for the cases of importers: what a node of a model means does not depend on the device. */
export const IMPORTER_DEVICES = TIER === 'all' ? DEVICES : [HOST];

/** Classes of adapters that have kernels of their own: continuous integration adds those of real ones. */
export const TESTED_CLASSES: readonly AdapterClass[] = [
  ...(TIER === 'ci' ? [] : (['software'] as const)),
  ...(TIER === 'test' ? [] : (['integrated', 'discrete'] as const)),
];

/** WebGPU once for each of them. */
export const GPU_CLASSES = TESTED_CLASSES.map(onGpu);

/** Each implementation, and the classes of WebGPU. */
export const KERNEL_DEVICES = [...(TIER === 'ci' ? [] : [HOST, WASM]), ...GPU_CLASSES];
