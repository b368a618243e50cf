import { expect, test } from 'vitest';
import { compile } from '../../compiler/compile.ts';
import { parseModule } from '../../compiler/index.ts';
import { DeviceError } from '../../core/errors.ts';
import type { DeviceKind, LoadedSession } from '../protocol/loaded-session.ts';
import { pooledDevices } from './pooled-devices.ts';
import { SessionHost } from '../host/session-host.ts';
import { fakeDevice } from '../testing/fake-device.ts';

const FLOATS = 'def @main(%x: Tensor[(2,), float32]) { neg(%x) }';
const DOUBLES = 'def @main(%x: Tensor[(2,), float64]) { neg(%x) }';
const PLACES = 'def @main(%x: Tensor[(2,), float32]) { nonzero(%x) }';

/** Loads a program on WebGPU, and tells the devices that it made. */
async function load(text: string, { wasm = true, sharing = false } = {}) {
  const made: DeviceKind[] = [];
  const host = new SessionHost({
    devices: pooledDevices(async (kind) => {
      made.push(kind);
      if (kind === 'wasm' && !wasm) throw new DeviceError("Add 'wasm-unsafe-eval' to script-src.");
      return fakeDevice(kind);
    }),
  });
  const source = { kind: 'bytes', bytes: compile(parseModule(text)).toBytes() } as const;
  const request = { source, device: 'webgpu', dims: {}, pin: sharing ? true : undefined } as const;
  const reply = await host.load(1, request, undefined);
  if (!reply.ok) throw new Error(reply.error.message);
  const loaded: LoadedSession = reply.value;
  await host.dispose(2, loaded.session);
  return { made, devices: loaded.placements.map(({ device }) => device) };
}

test('what WebGPU cannot run is in WebAssembly, which nothing else asks for', async () => {
  expect(await load(FLOATS)).toEqual({ made: ['webgpu', 'host'], devices: [] });
  expect(await load(DOUBLES)).toEqual({ made: ['webgpu', 'host', 'wasm'], devices: ['wasm'] });
  const shared = await load(DOUBLES, { sharing: true });
  expect(shared).toEqual({ made: ['webgpu', 'host', 'wasm'], devices: ['wasm'] });
});

test('it is on the host where only references make it, or there is no WebAssembly', async () => {
  expect(await load(PLACES)).toEqual({ made: ['webgpu', 'host'], devices: ['host'] });
  const { devices } = await load(DOUBLES, { wasm: false });
  expect(devices).toEqual(['host']);
});
