import { withinTime } from '../../core/async/until-aborted.ts';
import type { GpuDeviceLike, GpuLike } from '../../core/contracts/gpu-like.ts';
import { DeviceError } from '../../core/errors.ts';
import { nodeBuiltin } from '../../core/node-builtin.ts';
import {
  adapterName,
  classifyAdapter,
  requestAdapter,
} from '../../device/webgpu/adapter-identity.ts';
import type { DevicePool, PooledOptions, SharedDevice } from '../devices/device-pool.ts';
import type { DeviceKind } from '../protocol/loaded-session.ts';
import type { MainDevice } from '../devices/opened-devices.ts';

/** Adapters in software by the pool that met them: nobody starts them again to find that out. */
const softwareNames = new WeakMap<DevicePool, string>();

/** How long an adapter is asked for its name before the code of the device is fetched all the same. */
const LOOK_MS = 2000;

/**
 * The device for `auto`: WebGPU on graphics hardware, else WebAssembly, else WebGPU in software, else the
 * host. `gpu` is WebGPU where it is not `navigator.gpu`. Rejects with what is no DeviceError.
 */
export async function openAuto(
  pool: DevicePool,
  options: PooledOptions,
  given?: GpuLike | GpuDeviceLike,
): Promise<MainDevice> {
  const attempt = (kind: DeviceKind) => acquire(pool, kind, options);
  const known = softwareNames.get(pool);
  const refused = known === undefined ? await look(pool, given) : softwareAdapter(known);
  const gpu = refused ?? (await attempt('webgpu'));
  if (isDevice(gpu)) {
    const { name, adapterClass } = gpu.device.info;
    if (adapterClass !== 'software') {
      // Files of its own, which come while the program does.
      const decision = import('./decide-device.ts');
      // Of a load that fails before, nobody asks.
      decision.catch(() => undefined);
      const decide: MainDevice['decide'] = async (...args) =>
        (await decision).decideDevice(pool, ...args);
      return { main: gpu, reason: `${name} is graphics hardware.`, decide };
    }
    softwareNames.set(pool, name);
  }
  const wasm = await attempt('wasm');
  if (isDevice(wasm)) {
    if (isDevice(gpu)) gpu.release();
    const { message } = isDevice(gpu) ? softwareAdapter(gpu.device.info.name) : gpu;
    const reason = 'There is no WebGPU on graphics hardware.';
    return { main: wasm, reason, fallbackReason: message };
  }
  const software = refused === undefined ? gpu : await attempt('webgpu');
  if (isDevice(software)) {
    const reason = 'There is neither WebGPU on graphics hardware nor WebAssembly.';
    return { main: software, reason, fallbackReason: wasm.message };
  }
  const reason = 'There is neither WebGPU nor WebAssembly.';
  const fallbackReason = `${software.message} ${wasm.message}`;
  return { main: await pool.acquire('host'), reason, fallbackReason };
}

/**
 * Asks for an adapter without the code that runs on it: where there is none, or one in software, that is not fetched.
 * Undefined where it may be graphics hardware.
 */
async function look(
  pool: DevicePool,
  given: GpuLike | GpuDeviceLike | undefined,
): Promise<DeviceError | undefined> {
  const gpu = given ?? globalThis.navigator?.gpu;
  // Node finds WebGPU elsewhere, and a device of the page is taken as it is.
  if (gpu === undefined ? nodeBuiltin !== undefined : !('requestAdapter' in gpu)) return undefined;
  const late = (): Error => new Error('Late.');
  try {
    const asked = requestAdapter({ gpu: gpu as GPU | undefined });
    const { info } = await withinTime(asked, { timeoutMs: LOOK_MS, late });
    if (classifyAdapter(info) !== 'software') return undefined;
    softwareNames.set(pool, adapterName(info));
    return softwareAdapter(adapterName(info));
  } catch (error) {
    return error instanceof DeviceError ? error : undefined;
  }
}

async function acquire(
  pool: DevicePool,
  kind: DeviceKind,
  options: PooledOptions,
): Promise<SharedDevice | DeviceError> {
  try {
    return await pool.acquire(kind, options);
  } catch (error) {
    if (error instanceof DeviceError) return error;
    throw error;
  }
}

function isDevice(found: SharedDevice | DeviceError): found is SharedDevice {
  return !(found instanceof DeviceError);
}

function softwareAdapter(name: string): DeviceError {
  return new DeviceError({
    where: "device 'auto'",
    got: `WebGPU on ${name}, a software adapter`,
    expected: 'graphics hardware',
    remedy: "Request it with device: 'webgpu'.",
  });
}
