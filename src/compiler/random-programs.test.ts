import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../core/errors.ts';
import type { RatesOfBoth } from '../core/contracts/device-rates.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { AdtValue, TensorValue, type Value } from '../runtime/values/value.ts';
import { VirtualMachine } from '../runtime/virtual-machine.ts';
import { seededRandom } from '../core/random.ts';
import { compile } from './compile.ts';
import { evaluateModule, type ReferenceValue } from './evaluation/evaluate-module.ts';
import type { Module } from './ir/expr.ts';
import { printModule } from './ir/text/print.ts';
import { placedModule } from './testing/placed-module.ts';
import { randomModule } from './testing/random-module.ts';
import type { Type } from './ir/type.ts';

/** A value of a type with data only; undefined where it has functions. */
function randomValue(type: Type, random: () => number): HostTensor | number | undefined {
  if (type.kind === 'scalar') return Math.floor(random() * 5);
  if (type.kind !== 'tensor') return undefined;
  const shape = type.shape.map((dim) => (typeof dim === 'number' ? dim : 3));
  const count = shape.reduce((product, dim) => product * dim, 1);
  const values = Array.from({ length: count }, () => Math.floor(random() * 4));
  return HostTensor.from(
    type.dtype,
    shape,
    type.dtype === 'bool' ? values.map((v) => v % 2) : values,
  );
}

/** Values as plain data: tensors as lists, data as `[tag, ...fields]`; functions are not compared. */
function plainReference(value: ReferenceValue, module: Module): unknown {
  if (typeof value === 'number') return value;
  if (value instanceof HostTensor) return { shape: value.shape, data: [...value.data].map(Number) };
  if (value.kind === 'function') return 'function';
  const fields = value.fields.map((field) => plainReference(field, module));
  return [value.kind === 'tuple' ? 0 : tagOf(value.name, module), ...fields];
}

function tagOf(name: string, module: Module): number {
  for (const { constructors } of module.types.values()) {
    const tag = constructors.findIndex((constructor) => constructor.name === name);
    if (tag >= 0) return tag;
  }
  throw new Error(name);
}

async function plainValue(vm: VirtualMachine, value: Value): Promise<unknown> {
  if (value instanceof TensorValue) {
    const [tensor] = await vm.read([value]);
    if (tensor === undefined) throw new Error('nothing read');
    return { shape: tensor.shape, data: [...tensor.data].map(Number) };
  }
  if (value instanceof AdtValue) {
    const fields: unknown[] = [];
    for (const field of value.fields) fields.push(await plainValue(vm, field));
    return [value.tag, ...fields];
  }
  return typeof value === 'number' ? value : 'function';
}

type Outcome = 'same' | 'on both' | 'not defined' | 'needs other inputs';

/** One device is fast at arithmetic, the other at memory, and copies cost next to nothing. */
function unlikeRates(random: () => number): RatesOfBoth {
  const both = { roundTripMs: 1e-6, launchMs: 1e-6 };
  return {
    webgpu: { ...both, operationsPerMs: 1e9, bytesPerMs: 1e4 * random() },
    wasm: { ...both, operationsPerMs: 1e4 * random(), bytesPerMs: 1e9 },
  };
}

async function compareRun(seed: number, size: number, isOnBoth = false): Promise<Outcome> {
  const random = seededRandom(seed);
  const module = randomModule({ random, size, annotated: true, recursive: false });
  const params = module.functions.get('main')?.params ?? [];
  const args = params.flatMap(({ type }) => (type ? (randomValue(type, random) ?? []) : []));
  if (args.length < params.length) return 'needs other inputs';
  let reference: ReferenceValue;
  try {
    reference = evaluateModule(module, 'main', args);
  } catch (thrown) {
    // No clause fits, or an integer is divided by zero.
    if (thrown instanceof RuntimeError) return 'not defined';
    throw thrown;
  }
  const placed = isOnBoth
    ? ({ devices: ['webgpu', 'wasm'], rates: unlikeRates(random) } as const)
    : undefined;
  const executable = compile(placedModule(module), { ...placed, verify: true });
  const devices = [createHostDevice(), ...(isOnBoth ? [createHostDevice()] : [])];
  const vm = await VirtualMachine.create(executable, { devices });
  const { liveBytes } = vm.memory();
  const result = await vm.get('main')(...args);
  const plain = await plainValue(vm, result);
  vm.release(result);
  expect(plain, `seed ${seed}\n${printModule(module)}`).toEqual(plainReference(reference, module));
  expect(vm.memory().liveBytes, `seed ${seed}`).toBe(liveBytes);
  vm.dispose();
  for (const device of devices) device.destroy();
  const kinds = new Set(executable.primitives.map(({ device }) => device));
  return kinds.size > 1 ? 'on both' : 'same';
}

describe('random programs, compiled and run, give what the language says', () => {
  test.each([
    ['small', 8, 0],
    ['medium', 25, 1000],
    ['large', 80, 2000],
  ])('%s', async (_, size, first) => {
    const outcomes = new Map<Outcome, number>();
    for (let seed = first; seed < first + 30; seed++) {
      const outcome = await compareRun(seed, size);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    expect(outcomes.get('same')).toBeGreaterThan(8);
  });

  test('on two devices', async () => {
    const outcomes: Outcome[] = [];
    for (let seed = 3000; seed < 3120; seed++) outcomes.push(await compareRun(seed, 40, true));
    expect(outcomes.filter((outcome) => outcome === 'on both').length).toBeGreaterThan(4);
  });
});
