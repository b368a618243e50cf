import { expect, test } from 'vitest';
import type { ExecutableData } from '../../bytecode/executable.ts';
import { compile } from '../../compiler/compile.ts';
import { parseModule } from '../../compiler/index.ts';
import { OutOfMemoryError } from '../../core/errors.ts';
import { DevicePool } from './device-pool.ts';
import { fitDevices } from './pooled-devices.ts';
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

interface FitOptions {
  readonly kind?: DeviceKind;
  readonly byteBudget?: number;
}

/** Opens devices of a kind and fits them to a program; tells what was made and what is left. */
async function fit(executable: ExecutableData, { kind = 'wasm', byteBudget }: FitOptions = {}) {
  const made: string[] = [];
  const pool = new DevicePool(async (one) => {
    made.push(one);
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

test('what fits addresses of 32 bits stays where it is', async () => {
  for (const executable of [SMALL, withConstant(4 * GIBIBYTE - 2 ** 18)]) {
    const { made, opened, devices } = await fit(executable);
    expect(made).toEqual(['wasm']);
    expect(devices).toBe(opened);
  }
});

test('constants of more than 4 GiB are refused before anything is uploaded', async () => {
  const refused = fit(withConstant(4 * GIBIBYTE));
  await expect(refused).rejects.toThrow(OutOfMemoryError);
  await expect(refused).rejects.toMatchObject({
    message:
      "constants on device 'wasm': got 4294967296 bytes, expected at most 4294836224, what addresses of 32 bits reach. Load the program on WebGPU, or with weights of fewer bits.",
  });
});

test('other devices know nothing of it', async () => {
  expect((await fit(withConstant(5 * GIBIBYTE), { kind: 'host' })).made).toEqual(['host']);
  const { made } = await fit(withConstant(5 * GIBIBYTE), { kind: 'webgpu' });
  expect(made).toEqual(['webgpu', 'host']);
});

test('a program beyond its budget fails by that', async () => {
  const { made } = await fit(withConstant(5 * GIBIBYTE), { byteBudget: GIBIBYTE });
  expect(made).toEqual(['wasm']);
});
