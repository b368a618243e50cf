import { createHostDevice } from '../device/host/host-device.ts';
import { createWebGpuDevice } from '../device/webgpu/index.ts';
import { OPS } from '../ops/registry.ts';
import type { HostFunction } from '../runtime/index.ts';
import type { SessionService } from './protocol.ts';
import { SessionHost } from './session-host.ts';

export interface ServiceOptions {
  /** Packed functions that programs may call, by name. */
  readonly functions?: Readonly<Record<string, HostFunction>> | undefined;
  /** Default `navigator.gpu`. */
  readonly gpu?: GPU | undefined;
}

/** The sessions of this thread, with its WebGPU and host devices. */
export function createService({ functions, gpu }: ServiceOptions = {}): SessionService {
  return new SessionHost({
    functions,
    createDevice: async (kind) =>
      kind === 'host'
        ? createHostDevice()
        : createWebGpuDevice({ operators: OPS, gpu: gpu ?? globalThis.navigator?.gpu }),
  });
}
