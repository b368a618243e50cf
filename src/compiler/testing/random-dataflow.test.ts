import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { HOST, WEBGPU } from '../../device/testing/node-devices.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { AdtValue, TensorValue } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { firstDifference } from '../../core/tensor/all-close.ts';
import { seededRandom } from '../../core/random.ts';
import { compile, type CompileOptions } from '../compile.ts';
import type { Device } from '../../device/device.ts';
import { printModule } from '../ir/text/print.ts';
import { type RandomDataflow, randomDataflow } from './random-dataflow.ts';

const TOLERANCE = { rtol: 1e-3, atol: 1e-3 };

interface Outcome {
  readonly results: readonly HostTensor[];
  readonly kernelCount: number;
}

async function outcome(
  { module, params }: RandomDataflow,
  devices: readonly Device[],
  options: CompileOptions,
): Promise<Outcome> {
  const random = seededRandom(1);
  const args = params.map(({ type }) => {
    const shape = type?.kind === 'tensor' ? type.shape.map(Number) : [];
    const count = shape.reduce((product, size) => product * size, 1);
    const values = Array.from({ length: count }, () => random() * 2 - 1);
    return HostTensor.from('float32', shape, values);
  });
  const vm = await VirtualMachine.create(compile(module, options), { devices });
  const { result, timings } = await vm.profile('main', args);
  const fields = result instanceof AdtValue ? result.fields : [];
  const results = await vm.read(fields.filter((field) => field instanceof TensorValue));
  vm.release(result);
  vm.dispose();
  return { results, kernelCount: new Set(timings.map(({ primitive }) => primitive)).size };
}

describe.each([
  { ...HOST, count: 40 },
  { ...WEBGPU, count: 8 },
])('random dataflow on $title', ({ open, count }) => {
  test(`${count} programs give with fewer kernels what they give call by call`, async () => {
    const oracle = createHostDevice();
    const device = await open();
    for (let seed = 0; seed < count; seed++) {
      const program = randomDataflow(seededRandom(seed + 1), 12);
      const apart = await outcome(program, [oracle], { without: ['fuse'] });
      const fused = await outcome(program, [device], {});
      const text = `seed ${seed}\n${printModule(program.module)}`;
      expect([fused.results.length, apart.results.length], text).toEqual([2, 2]);
      for (const [i, tensor] of fused.results.entries()) {
        const expected = apart.results[i];
        expect(expected && firstDifference(tensor, expected, TOLERANCE), text).toBeUndefined();
      }
      expect(fused.kernelCount, text).toBeLessThanOrEqual(apart.kernelCount);
    }
    device.destroy();
  });
});

test('40 programs on two devices give what they give on one', async () => {
  const both = [createHostDevice(), createHostDevice()];
  // One is fast at arithmetic, the other at memory, and copies cost next to nothing.
  const costs = { roundTripMs: 1e-6, launchMs: 1e-6 };
  const rates = {
    webgpu: { ...costs, operationsPerMs: 1e9, bytesPerMs: 1e6 },
    wasm: { ...costs, operationsPerMs: 1e6, bytesPerMs: 1e9 },
  };
  const placed = new Set<string>();
  for (let seed = 0; seed < 40; seed++) {
    const program = randomDataflow(seededRandom(seed + 1), 12);
    const one = await outcome(program, both.slice(0, 1), {});
    const { results } = await outcome(program, both, {
      devices: ['webgpu', 'wasm'],
      rates,
      onPlacement: ({ reason }) => placed.add(reason),
    });
    expect(results, `seed ${seed}\n${printModule(program.module)}`).toEqual(one.results);
  }
  expect(placed.size).toBe(1);
  for (const device of both) device.destroy();
});
