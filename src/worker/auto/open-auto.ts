import { DeviceError } from '../../core/errors.ts';
import type { DevicePool, PooledOptions, SharedDevice } from '../devices/device-pool.ts';
import type { DeviceKind } from '../protocol/loaded-session.ts';
import type { MainDevice } from '../devices/opened-devices.ts';

/** Adapters in software by the pool that met them: nobody starts them again to find that out. */
const softwareNames = new WeakMap<DevicePool, string>();

/**
 * The device for `auto`: WebGPU on graphics hardware, else WebAssembly, else WebGPU in software, else the
 * host. Rejects with what is no DeviceError.
 */
export async function openAuto(pool: DevicePool, options: PooledOptions): Promise<MainDevice> {
  const attempt = (kind: DeviceKind) => acquire(pool, kind, options);
  const known = softwareNames.get(pool);
  const gpu = known === undefined ? await attempt('webgpu') : softwareAdapter(known);
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
  const software = known === undefined ? gpu : await attempt('webgpu');
  if (isDevice(software)) {
    const reason = 'There is neither WebGPU on graphics hardware nor WebAssembly.';
    return { main: software, reason, fallbackReason: wasm.message };
  }
  const reason = 'There is neither WebGPU nor WebAssembly.';
  const fallbackReason = `${software.message} ${wasm.message}`;
  return { main: await pool.acquire('host'), reason, fallbackReason };
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
