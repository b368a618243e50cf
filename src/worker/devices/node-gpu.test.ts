import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { Session, Tensor } from '../../client/index.ts';
import { createDevice, createService } from '../checked-service.ts';
import { sumAndProduct } from '../testing/test-programs.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const program = sumAndProduct().toBytes();

test("device 'webgpu' takes the package's adapter, and names one in software", async () => {
  const session = await Session.load(program, { device: 'webgpu' });
  const reason = "The session requested 'webgpu'.";
  expect(session.device).toMatchObject({ kind: 'webgpu', adapterClass: 'software', reason });
  expect(session.device.name).toBe('SwiftShader');
  const inputs = { x: Tensor.from([1, 2]), y: Tensor.from([3, 4]) };
  expect((await session.run(inputs))['sum']?.toNested()).toEqual([4, 6]);
  await session.dispose();
});

test("device 'auto' takes WebAssembly before a driver in software", async () => {
  const session = await Session.load(program);
  expect(session.device).toMatchObject({
    kind: 'wasm',
    reason: 'There is no WebGPU on graphics hardware.',
    fallbackReason:
      "device 'auto': got WebGPU on SwiftShader, a software adapter, expected graphics hardware. Request it with device: 'webgpu'.",
  });
  await session.dispose();
});

test('a device for a machine of its own is chosen likewise', async () => {
  const device = await createDevice('auto');
  expect(device.kind).toBe('wasm');
  device.createBuffer(4).destroy();
  device.destroy();
});

test('without a driver the advice fits Node', async () => {
  vi.stubGlobal('navigator', { gpu: { requestAdapter: () => Promise.resolve(null) } });
  await expect(Session.load(program, { device: 'webgpu' })).rejects.toMatchObject({
    name: 'DeviceError',
    message:
      'WebGPU: got no adapter, expected a GPU or a software adapter. Install a driver for Vulkan (on Debian mesa-vulkan-drivers), or name one in VK_DRIVER_FILES. The host device works everywhere.',
  });
});

test('drivers do not complain to the user', () => {
  const env: NodeJS.ProcessEnv = { ...process.env };
  delete env['XDG_RUNTIME_DIR'];
  const load = `
    export async function main() {
      const { Session } = await import('/src/client/index.ts');
      const bytes = new Uint8Array(${JSON.stringify([...program])});
      await (await Session.load(bytes, { device: 'webgpu' })).dispose();
    }`;
  const folder = mkdtempSync(join(tmpdir(), 'weft-driver-'));
  try {
    const file = join(folder, 'load.ts');
    writeFileSync(file, load);
    const { status, stderr } = spawnSync(process.execPath, ['scripts/run-ts.mjs', file], { env });
    expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each<[string, readonly unknown[], string]>([
  ['another kind', ['cuda'], 'got kind "cuda", expected "auto" or "webgpu" or "wasm" or "host".'],
  [
    'options for a GPU',
    ['wasm', { threads: 2 }],
    'got gpu {"threads":2}, expected a GPU or a GPUD',
  ],
  ['an option', ['wasm', undefined, { thread: 2 }], 'option "thread"'],
])('%s of createDevice is refused', async (_, given, message) => {
  const refused = createDevice(...(given as unknown as Parameters<typeof createDevice>));
  await expect(refused).rejects.toThrow('createDevice: got');
  await expect(refused).rejects.toThrow(message);
});

test('options that a service does not take are refused', () => {
  expect(() => createService({ function: {} } as never)).toThrow(
    'createService: got an unknown option "function", expected only functions, states, gpu, limits, operators, importers. Did you mean functions?',
  );
});
