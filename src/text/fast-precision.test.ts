import { setFlagsFromString } from 'node:v8';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Session } from '../client/session.ts';
import type { LoadOptions } from '../client/session-options.ts';
import { Tensor } from '../client/values/tensor.ts';
import { compile } from '../compiler/compile.ts';
import { call, constant, func, moduleOf, variable } from '../compiler/ir/build.ts';
import type { PrimitiveFunction } from '../core/contracts/primitive-function.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { seededRandom } from '../core/random.ts';
import type { Device } from '../device/device.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { allocateTensor, downloadTensors, uploadTensor } from '../device/testing/device-tensors.ts';
import { hasByteProducts } from '../device/wasm/check-engine.ts';
import { createWasmDevice } from '../device/wasm/wasm-device.ts';
import { ownGpu } from '../testing/own-gpu.ts';

// Node 20 knows relaxed SIMD; only its optimizing compiler has it right.
setFlagsFromString('--experimental-wasm-relaxed-simd');
setFlagsFromString('--no-liftoff');
// Other files of this process expect the sums of an engine without it.
afterAll(() => {
  setFlagsFromString('--no-experimental-wasm-relaxed-simd');
  setFlagsFromString('--liftoff');
});

interface Problem {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly bits: 4 | 8;
  readonly blockSize?: number;
  readonly zeros?: 'uint8' | 'float32';
}

const PROBLEMS: readonly Problem[] = [
  { m: 1, n: 1, k: 32, bits: 4 },
  { m: 1, n: 6, k: 96, bits: 8 },
  { m: 2, n: 9, k: 64, bits: 4, zeros: 'float32' },
  { m: 3, n: 7, k: 96, bits: 4, zeros: 'uint8' },
  { m: 5, n: 5, k: 128, bits: 8, blockSize: 64, zeros: 'float32' },
  { m: 21, n: 10, k: 256, bits: 4, blockSize: 128 },
  { m: 2, n: 4, k: 512, bits: 8, blockSize: 512 },
];

/** By how much elements may be off, as a share of their block's largest one. */
const ROUNDING = { bytes: 0.5 / 127, words: 0.5 / (2 ** 14 - 1) };

function primitiveOf({ m, n, k, bits, blockSize = 32, zeros }: Problem): PrimitiveFunction {
  const blocks = k / blockSize;
  const type = { dtype: 'float32', shape: [m, n] } as const;
  const zeroBytes = zeros === 'uint8' ? Math.ceil((blocks * bits) / 8) : blocks;
  const params = [
    { dtype: 'float32', shape: [m, k] },
    { dtype: 'uint8', shape: [n, blocks, (blockSize * bits) / 8] },
    { dtype: 'float32', shape: [n, blocks] },
    ...(zeros === undefined ? [] : [{ dtype: zeros, shape: [n, zeroBytes] }]),
  ] as const;
  return {
    name: 'product',
    params,
    body: [
      {
        op: 'matmul_nbits',
        inputs: params.map((_, i) => i),
        attributes: { bits, block_size: blockSize },
      },
    ],
    results: [{ value: params.length, type }],
  };
}

/** Elements of blocks whose sizes differ by much; codes of all values. */
function inputsOf({ params }: PrimitiveFunction): HostTensor[] {
  const random = seededRandom(11);
  return params.map(({ dtype, shape }, input) => {
    const sizes = shape.map(Number);
    const count = sizes.reduce((product, size) => product * size, 1);
    const values = Array.from({ length: count }, (_, i) => {
      if (dtype === 'uint8') return Math.floor(random() * 256);
      if (input === 0) return (random() - 0.5) * 10 ** ((Math.floor(i / 32) % 5) - 2);
      return input === 2 ? 0.01 + random() / 10 : random() * 16;
    });
    return HostTensor.from(dtype, sizes, values);
  });
}

async function run(
  device: Device,
  primitive: PrimitiveFunction,
  inputs: readonly HostTensor[],
): Promise<number[]> {
  const kernels = await device.prepare([primitive], { precision: 'fast' });
  const tensors = inputs.map((input) => uploadTensor(device, input));
  const { dtype, shape } = primitive.results[0]?.type ?? { dtype: 'float32', shape: [] };
  const output = allocateTensor(device, { dtype, shape: shape.map(Number) });
  kernels.get('product')?.launch([...tensors, output]);
  const [result] = await downloadTensors(device, [output]);
  for (const { buffer } of [...tensors, output]) buffer.destroy();
  return Array.from(result?.data ?? [], Number);
}

