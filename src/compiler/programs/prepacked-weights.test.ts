import { afterEach, beforeEach, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { createWebGpuDevice } from '../../device/webgpu/index.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import type { MachineOptions } from '../../runtime/link/load-machine.ts';
import { TensorValue } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { firstDifference } from '../../core/tensor/all-close.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { compile } from '../compile.ts';
import { parseModule } from '../ir/text/parse.ts';

const CHANNELS = 32;
const WEIGHT_BYTES = CHANNELS * CHANNELS * 9 * 4;
/** Bytes of the weights of one convolution once prepacked: 36 numbers in place of 3 x 3. */
const PREPACKED_BYTES = WEIGHT_BYTES * 4;

/** Two convolutions that run as one primitive, of different weights; the batch has no fixed size. */
const EXECUTABLE = compile(
  parseModule(`def @main(%x: Tensor[(n, ${CHANNELS}, 24, 24), float32]) {
  let %y = relu(conv2d(%x, meta[0], pads=[1, 1, 1, 1]));
  relu(conv2d(%y, meta[1], pads=[1, 1, 1, 1]))
}
${[0, 1].map((index) => `meta[${index}]: ${weightsText(index)}`).join('\n')}
`),
);

function weightsText(seed: number): string {
  const elements = sequence(CHANNELS * CHANNELS * 9, seed + 3).map((x) => x / 8);
  const text = Buffer.from(new Float32Array(elements).buffer).toString('base64');
  return `Tensor[(${CHANNELS}, ${CHANNELS}, 3, 3), float32] = base64 "${text}"`;
}

/** Numbers from -1 to 1 without a pattern. */
function sequence(length: number, seed: number): number[] {
  return Array.from({ length }, (_, i) => Math.sin((i + 1) * (seed + 0.7)));
}

function batch(size: number, seed: number): HostTensor {
  const count = size * CHANNELS * 24 * 24;
  return HostTensor.from('float32', [size, CHANNELS, 24, 24], sequence(count, seed));
}

let device: Device;
const machines: VirtualMachine[] = [];

beforeEach(async () => {
  device = await createWebGpuDevice({ operators: CORE_OPERATORS, gpu: await sharedNodeGpu() });
});

afterEach(() => {
  for (const machine of machines.splice(0)) machine.dispose();
  device.destroy();
});

async function load(options: Partial<MachineOptions> = {}): Promise<VirtualMachine> {
  const machine = await VirtualMachine.create(EXECUTABLE, {
    devices: [device, createHostDevice()],
    ...options,
  });
  machines.push(machine);
  return machine;
}

async function run(machine: VirtualMachine, x: HostTensor): Promise<HostTensor> {
  const value = await machine.invoke('main', [x]);
  if (!(value instanceof TensorValue)) throw new Error('the result is no tensor');
  const [result] = await machine.read([value]);
  machine.release(value);
  if (result === undefined) throw new Error('nothing was read');
  return result;
}

/** How many launches of a call transform weights. */
async function transforms(machine: VirtualMachine, x: HostTensor): Promise<number> {
  const { result, timings } = await machine.profile('main', [x]);
  machine.release(result);
  return timings.filter(({ label }) => label === 'winograd-weights').length;
}

test('weights are transformed in the first call, for all sizes', async () => {
  const machine = await load({ prepackedBytes: 2 * PREPACKED_BYTES });
  const counts: number[] = [];
  for (const size of [1, 1, 2, 3, 1]) counts.push(await transforms(machine, batch(size, 1)));
  expect(counts).toEqual([2, 0, 0, 0, 0]);
});

test('without room they are transformed in every call, and by default they may take a sixteenth', async () => {
  const [none, one, byDefault] = [
    await load({ prepackedBytes: 0 }),
    await load({ prepackedBytes: 2 * PREPACKED_BYTES - 4 }),
    await load(),
  ];
  const x = batch(1, 1);
  for (const [machine, first, later] of [
    [none, 2, 2],
    [one, 2, 1],
    [byDefault, 2, 2],
  ] as const) {
    expect(await transforms(machine, x)).toBe(first);
    expect(await transforms(machine, x)).toBe(later);
  }
});

test('results are the same, also of calls that are replayed', async () => {
  const prepacked = await load({ prepackedBytes: 2 * PREPACKED_BYTES });
  const plain = await load({ prepackedBytes: 0, replay: false });
  const host = await VirtualMachine.create(EXECUTABLE, { devices: [createHostDevice()] });
  machines.push(host);
  for (const [size, seed] of [
    [1, 1],
    [1, 2],
    [1, 3],
    [2, 1],
    [1, 4],
  ] as const) {
    const x = batch(size, seed);
    const result = await run(prepacked, x);
    expect(result.data).toEqual((await run(plain, x)).data);
    if (seed > 1) continue;
    const tolerance = { rtol: 1e-3, atol: 1e-3 };
    expect(firstDifference(result, await run(host, x), tolerance)).toBeUndefined();
  }
  expect(prepacked.replays().replayed).toBeGreaterThan(0);
});

test('the report counts them and scratch; disposing frees them', async () => {
  const machine = await load({ prepackedBytes: 2 * PREPACKED_BYTES });
  const before = machine.memory();
  expect(before.constantBytes).toBe(2 * WEIGHT_BYTES);
  await run(machine, batch(1, 1));
  const { constantBytes, liveBytes, pooledBytes, scratchBytes, peakBytes } = machine.memory();
  expect(constantBytes).toBe(2 * WEIGHT_BYTES + 2 * PREPACKED_BYTES);
  expect(scratchBytes).toBeGreaterThan(0);
  expect(peakBytes).toBe(constantBytes + liveBytes + pooledBytes + scratchBytes);
  expect(device.counters().bytesLive).toBe(peakBytes);
  machine.dispose();
  expect(device.counters().bytesLive).toBe(0);
});

test('within the budget of the machine only what fits is prepacked', async () => {
  const measured = await load({ prepackedBytes: 0 });
  await run(measured, batch(1, 1));
  const { constantBytes, liveBytes, pooledBytes } = measured.memory();
  const byteBudget = constantBytes + liveBytes + pooledBytes + PREPACKED_BYTES;
  const machine = await load({ prepackedBytes: 2 * PREPACKED_BYTES, byteBudget });
  await run(machine, batch(1, 1));
  expect(machine.memory().constantBytes).toBeLessThanOrEqual(byteBudget);
  expect(await transforms(machine, batch(1, 2))).toBeGreaterThan(0);
});
