import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import type { Attributes, PrimitiveFunction } from '../core/contracts/primitive-function.ts';
import { seededRandom } from '../core/random.ts';
import { CORE_OPERATORS } from '../ops/tables/core-operators.ts';
import { inferConcreteCall } from '../ops/infer-concrete-call.ts';
import type { Device } from './device.ts';
import { allocateTensor, downloadTensors, uploadTensor } from './testing/device-tensors.ts';
import { openNodeGpu, WASM } from './testing/node-devices.ts';

/** The bound of docs/numbers.md, relative to the sum of the magnitudes. */
const bound = (count: number): number => (128 + Math.log2(count / 128)) * 2 ** -24;

const tenths = (count: number): Float32Array<ArrayBuffer> => new Float32Array(count).fill(0.1);
const TENTH = Math.fround(0.1);

function positives(count: number): Float32Array<ArrayBuffer> {
  const random = seededRandom(count);
  return Float32Array.from({ length: count }, () => random());
}

const total = (values: Float32Array): number => values.reduce((sum, value) => sum + value, 0);

interface SumCase {
  readonly title: string;
  readonly op: string;
  readonly inputs: readonly HostTensor[];
  readonly attributes?: Attributes;
  /** Elements that are added up. */
  readonly count: number;
  /** The largest relative error of the results. */
  readonly error: (results: Float32Array) => number;
}

const tensor = (shape: readonly number[], data: Float32Array<ArrayBuffer>): HostTensor =>
  new HostTensor('float32', shape, data);

const relative =
  (expected: number) =>
  (results: Float32Array): number =>
    Math.max(...results.subarray(0, 64).map((value) => Math.abs(value / expected - 1)));

function product(m: number, k: number, n: number): SumCase {
  const row = positives(k);
  const a = Float32Array.from({ length: m * k }, (_, i) => row[i % k] ?? 0);
  return {
    title: `product ${m} x ${k} x ${n}`,
    op: 'matmul',
    inputs: [tensor([m, k], a), tensor([k, n], new Float32Array(k * n).fill(1))],
    count: k,
    error: relative(total(row)),
  };
}

function rows(op: string, count: number, expected: number): SumCase {
  const attributes = op.includes('soft') ? { axis: 0 } : { epsilon: 0 };
  return {
    title: `${op} of ${count}`,
    op,
    inputs: [tensor([count], tenths(count))],
    attributes,
    count,
    error: relative(expected),
  };
}

/** Sums of the first elements, all of them positive. */
function runningError(x: Float32Array, results: Float32Array): number {
  let [sum, worst] = [0, 0];
  for (const [i, value] of x.entries()) {
    sum += value;
    worst = Math.max(worst, Math.abs((results[i] ?? NaN) / sum - 1));
  }
  return worst;
}

const many = positives(10_000_000);
const some = positives(200_000);

const CASES: readonly SumCase[] = [
  {
    title: 'sum of ten millions',
    op: 'reduce_sum',
    inputs: [tensor([many.length], many)],
    attributes: { axes: [0] },
    count: many.length,
    error: relative(total(many)),
  },
  {
    title: 'mean of 4,000,000 tenths',
    op: 'reduce_mean',
    inputs: [tensor([4_000_000], tenths(4_000_000))],
    attributes: { axes: [0] },
    count: 4_000_000,
    error: relative(TENTH),
  },
  {
    title: 'sums of columns',
    op: 'reduce_sum',
    inputs: [tensor([200_000, 4], tenths(800_000))],
    attributes: { axes: [0] },
    count: 200_000,
    error: relative(200_000 * TENTH),
  },
  {
    title: 'mean over short runs',
    op: 'reduce_mean',
    inputs: [tensor([50_000, 2, 3], tenths(300_000))],
    attributes: { axes: [0, 2] },
    count: 150_000,
    error: relative(TENTH),
  },
  {
    title: 'global pool of 1,024 x 1,024',
    op: 'global_avg_pool',
    inputs: [tensor([1, 1, 1024, 1024], tenths(1024 * 1024))],
    count: 1024 * 1024,
    error: relative(TENTH),
  },
  {
    title: 'running sum',
    op: 'cumulative',
    inputs: [tensor([some.length], some)],
    attributes: { axis: 0 },
    count: some.length,
    error: (results) => runningError(some, results),
  },
  product(1, 1_000_000, 1),
  product(1, 20_000, 130),
  product(3, 10_001, 133),
  product(9, 20_001, 17),
  rows('softmax', 1_000_000, 1e-6),
  rows('softmax', 50_000, 2e-5),
  rows('rms_norm', 100_000, 1),
  rows('rms_norm', 10_001, 1),
];

/** The call of an operator as a primitive. */
function primitiveOf({ op, inputs, attributes = {} }: SumCase): PrimitiveFunction {
  const params = inputs.map(({ dtype, shape }) => ({ dtype, shape }));
  const call = inferConcreteCall(CORE_OPERATORS.require(op), params, attributes);
  return {
    name: op,
    params,
    body: [{ op, inputs: params.map((_, i) => i), attributes: call.attributes }],
    results: [{ value: params.length, type: call.output }],
  };
}

describe.each([
  ['wasm', WASM.open],
  ['WebGPU as on software adapters', () => openNodeGpu('software')],
  ['WebGPU as on integrated adapters', () => openNodeGpu('integrated')],
] as const)('long sums on %s', (title, open) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  // SwiftShader computes kernels for real adapters slowly: those have all but the largest cases.
  const most = title.includes('integrated') ? 300_000 : Infinity;
  test.each(CASES.filter(({ count }) => count <= most))('$title', async (sumCase) => {
    const primitive = primitiveOf(sumCase);
    const kernel = (await device.prepare([primitive])).get(primitive.name);
    const [result] = primitive.results;
    const type = result && { ...result.type, shape: result.type.shape.map(Number) };
    const output = allocateTensor(device, type ?? { dtype: 'float32', shape: [] });
    const tensors = [...sumCase.inputs.map((input) => uploadTensor(device, input)), output];
    kernel?.launch(tensors);
    const [results] = await downloadTensors(device, [output]);
    for (const { buffer } of tensors) buffer.destroy();
    const error = sumCase.error(new Float32Array(results?.data.buffer ?? new ArrayBuffer(0)));
    expect(error).toBeLessThan(bound(sumCase.count));
  });
});
