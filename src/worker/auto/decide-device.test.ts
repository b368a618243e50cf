import type { Clock } from '../../core/async/clock.ts';
import { afterEach, expect, test } from 'vitest';
import { compile } from '../../compiler/compile.ts';
import { parseModule } from '../../compiler/index.ts';
import { DeviceError } from '../../core/errors.ts';
import type { Device } from '../../device/device.ts';
import type { DeviceRates } from '../../core/contracts/device-rates.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { createWasmDevice } from '../../device/wasm/wasm-device.ts';
import { createWebGpuDevice } from '../../device/webgpu/webgpu-device.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { nodeGpu } from '../../testing/node-gpu.ts';
import { callsPacked } from '../testing/test-programs.ts';
import { fakeDevice } from '../testing/fake-device.ts';
import type { DeviceKind, LoadedSession } from '../protocol/loaded-session.ts';
import type { Reply, SessionId } from '../protocol/reply.ts';
import type { WireValue } from '../protocol/wire-value.ts';
import { pooledDevices } from '../devices/pooled-devices.ts';
import { SessionHost } from '../host/session-host.ts';
import { PlaceStore, type PlaceStores } from './place-store.ts';

/** main(x) = tanh(x · w): as many rows of weights as asked for. */
function product(size: number): Uint8Array {
  const text = `
    def @main(%x: Tensor[(8, ${size}), float32], %w: Tensor[(${size}, ${size}), float32]) {
      tanh(matmul(%x, %w))
    }`;
  return compile(parseModule(text)).toBytes();
}

const SLOW: DeviceRates = { roundTripMs: 1, launchMs: 1, operationsPerMs: 1e6, bytesPerMs: 1e6 };

type Create = (kind: DeviceKind) => Promise<Device>;

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

function hostOf(create: Create, places?: PlaceStores, clock?: Clock): SessionHost {
  const functions = { 'test.twice': (x: number) => x };
  return new SessionHost({ devices: pooledDevices(create, { places }), functions, clock });
}

/** A discrete adapter and WebAssembly, both of which compute on the host. */
function fakes({ wasm = true } = {}): { create: Create; made: Device[]; info: Device['info'] } {
  const info = { ...fakeDevice('webgpu').info, name: 'adapter' };
  const made: Device[] = [];
  const create: Create = async (kind) => {
    if (kind === 'wasm' && !wasm) throw new DeviceError("Add 'wasm-unsafe-eval' to script-src.");
    const device = fakeDevice(kind);
    if (kind === 'webgpu') Object.defineProperty(device, 'info', { value: info });
    made.push(device);
    return device;
  };
  return { create, made, info };
}

function valueOf<T>(reply: Reply<T>): T {
  if (!reply.ok) throw new Error(reply.error.message);
  return reply.value;
}

async function load(host: SessionHost, bytes: Uint8Array): Promise<LoadedSession> {
  const source = { kind: 'bytes', bytes } as const;
  const loaded = valueOf(await host.load(1, { source, device: 'auto', dims: {} }, undefined));
  opened.push(() => host.dispose(2, loaded.session));
  return loaded;
}

function tensor(shape: readonly number[]): WireValue {
  const data = new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(0.01);
  return { kind: 'tensor', dtype: 'float32', shape, data };
}

async function run(host: SessionHost, session: SessionId, size: number) {
  const args = [tensor([8, size]), tensor([size, size])];
  return valueOf(await host.run(3, { session, functionName: 'main', args, keep: 'host' }));
}

test('a small program goes to WebAssembly, a large one to the adapter', async () => {
  const { create, info } = fakes();
  const host = hostOf(create);
  const { device: small } = await load(host, product(16));
  expect(small).toMatchObject({ kind: 'wasm', fallbackReason: undefined });
  expect(small.reason).toMatch(/^By an estimate, a run takes 0.81 ms on adapter and 0.02\d* ms/);
  const { device: large } = await load(host, product(4096));
  expect(large).toMatchObject({ kind: 'webgpu', name: info.name, fallbackReason: undefined });
  expect(large.reason).toMatch(/^By an estimate/);
});

test('no WebAssembly is asked for where the adapter is faster', async () => {
  const { create, made } = fakes();
  await load(hostOf(create), product(4096));
  expect(made.map(({ kind }) => kind)).toEqual(['webgpu', 'host']);
});

