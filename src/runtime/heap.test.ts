import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ExecBuilder } from '../bytecode/index.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import type { PrimitiveFunction, TensorType } from '../core/contracts/primitive-function.ts';
import type { Device } from '../device/device.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { createWebGpuDevice } from '../device/webgpu/index.ts';
import { CORE_OPERATORS } from '../ops/tables/core-operators.ts';
import { nodeGpu } from '../testing/node-gpu.ts';
import { TensorValue } from './values/value.ts';
import { VirtualMachine } from './virtual-machine.ts';

const LENGTH = 300;
const RUNS = 1000;
/** Objects that are held grow in each round; code and what it knows of types settle in the first ones. */
const MAX_ROUNDS = 20;
/** How much the heap may grow in a round: a run that leaves an object behind leaves more. */
const SLACK_BYTES = 32 * RUNS;
/** A heap that shrinks by less at a time is still. */
const STILL_BYTES = 1000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** A program whose `main(x)` is x + x. */
function doubling() {
  const type: TensorType = { dtype: 'float32', shape: [LENGTH] };
  const add: PrimitiveFunction = {
    name: 'add',
    params: [type, type],
    body: [{ op: 'add', inputs: [0, 1], attributes: {} }],
    results: [{ value: 2, type }],
  };
  const b = new ExecBuilder();
  b.primitive(add);
  const f = b.function('main', ['x']);
  const storage = f.call('vm.builtin.alloc_storage', [LENGTH * 4, 0]);
  const shape = b.shape([LENGTH]);
  const sum = f.call('vm.builtin.alloc_tensor', [storage, 0, shape, b.dtype('float32')]);
  f.call('add', [f.param('x'), f.param('x'), sum], { into: f.void });
  f.ret(sum);
  return b.build();
}

/** Bytes on the heap once nothing is under way and garbage is gone, that of other tests too. */
async function usedBytes(): Promise<number> {
  let used = Number.POSITIVE_INFINITY;
  for (let quiet = 0; quiet < 3; quiet++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    collectGarbage();
    const { used_heap_size: now } = getHeapStatistics();
    if (now < used - STILL_BYTES) quiet = 0;
    used = now;
  }
  return used;
}

/**
 * Bytes that the runs of a round leave on the heap, of the first round that leaves little or else of the last. A round in
 * which more goes tells nothing: that was of others.
 */
async function growthOf(run: () => Promise<unknown>): Promise<number> {
  let growth = Number.POSITIVE_INFINITY;
  let before = await usedBytes();
  for (let round = 0; round < MAX_ROUNDS && Math.abs(growth) >= SLACK_BYTES; round++) {
    for (let i = 0; i < RUNS; i++) await run();
    const after = await usedBytes();
    growth = after - before;
    before = after;
  }
  return growth;
}

let gpuDevice: Device;
beforeAll(async () => {
  gpuDevice = await createWebGpuDevice({ gpu: await nodeGpu(), operators: CORE_OPERATORS });
});
afterAll(() => gpuDevice.destroy());

test.each([
  ['replayed', true, true],
  ['interpreted', true, false],
  ['on the host', false, true],
] as const)('a thousand runs leave nothing on the heap: %s', async (_, onGpu, replay) => {
  const host = createHostDevice();
  const devices = onGpu ? [gpuDevice, host] : [host];
  const vm = await VirtualMachine.create(doubling(), { devices, replay });
  const x = new HostTensor('float32', [LENGTH], new Float32Array(LENGTH).fill(1.5));
  let wrong = 0;
  const growth = await growthOf(async () => {
    const sum = await vm.invoke('main', [x]);
    if (!(sum instanceof TensorValue)) throw new Error('no tensor');
    const [read] = await vm.read([sum]);
    vm.release(sum);
    if (read?.elements[LENGTH - 1] !== 3) wrong++;
  });
  expect(wrong).toBe(0);
  expect(growth).toBeLessThan(SLACK_BYTES);
  vm.dispose();
  host.destroy();
});

test('what a run leaves behind would be seen', async () => {
  const left: object[] = [];
  const growth = await growthOf(async () => void left.push({ a: left.length, b: 1, c: 2, d: 3 }));
  expect(growth).toBeGreaterThan(SLACK_BYTES);
  expect(left).toHaveLength(MAX_ROUNDS * RUNS);
});
