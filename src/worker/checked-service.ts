import {
  checkOptions,
  GPU_KIND,
  oneOf,
  type OptionKinds,
  requireKind,
  THREADS_KIND,
} from '../core/check-options.ts';
import type { GpuDeviceLike, GpuLike } from '../core/contracts/gpu-like.ts';
import type { Device } from '../device/device.ts';
import type { DeviceKind } from './protocol/loaded-session.ts';
import type { SessionService } from './protocol/session-service.ts';
import {
  createDevice as openDevice,
  createService as openService,
  type DeviceOptions,
  type ServiceOptions,
} from './create-service.ts';
import { serve as answer } from './serve.ts';

// What callers give is checked here: workers and devices of Weft's own start without.

const SERVICE_OPTIONS: OptionKinds<ServiceOptions> = {
  functions: 'object',
  states: 'object',
  gpu: GPU_KIND,
  limits: 'object',
  operators: 'operators',
  importers: 'object',
};
const DEVICE_OPTIONS: OptionKinds<DeviceOptions> = {
  deviceTimeout: 'positive',
  operators: 'operators',
  threads: THREADS_KIND,
};

/**
 * A device for VirtualMachine. `gpu` is that of `webgpu`, by default
 * `navigator.gpu`; in Node it comes from the `webgpu` package. A GPUDevice in its place is used as it is, and left alone. `auto`: WebGPU on graphics hardware, else
 * `wasm`, else what there is. Rejects with DeviceError when there
 * is no adapter, with UsageError for what it does not take. Destroy the device in the end.
 */
export async function createDevice(
  kind: DeviceKind | 'auto',
  gpu?: GpuLike | GpuDeviceLike,
  options: DeviceOptions = {},
): Promise<Device> {
  const kinds = oneOf('auto', 'webgpu', 'wasm', 'host');
  requireKind('createDevice', kinds, ['kind', kind]);
  if (gpu !== undefined) requireKind('createDevice', GPU_KIND, ['gpu', gpu]);
  checkOptions('createDevice', options, DEVICE_OPTIONS);
  return openDevice(kind, gpu, options);
}

/** The sessions of this thread, with its WebGPU and host devices. Throws UsageError. */
export function createService(options: ServiceOptions = {}): SessionService {
  checkOptions('createService', options, SERVICE_OPTIONS);
  return openService(options);
}

/**
 * Answers the page from a worker. Call it once, at the top of the worker's module. Results are
 * transferred, and memory of inputs goes back.
 */
export function serve(options: ServiceOptions = {}): void {
  checkOptions('serve', options, SERVICE_OPTIONS);
  answer(options);
}
