import type { AdapterClass } from '../../core/contracts/launch-plan.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import type { DeviceKind } from '../protocol/loaded-session.ts';

/** The host as a device of any kind. */
export function fakeDevice(kind: DeviceKind, adapterClass: AdapterClass = 'discrete'): Device {
  const host = createHostDevice();
  const isGpu = kind === 'webgpu';
  const info = {
    ...host.info,
    name: isGpu ? `a ${adapterClass} adapter` : kind,
    adapterClass: isGpu ? adapterClass : kind,
  };
  return Object.defineProperties(host, { kind: { value: kind }, info: { value: info } });
}
