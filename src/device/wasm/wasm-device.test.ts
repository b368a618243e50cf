import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PrimitiveFunction, TensorType } from '../../core/contracts/primitive-function.ts';
import { seededRandom } from '../../core/random.ts';
import type { Device, DeviceTensor, Kernel, PrepackingBudget } from '../device.ts';
import { createWasmDevice } from './wasm-device.ts';

let device: Device;
beforeEach(() => {
  device = createWasmDevice();
});
afterEach(() => device.destroy());

const matrix = (...shape: readonly (number | string)[]): TensorType => ({
  dtype: 'float32',
  shape,
});

/** A primitive that multiplies a by b. */
function product(a: TensorType, b: TensorType, y: TensorType): PrimitiveFunction {
  const body = [{ op: 'matmul', inputs: [0, 1], attributes: {} }];
  return { name: 'product', params: [a, b], body, results: [{ value: 2, type: y }] };
}

async function kernelOf(
  primitive: PrimitiveFunction,
  prepacking?: PrepackingBudget,
): Promise<Kernel> {
  const kernel = (await device.prepare([primitive], { prepacking })).get(primitive.name);
  if (kernel === undefined) throw new Error('no kernel');
  return kernel;
}

function tensor(
  shape: readonly number[],
  { values = [], isReadOnly = false }: { values?: readonly number[]; isReadOnly?: boolean } = {},
): DeviceTensor {
  const count = shape.reduce((product_, size) => product_ * size, 1);
  const buffer = device.createBuffer(count * 4);
  device.write(buffer, 0, new Uint8Array(Float32Array.from(values).buffer));
  return { buffer, byteOffset: 0, dtype: 'float32', shape, isReadOnly };
}

async function elementsOf({ buffer }: DeviceTensor): Promise<number[]> {
  const [bytes] = await device.read([{ buffer, byteOffset: 0, byteLength: buffer.byteLength }]);
  return [...new Float32Array(bytes?.buffer ?? new ArrayBuffer(0))];
}

const random = (count: number, seed: number): number[] => {
  const next = seededRandom(seed);
  return Array.from({ length: count }, () => Math.fround(next() - 0.5));
};

/** A budget that counts what is taken. */
function budgetOf(limit: number): PrepackingBudget & { taken: number } {
  return {
    taken: 0,
    reserve(byteLength) {
      if (this.taken + byteLength > limit) return false;
      this.taken += byteLength;
      return true;
    },
  };
}

const identity = Array.from({ length: 64 }, (_, i) => (i % 9 === 0 ? 1 : 0));

test('a constant is packed once, and what was packed goes with it', async () => {
  const type = matrix(8, 8);
  const budget = budgetOf(1024);
  const kernel = await kernelOf(product(type, type, type), budget);
  const [a, y] = [tensor([8, 8], { values: random(64, 1) }), tensor([8, 8])];
  const b = tensor([8, 8], { values: identity, isReadOnly: true });
  const before = device.counters();
  kernel.launch([a, b, y]);
  const made = device.counters();
  expect(made.buffersLive).toBeGreaterThan(before.buffersLive);
  // The write is no longer seen: `b` is declared constant, so its packed form is read.
  device.write(b.buffer, 0, new Uint8Array(256));
  kernel.launch([a, b, y]);
  expect(await elementsOf(y)).toEqual(await elementsOf(a));
  expect(device.counters().buffersCreated).toBe(made.buffersCreated);
  expect(budget.taken).toBe(256);
  b.buffer.destroy();
  expect(budget.taken).toBe(0);
  // The constant and its panels; temporary memory stays.
  expect(device.counters().buffersLive).toBe(made.buffersLive - 2);
});

test.each([
  { what: 'that is no constant', isReadOnly: false, limit: 1024 },
  { what: 'that the budget has no room for', isReadOnly: true, limit: 255 },
])('an operand $what is packed in each call', async ({ isReadOnly, limit }) => {
  const type = matrix(8, 8);
  const budget = budgetOf(limit);
  const kernel = await kernelOf(product(type, type, type), budget);
  const [a, b, y] = [
    tensor([8, 8], { values: random(64, 1) }),
    tensor([8, 8], { values: identity, isReadOnly }),
    tensor([8, 8]),
  ];
  kernel.launch([a, b, y]);
  expect(await elementsOf(y)).toEqual(await elementsOf(a));
  device.write(b.buffer, 0, new Uint8Array(256));
  kernel.launch([a, b, y]);
  expect(await elementsOf(y)).toEqual(new Array<number>(64).fill(0));
  expect(budget.taken).toBe(0);
});

test('more sizes of a symbol than a kernel keeps code of, in turns', async () => {
  const kernel = await kernelOf(product(matrix('m', 3), matrix(3, 2), matrix('m', 2)));
  const b = tensor([3, 2], { values: [1, 0, 0, 1, 0, 0] });
  for (let round = 0; round < 2; round++) {
    for (let m = 1; m <= 12; m++) {
      const values = random(m * 3, m);
      const [a, y] = [tensor([m, 3], { values }), tensor([m, 2])];
      kernel.launch([a, b, y]);
      expect(await elementsOf(y)).toEqual(values.filter((_, i) => i % 3 < 2));
    }
  }
});

test('products deeper than a tile add up their parts', async () => {
  const k = 1300;
  const kernel = await kernelOf(product(matrix(7, k), matrix(k, 11), matrix(7, 11)));
  const [values, others] = [random(7 * k, 3), random(k * 11, 4)];
  const [a, b, y] = [
    tensor([7, k], { values }),
    tensor([k, 11], { values: others }),
    tensor([7, 11]),
  ];
  kernel.launch([a, b, y]);
  const sums = Array.from({ length: 77 }, (_, i) => {
    const [row, column] = [Math.floor(i / 11), i % 11];
    let sum = 0;
    for (let j = 0; j < k; j++) sum += (values[row * k + j] ?? 0) * (others[j * 11 + column] ?? 0);
    return sum;
  });
  for (const [i, actual] of (await elementsOf(y)).entries()) {
    expect(Math.abs(actual - (sums[i] ?? 0))).toBeLessThan(1e-4);
  }
});