describe.each([true, false])('precision fast, relaxed SIMD: %s', (relaxedSimd) => {
  let device: Device;
  let host: Device;
  beforeAll(() => {
    device = createWasmDevice({ relaxedSimd });
    host = createHostDevice();
  });
  afterAll(() => {
    device.destroy();
    host.destroy();
  });

  test('the engine has it', () => expect(hasByteProducts()).toBe(true));

  test.each(PROBLEMS)('$m rows by $n columns of $k, $bits bits, zeros $zeros', async (problem) => {
    const primitive = primitiveOf(problem);
    const inputs = inputsOf(primitive);
    const [exact, rounded] = [
      await run(host, primitive, inputs),
      await run(device, primitive, inputs),
    ];
    const allowed = await errorBounds(host, problem, inputs, relaxedSimd);
    expect(rounded).toHaveLength(exact.length);
    const worst = rounded.map((value, i) => Math.abs(value - (exact[i] ?? 0)) / (allowed[i] ?? 0));
    expect(Math.max(...worst)).toBeLessThan(1);
    // It rounds, where elements are no integers of so many bits.
    expect(rounded).not.toEqual(exact);
  });

  test('integers with the largest one in each block are exact', async () => {
    const problem: Problem = { m: 3, n: 6, k: 96, bits: 4 };
    const primitive = primitiveOf(problem);
    const [, codes, scales] = inputsOf(primitive);
    const random = seededRandom(3);
    const most = relaxedSimd ? 127 : 2 ** 14 - 1;
    const values = Array.from({ length: 3 * 96 }, (_, i) =>
      i % 32 === 5 ? -most : Math.round((random() * 2 - 1) * most),
    );
    const inputs = [
      HostTensor.from('float32', [3, 96], values),
      codes as HostTensor,
      HostTensor.splat('float32', scales?.shape ?? [], 0.25),
    ];
    const exact = await run(host, primitive, inputs);
    const rounded = await run(device, primitive, inputs);
    // But for the rounding of the scale.
    const largest = Math.max(...exact.map(Math.abs));
    for (const [i, value] of rounded.entries()) {
      expect(Math.abs(value - (exact[i] ?? 0))).toBeLessThan(1e-6 * largest);
    }
  });

  test('blocks of zeros give 0, and what is not finite stays so', async () => {
    const problem: Problem = { m: 3, n: 4, k: 64, bits: 8 };
    const primitive = primitiveOf(problem);
    const [, codes, scales] = inputsOf(primitive);
    const values = new Array<number>(3 * 64).fill(0);
    values[64 + 40] = Number.NaN;
    values[128 + 3] = Number.NEGATIVE_INFINITY;
    const inputs = [HostTensor.from('float32', [3, 64], values), codes, scales];
    const result = await run(device, primitive, inputs as HostTensor[]);
    expect(result.slice(0, 4)).toEqual([0, 0, 0, 0]);
    expect(result.slice(4).some(Number.isFinite)).toBe(false);
  });
});

test('a session has the precision that was asked for, and full precision by default', async () => {
  const primitive = primitiveOf({ m: 2, n: 5, k: 64, bits: 4 });
  const [a, codes, scales] = inputsOf(primitive);
  const x = variable('x', 'float32', [2, 64]);
  const constants = [codes, scales].map((tensor) => constant(tensor as HostTensor));
  const y = call('matmul_nbits', [x, ...constants], { bits: 4, block_size: 32 });
  const executable = compile(moduleOf({ main: func([x], y) })).toBytes();
  // A place of its own: whoever opened the device of another looked at the engine before.
  const gpu = await ownGpu();
  const resultOf = async (options: LoadOptions): Promise<number[]> => {
    const place = { device: 'wasm', worker: false, gpu } as const;
    const session = await Session.load(executable, { ...place, ...options });
    const input = new Tensor('float32', a?.data as Float32Array, [2, 64]);
    const [output] = Object.values(await session.run({ x: input }));
    await session.dispose();
    return Array.from(output?.data ?? [], Number);
  };
  const usual = await resultOf({});
  expect(await resultOf({ precision: 'full' })).toEqual(usual);
  const device = createWasmDevice();
  const rounded = await run(device, primitive, inputsOf(primitive));
  device.destroy();
  expect(await resultOf({ precision: 'fast' })).toEqual(rounded);
  expect(rounded).not.toEqual(usual);
});

/** Bounds of the rounding error of each element of the result, with 1e-6 for sums in float32. */
async function errorBounds(
  host: Device,
  problem: Problem,
  inputs: readonly HostTensor[],
  relaxedSimd: boolean,
): Promise<number[]> {
  const { m, n, k, bits, blockSize = 32 } = problem;
  const share = relaxedSimd && bits === 4 ? ROUNDING.bytes : ROUNDING.words;
  const data = Array.from(inputs[0]?.data ?? [], Number);
  const bounds = new Array<number>(m * n).fill(0);
  // Columns of the matrix that the codes stand for are its products by unit vectors.
  const unit = primitiveOf({ ...problem, m: k });
  const identity = Array.from({ length: k * k }, (_, i) => Number(i % (k + 1) === 0));
  const [, ...others] = inputs;
  const weights = await run(host, unit, [HostTensor.from('float32', [k, k], identity), ...others]);
  for (let row = 0; row < m; row++) {
    for (let begin = 0; begin < k; begin += blockSize) {
      const block = data.slice(row * k + begin, row * k + begin + blockSize);
      const most = Math.max(...block.map(Math.abs));
      for (let column = 0; column < n; column++) {
        for (let i = begin; i < begin + blockSize; i++) {
          const size = Math.abs(weights[i * n + column] ?? 0) * most;
          const at = row * n + column;
          bounds[at] = (bounds[at] ?? 0) + size * (share + 1e-6);
        }
      }
    }
  }
  return bounds;
}
