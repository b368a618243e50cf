import { expect, test } from 'vitest';
import type { ExecutableData } from '../../bytecode/executable.ts';
import { compile } from '../../compiler/compile.ts';
import { parseModule } from '../../compiler/index.ts';
import { DeviceError, OutOfMemoryError } from '../../core/errors.ts';
import { DevicePool, type PooledOptions } from './device-pool.ts';
import { fitDevices } from './fit-devices.ts';
import type { DeviceKind } from '../protocol/loaded-session.ts';
import { fakeDevice } from '../testing/fake-device.ts';

const GIBIBYTE = 2 ** 30;
const SMALL = compile(parseModule('def @main(%x: Tensor[(2,), float32]) { neg(%x) }'));

/** A program with so many bytes of constants. */
function withConstant(byteLength: number): ExecutableData {
  const { functions, code, functionTable, primitives, shapePrograms, metadata } = SMALL;
  const type = { dtype: 'uint8', shape: [byteLength], isSplat: false } as const;
  const constant = { kind: 'tensor', ...type, byteOffset: 0, byteLength } as const;
  const constants = [...SMALL.constants, constant];
  const tables = { functions, code, functionTable, primitives, shapePrograms, metadata };
  return { ...tables, constants, dataByteLength: byteLength };
}

/** The first result of `main` has a storage of its own, since the second is what it is made of. */
const withStorages = (gibibytes: number) => {
  const shape = `(${gibibytes * 0.25 * GIBIBYTE},)`;
  return compile(parseModule(`def @main(%x: Tensor[${shape}, float32]) { (neg(%x), %x) }`));
};

interface FitOptions {
  readonly kind?: DeviceKind;
  readonly hasMemory64?: boolean;
  readonly byteBudget?: number;
}

/** Opens devices of a kind and fits them to a program; tells what was made and what is left. */
async function fit(
  executable: ExecutableData,
  { kind = 'wasm', hasMemory64 = true, byteBudget }: FitOptions = {},
) {
  const made: string[] = [];
  const pool = new DevicePool(async (one, { memory64 = false, threads }: PooledOptions) => {
    if (memory64 && !hasMemory64) throw new DeviceError('The engine has no Memory64.');
    if (memory64) expect(threads).toBe(1);
    made.push(`${one}${memory64 ? ' memory64' : ''}`);
    return fakeDevice(one);
  });
  const options = { threads: 2, ...(byteBudget !== undefined && { byteBudget }) };
  const opened = {
    main: await pool.acquire(kind, options),
    host: await pool.acquire(kind === 'wasm' ? 'wasm' : 'host', options),
    reason: 'It was asked for.',
  };
  const devices = await fitDevices(opened, { pool, options }, executable);
  return { made, opened, devices };
}

test('what fits 32 bits stays where it is', async () => {
  for (const executable of [SMALL, withConstant(4 * GIBIBYTE - 2 ** 18), withStorages(3)]) {
    const { made, opened, devices } = await fit(executable);
    expect(made).toEqual(['wasm']);
    expect(devices).toBe(opened);
  }
});

test.each([
  ['constants', withConstant(4 * GIBIBYTE)],
  ['planned storages', withStorages(5)],
])('more %s have addresses of 64 bits, and the device before goes back', async (_, executable) => {
  const { made, opened, devices } = await fit(executable);
  expect(made).toEqual(['wasm', 'wasm memory64']);
  expect(devices.main).toBe(devices.host);
  expect(devices.reason).toBe('It was asked for. It needs addresses of 64 bits.');
  expect(opened.main.isUsable()).toBe(false);
  devices.main.release();
  expect(devices.host.isUsable()).toBe(true);
  devices.host.release();
  expect(devices.host.isUsable()).toBe(false);
});

test('other devices know nothing of it', async () => {
  expect((await fit(withStorages(5), { kind: 'host' })).made).toEqual(['host']);
  expect((await fit(withStorages(5), { kind: 'webgpu' })).made).toEqual(['webgpu', 'host']);
});

test('a budget of less than 4 GiB needs no more than 32 bits', async () => {
  const { made } = await fit(withStorages(5), { byteBudget: GIBIBYTE });
  expect(made).toEqual(['wasm']);
});

test('without Memory64 constants are refused, and storages, which may not all be in use, are not', async () => {
  const refused = fit(withConstant(4 * GIBIBYTE), { hasMemory64: false });
  await expect(refused).rejects.toThrow(OutOfMemoryError);
  await expect(refused).rejects.toMatchObject({
    message:
      "constants on device 'wasm': got 4294967296 bytes, expected at most 4294836224, what addresses of 32 bits reach. The engine has no Memory64.",
  });
  const { opened, devices } = await fit(withStorages(5), { hasMemory64: false });
  expect(devices).toBe(opened);
  expect(opened.main.isUsable()).toBe(true);
});
