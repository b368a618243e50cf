import type { GpuLike } from '../core/gpu-like.ts';
import type { Device } from '../device/device.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { createWebGpuDevice, type WebGpuDeviceOptions } from '../device/webgpu/index.ts';
import { nodeModule } from '../core/node-module.ts';
import { KERNEL_OPS } from '../ops/kernel-ops.ts';
import type { HostFunction } from '../runtime/host-function.ts';
import type { HostStates } from '../runtime/snapshot/take-snapshot.ts';
import type { DeviceKind, ProgramLimits, SessionService } from './protocol.ts';
import { SessionHost } from './session-host.ts';

/** The functions that the programs of a worker may call, and the WebGPU that they run on. */
export interface ServiceOptions {
  /** Packed functions that programs may call, by name. */
  readonly functions?: Readonly<Record<string, HostFunction>> | undefined;
  /** States of these functions, such as a random state: stored with snapshots by these names. */
  readonly states?: HostStates | undefined;
  /** Default `navigator.gpu`. */
  readonly gpu?: GpuLike | undefined;
  /** Limits of every program, whatever its session asks for. Default: none. */
  readonly limits?: ProgramLimits | undefined;
}

/** How long a device may take. */
export interface DeviceOptions {
  /**
   * Milliseconds until there must be an adapter and a device, and that it may then finish nothing while
   * it has work. Default 30,000.
   */
  readonly deviceTimeout?: number | undefined;
}

/**
 * A device for VirtualMachine, with all operators. `gpu` is that of `webgpu`, by default
 * `navigator.gpu`; in Node it comes from the `webgpu` package. Rejects with DeviceError when there
 * is no adapter. Destroy the device in the end.
 */
export async function createDevice(
  kind: DeviceKind,
  gpu?: GpuLike,
  { deviceTimeout }: DeviceOptions = {},
): Promise<Device> {
  if (kind === 'host') return createHostDevice();
  const found = (gpu ?? globalThis.navigator?.gpu) as GPU | undefined;
  const open = (opened: GPU | undefined) =>
    openWebGpu({ operators: KERNEL_OPS, gpu: opened, deviceTimeout });
  if (found !== undefined || nodeModule === undefined) return open(found);
  const { withNodeGpu } = await import('./node-gpu.ts');
  return withNodeGpu(open);
}

async function openWebGpu(options: WebGpuDeviceOptions): Promise<Device> {
  const [device, isTuned] = await Promise.all([createWebGpuDevice(options), hasChoices()]);
  // Choices that cannot be read are measured again when they are asked for.
  if (isTuned) {
    const { restoreChoices } = await import('./choice-store.ts');
    await restoreChoices(device).catch(() => undefined);
  }
  return device;
}

/** Whether a session was ever tuned here. */
async function hasChoices(): Promise<boolean> {
  const known = await globalThis.indexedDB?.databases?.().catch(() => undefined);
  return known?.some(({ name }) => name === 'weft-tuning') === true;
}

/** The sessions of this thread, with its WebGPU and host devices. */
export function createService({ gpu, ...options }: ServiceOptions = {}): SessionService {
  return new SessionHost({
    ...options,
    createDevice: (kind, device) => createDevice(kind, gpu, device),
    // Outside of browsers a driver in software is there by chance; what is passed in is wanted.
    takesSoftware: nodeModule === undefined || gpu !== undefined,
  });
}
