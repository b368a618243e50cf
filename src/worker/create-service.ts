import type { Device } from '../device/device.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { createWebGpuDevice } from '../device/webgpu/index.ts';
import { KERNEL_OPS } from '../ops/kernel-ops.ts';
import type { HostFunction, HostStates } from '../runtime/index.ts';
import type { DeviceKind, SessionService } from './protocol.ts';
import { SessionHost } from './session-host.ts';

export interface ServiceOptions {
  /** Packed functions that programs may call, by name. */
  readonly functions?: Readonly<Record<string, HostFunction>> | undefined;
  /** What these functions keep, such as a random state: stored with snapshots by these names. */
  readonly states?: HostStates | undefined;
  /** Default `navigator.gpu`. */
  readonly gpu?: GPU | undefined;
}

/**
 * A device for VirtualMachine, with all operators. `gpu` is that of `webgpu`, by default
 * `navigator.gpu`; in Node it comes from the `webgpu` package. Rejects with DeviceError when there
 * is no adapter. Destroy the device in the end.
 */
export async function createDevice(kind: DeviceKind, gpu?: GPU): Promise<Device> {
  if (kind === 'host') return createHostDevice();
  const options = { operators: KERNEL_OPS, gpu: gpu ?? globalThis.navigator?.gpu };
  const [device, isTuned] = await Promise.all([createWebGpuDevice(options), hasChoices()]);
  // What cannot be read is measured again when it is asked for.
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
  return new SessionHost({ ...options, createDevice: (kind) => createDevice(kind, gpu) });
}