test.each([1, 2, 3, 5])(
  '%i rows times a large constant, whether it is packed or not',
  async (m) => {
    const [k, n] = [517, 131];
    const primitive = product(matrix(m, k), matrix(k, n), matrix(m, n));
    const values = random(m * k, 5);
    const others = random(k * n, 6);
    const [a, packed, plain] = [
      tensor([m, k], { values }),
      tensor([m, n], { values: random(m * n, 7) }),
      tensor([m, n]),
    ];
    const b = tensor([k, n], { values: others, isReadOnly: true });
    const budget = budgetOf(2 ** 20);
    (await kernelOf(primitive, budget)).launch([a, b, packed]);
    (await kernelOf(primitive)).launch([a, b, plain]);
    expect(budget.taken).toBe(136 * k * 4);
    const expected = await elementsOf(plain);
    for (const [i, actual] of (await elementsOf(packed)).entries()) {
      expect(Math.abs(actual - (expected[i] ?? 0))).toBeLessThan(2e-5);
    }
    let sum = 0;
    for (let j = 0; j < k; j++) sum += (values[j] ?? 0) * (others[j * n + 130] ?? 0);
    expect(Math.abs((expected[130] ?? 0) - sum)).toBeLessThan(2e-5);
  },
);

test('transformed weights of a convolution give the same, kept or not', async () => {
  const types = [matrix(1, 8, 16, 16), matrix(5, 8, 3, 3), matrix(1, 5, 16, 16)] as const;
  const attributes = { strides: [1, 1], dilations: [1, 1], pads: [1, 1, 1, 1], groups: 1 };
  const primitive: PrimitiveFunction = {
    name: 'convolution',
    params: types.slice(0, 2),
    body: [{ op: 'conv2d', inputs: [0, 1], attributes }],
    results: [{ value: 2, type: types[2] }],
  };
  const x = tensor([1, 8, 16, 16], { values: random(8 * 256, 8) });
  const w = tensor([5, 8, 3, 3], { values: random(5 * 72, 9), isReadOnly: true });
  const [kept, made] = [tensor([1, 5, 16, 16]), tensor([1, 5, 16, 16])];
  const budget = budgetOf(2 ** 20);
  (await kernelOf(primitive, budget)).launch([x, w, kept]);
  (await kernelOf(primitive)).launch([x, w, made]);
  // A matrix of two panels for each of 36 points, and a line of the cache behind it.
  expect(budget.taken).toBe(36 * (2 * 4 * 8 * 4 + 64));
  expect(await elementsOf(kept)).toEqual(await elementsOf(made));
  expect((await elementsOf(kept)).some((value) => value !== 0)).toBe(true);
});

test('steps that run references are told of, and only those', async () => {
  const unary = (op: string, dtype: 'float32' | 'float64'): PrimitiveFunction => {
    const type = { dtype, shape: [4] };
    const body = [{ op, inputs: [0], attributes: {} }];
    return { name: `${op} ${dtype}`, params: [type], body, results: [{ value: 1, type }] };
  };
  const primitives = [unary('sin', 'float32'), unary('exp', 'float64'), unary('sin', 'float64')];
  const { references } = await device.prepare(primitives);
  expect(references).toEqual([{ primitive: 'sin float64', label: 'sin' }]);
});

test('a step without code runs its reference where only a launch tells sizes, beside one that has code', async () => {
  const softmax = (dtype: 'float32' | 'float64'): PrimitiveFunction => {
    const type = { dtype, shape: ['n', 2] };
    const body = [{ op: 'softmax', inputs: [0], attributes: { axis: -1 } }];
    return { name: dtype, params: [type], body, results: [{ value: 1, type }] };
  };
  const kernels = await device.prepare([softmax('float32'), softmax('float64')]);
  const wide = (): DeviceTensor => {
    const buffer = device.createBuffer(3 * 2 * 8);
    return { buffer, byteOffset: 0, dtype: 'float64', shape: [3, 2], isReadOnly: false };
  };
  const [x, y] = [wide(), wide()];
  kernels.get('float64')?.launch([x, y]);
  const [bytes] = await device.read([{ buffer: y.buffer, byteOffset: 0, byteLength: 48 }]);
  expect([...new Float64Array(bytes?.buffer ?? new ArrayBuffer(0))]).toEqual(Array(6).fill(0.5));
  const [from, to] = [tensor([3, 2]), tensor([3, 2])];
  kernels.get('float32')?.launch([from, to]);
  expect(await elementsOf(to)).toEqual(Array(6).fill(0.5));
});

test('a product that is the result but for a sum lies there, also where an argument is', async () => {
  const type = matrix(2, 2);
  const kernel = await kernelOf({
    name: 'product_add',
    params: [type, type],
    body: [
      { op: 'matmul', inputs: [0, 0], attributes: {} },
      { op: 'add', inputs: [2, 1], attributes: {} },
    ],
    results: [{ value: 3, type }],
  });
  const [a, b] = [
    tensor([2, 2], { values: [1, 2, 3, 4] }),
    tensor([2, 2], { values: [1, 1, 1, 1] }),
  ];
  const apart = tensor([2, 2]);
  kernel.launch([a, b, apart]);
  expect(await elementsOf(apart)).toEqual([8, 11, 16, 23]);
  kernel.launch([a, b, b]);
  expect(await elementsOf(b)).toEqual([8, 11, 16, 23]);
});
