import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { DEVICES } from '../../device/testing/node-devices.ts';
import type { Device } from '../../device/device.ts';
import { firstDifference } from '../../core/tensor/all-close.ts';
import { TensorValue } from '../../runtime/values/value.ts';
import { evaluateModule, type ReferenceValue } from '../evaluation/evaluate-module.ts';
import { parseModule } from '../ir/text/parse.ts';
import { f32, type LoadedProgram, loadProgram } from '../testing/load-program.ts';

/** The host, and WebGPU as on software adapters. */

const TEXT = readFileSync(new URL('memory.ir', import.meta.url), 'utf8');
const MODULE = parseModule(TEXT);
const X = f32([2, 2], 1, 3, -2, 0.5);

/** Calls that use memory in every way in which a plan could go wrong. */
const CALLS: readonly (readonly [string, ...(number | HostTensor)[]])[] = [
  ['around', 1, X],
  ['around', 0, X],
  ['both', 1, X],
  ['both', 0, X],
  ['captured', X],
  ['tuple', 1, X],
  ['tuple', 0, X],
  ...[0, 1].flatMap((c) => [0, 1].map((d) => ['nested', c, d, X] as const)),
  ['view', X],
  ['passed', 1, X],
  ['passed', 0, X],
  ['listed', X],
  ['added', 1, X],
  ['added', 0, X],
  ['loop', 3, X],
];

function asTensor(value: ReferenceValue): HostTensor {
  if (value instanceof HostTensor) return value;
  throw new Error('the result is no tensor');
}

describe.each(DEVICES)('memory on $title', ({ open }) => {
  const used: { vm: LoadedProgram['vm']; device: Device }[] = [];

  afterEach(() => {
    for (const { vm, device } of used.splice(0)) {
      vm.dispose();
      device.destroy();
    }
  });

  async function load(): Promise<LoadedProgram> {
    const program = await loadProgram(TEXT, { device: await open() });
    used.push(program);
    return program;
  }

  test('no value is overwritten while something may read it', async () => {
    const { vm } = await load();
    for (const [name, ...args] of CALLS) {
      const result = await vm.get(name)(...args);
      if (!(result instanceof TensorValue)) throw new Error('the result is no tensor');
      const [actual] = await vm.read([result]);
      vm.release(result);
      const expected = asTensor(evaluateModule(MODULE, name, args));
      const difference = actual && firstDifference(actual, expected, { rtol: 1e-4, atol: 1e-5 });
      expect(
        difference,
        `${name}(${args.filter((arg) => typeof arg === 'number').join()})`,
      ).toBeUndefined();
    }
  });

  test('10,000 turns on tensors in flat memory', async () => {
    const { run, vm } = await load();
    const first = await run('loop', 10, X);
    // The memory of an input is another one from the second call on.
    await run('loop', 10, X);
    const { peakBytes } = vm.memory();
    const last = await run('loop', 10_000, X);
    expect(vm.memory().peakBytes).toBe(peakBytes);
    expect(last).not.toEqual(first);
  });
});
