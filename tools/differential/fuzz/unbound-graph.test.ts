import { expect, test } from 'vitest';
import type { Executable } from '../../../src/bytecode/file/executable-file.ts';
import type { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import type { Device } from '../../../src/device/device.ts';
import { createHostDevice } from '../../../src/device/host/host-device.ts';
import { DEVICES } from '../../../src/device/testing/node-devices.ts';
import { compileOnnx } from '../../../src/frontend/onnx/compile-onnx.ts';
import { VirtualMachine } from '../../../src/runtime/virtual-machine.ts';
import { inTier } from '../../../src/testing/tier.ts';
import { tensorsOf } from './run-graph.ts';
import { SIZES, unboundGraph } from './unbound-graph.ts';

/** Seed 5053 adds a computed size to a number. */
const FIRST_SEED = 5050;
const COUNT = inTier({ quick: 6, long: 200 });

test(`${COUNT} graphs whose sizes no one binds give what the graph of each size gives`, async () => {
  const devices = await Promise.all(DEVICES.map(({ open }) => open()));
  const host = createHostDevice();
  for (let seed = FIRST_SEED; seed < FIRST_SEED + COUNT; seed++) {
    const { bytes, text, inputs, shapes } = unboundGraph(seed);
    const unbound = compileOnnx(bytes);
    const [found, expected] = await Promise.all([
      Promise.all(devices.map((device) => run(unbound, device, inputs))),
      Promise.all(
        SIZES.map((dims, i) => run(compileOnnx(bytes, { dims }), host, [inputs[i] ?? []])),
      ),
    ]);
    for (const [i, sizes] of SIZES.entries()) {
      const where = `seed ${seed}, ${JSON.stringify(sizes)}\n${text}`;
      const [bound = []] = expected[i] ?? [];
      expect(
        bound.map(({ shape }) => shape),
        where,
      ).toEqual(shapes[i]);
      for (const [k, { title }] of DEVICES.entries()) {
        expect(found[k]?.[i], `${title}, ${where}`).toEqual(bound);
      }
    }
  }
  for (const device of devices) device.destroy();
}, 900_000);

/** The outputs of one machine that is called with the arguments of each run in turn. */
async function run(
  executable: Executable,
  device: Device,
  runs: readonly (readonly HostTensor[])[],
) {
  const vm = await VirtualMachine.create(executable, { devices: [device, createHostDevice()] });
  const results: { readonly shape: readonly number[]; readonly elements: readonly number[] }[][] =
    [];
  try {
    for (const inputs of runs) {
      const result = await vm.get('main')(...inputs);
      const read = await vm.read(tensorsOf(result));
      vm.release(result);
      // Zeros of either sign are equal.
      results.push(
        read.map(({ shape, data }) => ({
          shape,
          elements: Array.from(data as ArrayLike<number>, (element) => element + 0),
        })),
      );
    }
  } finally {
    vm.dispose();
  }
  return results;
}
