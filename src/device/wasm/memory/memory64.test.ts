import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import { seededRandom } from '../../../core/random.ts';
import type { Device, DeviceTensor } from '../../device.ts';
import { differentBytes } from '../../testing/different-bytes.ts';
import { hasMemory64, MEMORY64 } from './memory64.ts';
import { MemoryChecks } from './memory-checks.ts';
import { NARROWED_MEMORY64 } from '../testing/narrowed-memory64.ts';
import { OPERATORS_ON_WASM } from '../testing/operators-on-wasm.ts';
import { PackedConstants } from './packed-constants.ts';
import { createWasmDevice, type WasmDeviceOptions } from '../wasm-device.ts';
import { sharedThreads } from '../threads/shared-threads.ts';
import { WasmMemory } from './wasm-memory.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('kernels whose addresses have 64 bits up to the access', () => {
  let [narrow, widened]: Device[] = [];
  beforeAll(() => {
    narrow = createWasmDevice();
    widened = createWasmDevice({ memory64: NARROWED_MEMORY64 });
  });
  afterAll(() => {
    narrow?.destroy();
    widened?.destroy();
  });

  test.each(OPERATORS_ON_WASM.map((op, i) => [`${i} ${op.name}`, op] as const))(
    '%s: the bytes of those of 32 bits',
    async (_, op) => {
      if (narrow === undefined || widened === undefined) throw new Error('no device');
      expect(await differentBytes(op, widened, narrow)).toEqual([]);
    },
  );
});

/** Rows times a constant that is large enough to be read in the order in which it lies. */
async function rowsTimesConstant(options: WasmDeviceOptions, isConstant: boolean) {
  const [m, k, n] = [2, 600, 132];
  const matrix = (...shape: number[]) => ({ dtype: 'float32', shape }) as const;
  const primitive: PrimitiveFunction = {
    name: 'product',
    params: [matrix(m, k), matrix(k, n)],
    body: [{ op: 'matmul', inputs: [0, 1], attributes: {} }],
    results: [{ value: 2, type: matrix(m, n) }],
  };
  const device = createWasmDevice(options);
  const random = seededRandom(1);
  const tensor = (rows: number, columns: number, isReadOnly = false): DeviceTensor => {
    const buffer = device.createBuffer(rows * columns * 4);
    const elements = Float32Array.from({ length: rows * columns }, () => random() - 0.5);
    device.write(buffer, 0, new Uint8Array(elements.buffer));
    return { buffer, byteOffset: 0, ...matrix(rows, columns), isReadOnly };
  };
  const prepacking = { reserve: () => true };
  const kernels = await device.prepare([primitive], { prepacking });
  const [a, b, y] = [tensor(m, k), tensor(k, n, isConstant), tensor(m, n)];
  kernels.get('product')?.launch([a, b, y]);
  const [bytes] = await device.read([{ buffer: y.buffer, byteOffset: 0, byteLength: m * n * 4 }]);
  device.destroy();
  return bytes;
}

test.each([true, false])('an operand that is optional, packed: %s', async (isConstant) => {
  const expected = await rowsTimesConstant({}, isConstant);
  expect(new Set(expected).size).toBeGreaterThan(100);
  expect(await rowsTimesConstant({ memory64: NARROWED_MEMORY64 }, isConstant)).toEqual(expected);
});

test('there is one thread, and buffers are of less than 2 GiB', () => {
  const startThread = vi.fn();
  const memory64 = NARROWED_MEMORY64;
  const device = createWasmDevice({
    memory64,
    createThreads: sharedThreads({ threads: 4, startThread, sharesAll: true }),
  });
  expect(device.info).toMatchObject({ threads: 1, maxBufferByteLength: 2 ** 31 - 2 ** 16 });
  expect(startThread).not.toHaveBeenCalled();
  expect(() => device.createBuffer(2 ** 31)).toThrow('at most 2147418112, the largest buffer');
  device.destroy();
});

test('constants are packed once up to 8 GiB of all buffers', () => {
  const memory = new WasmMemory({ byteBudget: 2 ** 40, memory64: NARROWED_MEMORY64 });
  const packed = new PackedConstants(memory);
  const tensor = {
    buffer: memory.create(64),
    byteOffset: 0,
    dtype: 'float32',
    shape: [16],
  } as const;
  const pack = { value: 0, layout: 'panels', byteLength: 256, functions: [] };
  const constant = { pack, code: vi.fn(), budget: { reserve: () => true } };
  memory.bytesLive = 2 ** 33 - 255;
  expect(packed.find(tensor, constant)).toBeUndefined();
  memory.bytesLive = 2 ** 33 - 256;
  const address = packed.find(tensor, constant);
  expect(address).toBeGreaterThan(0);
  expect(constant.code.mock.calls).toEqual([[tensor.buffer.begin, address]]);
});

test('checks take addresses of 64 bits', () => {
  const checks = new MemoryChecks();
  checks.allow(2 ** 33, 16);
  expect(checks.check(2n ** 33n, 8, 8)).toBe(2n ** 33n);
  expect(() => checks.check(2n ** 33n, 12, 8)).toThrow('8 bytes at 8589934604, outside the ranges');
  expect(() => checks.check(0n, 8, 8)).toThrow('outside');
});

test('an engine without it is refused', () => {
  const { validate } = WebAssembly;
  vi.spyOn(WebAssembly, 'validate').mockImplementation(
    // The limits of the imported memory, which are behind the names `env` and `memory`.
    (bytes) => !isOf64Bits(bytes as Uint8Array) && validate(bytes),
  );
  expect(hasMemory64()).toBe(false);
  expect(() => createWasmDevice({ memory64: MEMORY64 })).toThrowErrorMatchingInlineSnapshot(
    `[DeviceError: device 'wasm': got an engine without Memory64, expected WebAssembly with addresses of 64 bits. Use Chrome 133, Firefox 134, Node 24 or later.]`,
  );
});

test('an engine that validates it and makes none is refused', () => {
  vi.spyOn(WebAssembly, 'validate').mockReturnValue(true);
  vi.spyOn(WebAssembly, 'Memory').mockImplementation(function refuse() {
    throw new TypeError('WebAssembly.Memory(): Property initial is a BigInt');
  });
  expect(() => createWasmDevice({ memory64: MEMORY64 })).toThrow('got an engine without Memory64');
});

const isOf64Bits = (module: Uint8Array): boolean =>
  new TextDecoder('latin1').decode(module).includes('\x06memory\x02\x05');
