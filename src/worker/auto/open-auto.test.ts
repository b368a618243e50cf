import { expect, test } from 'vitest';
import { DeviceError } from '../../core/errors.ts';
import { DevicePool } from '../devices/device-pool.ts';
import type { DeviceKind } from '../protocol/loaded-session.ts';
import { fakeDevice } from '../testing/fake-device.ts';
import { openAuto } from './open-auto.ts';

type Adapter = 'discrete' | 'integrated' | 'software' | 'none';

interface Here {
  readonly adapter: Adapter;
  readonly wasm: boolean;
}

/** A pool of a place that has such an adapter and WebAssembly or not, and the kinds it made. */
function poolOf({ adapter, wasm }: Here): { pool: DevicePool; made: DeviceKind[] } {
  const made: DeviceKind[] = [];
  const pool = new DevicePool(async (kind) => {
    made.push(kind);
    if (kind === 'webgpu' && adapter === 'none') throw new DeviceError('WebGPU: got no adapter.');
    if (kind === 'wasm' && !wasm) throw new DeviceError("Add 'wasm-unsafe-eval' to script-src.");
    return fakeDevice(kind, adapter === 'none' ? undefined : adapter);
  });
  return { pool, made };
}

const SOFTWARE =
  "device 'auto': got WebGPU on a software adapter, a software adapter, expected graphics hardware. Request it with device: 'webgpu'.";

test.each([
  ['discrete', true, 'webgpu', undefined],
  ['integrated', false, 'webgpu', undefined],
  ['software', true, 'wasm', SOFTWARE],
  ['none', true, 'wasm', 'WebGPU: got no adapter.'],
  ['software', false, 'webgpu', "Add 'wasm-unsafe-eval' to script-src."],
  ['none', false, 'host', "WebGPU: got no adapter. Add 'wasm-unsafe-eval' to script-src."],
] as const)(
  'an adapter: %s, WebAssembly: %s: runs on %s',
  async (adapter, wasm, kind, fallbackReason) => {
    const { pool } = poolOf({ adapter, wasm });
    const opened = await openAuto(pool, {});
    expect(opened.main.device.kind).toBe(kind);
    expect(opened.fallbackReason).toBe(fallbackReason);
    expect(opened.reason).toMatchSnapshot();
  },
);

test('an adapter in software is given back, and not started for the next session', async () => {
  const { pool, made } = poolOf({ adapter: 'software', wasm: true });
  const gpu = await pool.acquire('webgpu');
  const [first, second] = [await openAuto(pool, {}), await openAuto(pool, {})];
  expect(second.fallbackReason).toBe(first.fallbackReason);
  expect(made).toEqual(['webgpu', 'wasm']);
  gpu.release();
  expect(gpu.isUsable()).toBe(false);
});

test('where WebAssembly is forbidden, every session has the adapter in software', async () => {
  const { pool } = poolOf({ adapter: 'software', wasm: false });
  for (let i = 0; i < 2; i++) {
    const { main } = await openAuto(pool, {});
    expect(main.device.kind).toBe('webgpu');
    main.release();
    expect(main.isUsable()).toBe(false);
  }
});

test('what is no DeviceError is not taken for a missing device', async () => {
  const pool = new DevicePool(async () => {
    throw new TypeError('no such file');
  });
  await expect(openAuto(pool, {})).rejects.toThrow('no such file');
});
