import type { AdapterClass } from '../../core/launch-plan.ts';
import { nodeThreads } from '../../../scripts/node-threads.ts';
import { CORE_OPERATORS } from '../../ops/core-operators.ts';
import type { Device } from '../device.ts';
import { createHostDevice } from '../host/host-device.ts';
import { sharedThreads } from '../wasm/threads/shared-threads.ts';
import { createWasmDevice } from '../wasm/wasm-device.ts';
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
  const devices = devicesOf(async (adapterClass) =>
    createWebGpuDevice({ gpu: await gpu(), adapterClass, operators: CORE_OPERATORS }),
  );
  const open = async (): Promise<Device> =>
    createWasmDevice({
      createThreads: sharedThreads({
        threads: 2,
        startThread: await nodeThreads(),
        sharesAll: true,
      }),
    });
  return [...devices, { title: 'wasm with two threads', open }];
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
    const planner = kernelPlanner({ ...caps, ...chosen }, CORE_OPERATORS);
    return new WebGpuDevice({ ...opened, info: { ...info, ...chosen }, caps }, planner);
  };
}

function devicesOf(open: (adapterClass: AdapterClass) => Promise<Device>): readonly TestedDevice[] {
  const onGpu = (adapterClass: AdapterClass): TestedDevice => ({
    title: `WebGPU as on ${adapterClass} adapters`,
    open: () => open(adapterClass),
  });
  // Tests of whole programs take the first three.
  return [
    { title: 'the host', open: async () => createHostDevice() },
    onGpu('software'),
    { title: 'wasm', open: async () => createWasmDevice() },
    onGpu('integrated'),
    onGpu('discrete'),
  ];
}