test('where WebAssembly is forbidden a small program stays, and is told the directive', async () => {
  const { create } = fakes({ wasm: false });
  const { device } = await load(hostOf(create), product(16));
  expect(device).toMatchObject({
    kind: 'webgpu',
    reason: expect.stringMatching(/WebAssembly cannot run\.$/),
    fallbackReason: "Add 'wasm-unsafe-eval' to script-src.",
  });
});

test('devices that are not used go back, whether the load succeeds or not', async () => {
  const { create, made } = fakes();
  const host = hostOf(create);
  const { device } = await load(host, product(16));
  expect(device.kind).toBe('wasm');
  const gpu = made.find(({ kind }) => kind === 'webgpu');
  expect(() => gpu?.createBuffer(4)).toThrow('destroyed');
  // A function that nobody brings: found when all devices are open.
  const source = { kind: 'bytes', bytes: callsPacked('test.nobody').toBytes() } as const;
  const failed = await host.load(4, { source, device: 'auto', dims: {} }, undefined);
  expect(failed.ok).toBe(false);
  for (const close of opened.splice(0)) await close();
  for (const one of made) expect(() => one.createBuffer(4)).toThrow('destroyed');
});

test('the rates of a device are measured once it is idle, and count from then on', async () => {
  const { create, info } = fakes();
  const places: PlaceStores = new Map();
  const host = hostOf(create, places);
  const { session } = await load(host, product(16));
  const store = await PlaceStore.of({ device: { info }, places });
  expect(store.findings.wasm).toBeUndefined();
  for (let i = 0; i < 2; i++) await run(host, session, 16);
  await expect.poll(() => store.findings.wasm).toBeDefined();
  expect(store.findings.gpu).toBeUndefined();
  expect(store.findings.programs).toEqual([]);
  const { device } = await load(host, product(16));
  expect(device.reason).toMatch(/^By an estimate/);
});

test('estimates that are near are checked by runs on both, on an adapter that is taken for discrete', async () => {
  const info = fakeDevice('webgpu').info;
  const create: Create = async (kind) => {
    if (kind === 'wasm') return createWasmDevice();
    if (kind === 'host') return fakeDevice('host');
    const gpu = await nodeGpu();
    const options = { gpu, adapterClass: 'discrete', operators: CORE_OPERATORS } as const;
    return Object.defineProperty(await createWebGpuDevice(options), 'info', { value: info });
  };
  const places: PlaceStores = new Map();
  const store = await PlaceStore.of({ device: { info }, places });
  await store.add({ gpu: SLOW, wasm: { ...SLOW, launchMs: 1.5 } });
  const host = hostOf(create, places);
  const { session, device } = await load(host, product(16));
  expect(device.kind).toBe('webgpu');
  const first = await run(host, session, 16);
  expect(await run(host, session, 16)).toEqual(first);
  await expect.poll(() => store.findings.programs).toHaveLength(1);
  const { times } = store.findings.programs[0] ?? {};
  expect(times?.webgpu).toBeGreaterThan(0);
  expect(times?.wasm).toBeGreaterThan(0);
  // The session of the page knows nothing of it.
  expect(await run(host, session, 16)).toEqual(first);
  const { device: later } = await load(host, product(16));
  const isFaster = (times?.wasm ?? 0) < (times?.webgpu ?? 0);
  expect(later.kind).toBe(isFaster ? 'wasm' : 'webgpu');
  expect(later.reason).toMatch(/^As measured, a run takes/);
});

test('a trial ends with its session', async () => {
  const { create, made, info } = fakes();
  const places: PlaceStores = new Map();
  const clock = new FakeClock();
  const store = await PlaceStore.of({ device: { info }, places });
  await store.add({ gpu: SLOW, wasm: SLOW });
  const host = hostOf(create, places, clock);
  const { session } = await load(host, product(16));
  for (let i = 0; i < 2; i++) await run(host, session, 16);
  await clock.waitedFor();
  for (const close of opened.splice(0)) await close();
  await clock.advance(10_000);
  expect(store.findings.programs).toEqual([]);
  for (const one of made) expect(() => one.createBuffer(4)).toThrow('destroyed');
});
