import type { GpuDeviceLike, GpuLike } from '../core/contracts/gpu-like.ts';
import type { Device } from '../device/device.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { nodeBuiltin } from '../core/node-builtin.ts';
import { KERNEL_OPS } from '../ops/tables/kernel-ops.ts';
import type { NodeTypes } from '../core/contracts/node-function.ts';
import type { Operators } from '../ops/operators.ts';
import type { Importers } from '../frontend/onnx/importers.ts';
import type { HostFunctions } from '../runtime/link/host-function.ts';
import type { HostStates } from '../runtime/snapshot/take-snapshot.ts';
import type { MachineLimits, ProgramLimits } from '../core/limits/program-limits.ts';
import type { DeviceKind } from './protocol/loaded-session.ts';
import type { SessionService } from './protocol/session-service.ts';
import { compileTables } from './host/loaded-program.ts';
import { SessionHost } from './host/session-host.ts';
import type { CreateDevice } from './devices/device-pool.ts';
import { pooledDevices } from './devices/pooled-devices.ts';

/** The functions that the programs of a worker may call, and the WebGPU that they run on. */
export interface ServiceOptions {
  /**
   * Functions that programs may call, by name; `my.domain::Op` is `{ type, run }`, which computes nodes of ONNX
   * models.
   */
  readonly functions?: HostFunctions | undefined;
  /** States of these functions, such as a random state: stored with snapshots by these names. */
  readonly states?: HostStates | undefined;
  /** Default `navigator.gpu`. A device of this thread's own, which programs on `webgpu` then use too, is not destroyed here. */
  readonly gpu?: GpuLike | GpuDeviceLike | undefined;
  /** Limits of every program, whatever its session asks for. Default: none. */
  readonly limits?: (ProgramLimits & MachineLimits) | undefined;
  /** The operators that programs may call. Default: the core operators. */
  readonly operators?: Operators | undefined;
  /** Importers for operators of ONNX models that Weft does not read, by domain and name. */
  readonly importers?: Importers | undefined;
}

/** How long a device may take, and what it can do. */
export interface DeviceOptions {
  /**
   * Milliseconds until there must be an adapter and a device, and that it may then finish nothing while
   * it has work. Default 30,000.
   */
  readonly deviceTimeout?: number | undefined;
  /** The operators that programs may call. Default: the core operators. */
  readonly operators?: Operators | undefined;
  /** Threads of a `wasm` device, as in `LoadOptions`. */
  readonly threads?: number | undefined;
}

/** `createDevice` of `weft-vm/worker`, whose arguments are good. */
export async function createDevice(
  kind: DeviceKind | 'auto',
  gpu?: GpuLike | GpuDeviceLike,
  { deviceTimeout, operators, threads }: DeviceOptions = {},
): Promise<Device> {
  if (kind === 'host') return createHostDevice({ operators });
  if (kind === 'wasm') {
    const { openWasm } = await import('./devices/open-wasm.ts');
    return openWasm({ operators, threads });
  }
  if (kind === 'auto') {
    const { createAutoDevice } = await import('./auto/create-auto-device.ts');
    const create: CreateDevice = (one, options) =>
      createDevice(one, gpu, { ...options, operators });
    return createAutoDevice(create, { deviceTimeout, threads }, gpu);
  }
  const found = (gpu ?? globalThis.navigator?.gpu) as GPU | GPUDevice | undefined;
  // Each device is a file of its own.
  const { openWebGpu } = await import('./devices/open-webgpu.ts');
  const open = (opened: GPU | GPUDevice | undefined) =>
    openWebGpu({ operators: operators ?? KERNEL_OPS, gpu: opened, deviceTimeout });
  if (found !== undefined || nodeBuiltin === undefined) return open(found);
  const { withNodeGpu } = await import('./devices/node-gpu.ts');
  return withNodeGpu(open);
}

/** `createService` of `weft-vm/worker`, whose options are good. */
export function createService(options: ServiceOptions = {}): SessionService {
  return hostSessions(options, { isInThreads: false });
}

/** {@link createService}, with whether threads that are started to compile have the options too. */
export function hostSessions(
  { gpu, operators, importers, ...options }: ServiceOptions,
  { isInThreads }: { readonly isInThreads: boolean },
): SessionHost {
  return new SessionHost({
    ...options,
    tables: compileTables({ operators, importers, functions: nodeTypesOf(options) }, isInThreads),
    devices: pooledDevices((kind, device) => createDevice(kind, gpu, { ...device, operators }), {
      gpu,
    }),
  });
}

/** The functions that compute nodes, where there are any. */
export function nodeTypesOf({
  functions = {},
}: Pick<ServiceOptions, 'functions'>): NodeTypes | undefined {
  const nodes = Object.entries(functions).flatMap(([name, fn]) =>
    typeof fn === 'object' ? [[name, fn] as const] : [],
  );
  return nodes.length > 0 ? Object.fromEntries(nodes) : undefined;
}
