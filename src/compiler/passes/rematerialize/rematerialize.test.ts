import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../../core/random.ts';
import { createHostDevice } from '../../../device/host/host-device.ts';
import { AdtValue, TensorValue } from '../../../runtime/values/value.ts';
import { VirtualMachine } from '../../../runtime/virtual-machine.ts';
import { compile, type CompileOptions } from '../../compile.ts';
import type { Module } from '../../ir/expr.ts';
import { parseModule } from '../../ir/text/parse.ts';
import type { FunctionMemoryPlan } from '../plan-memory/memory-report.ts';

const WIDTH = 8;
const BATCH = 128;
/** Bytes of what a layer gives. */
const LAYER = BATCH * WIDTH * 4;

/** A step of gradient descent on a network of so many layers, every fourth of which adds what went into it. */
function deepNetwork(layers: number): string {
  const names = Array.from({ length: layers }, (_, i) => `%w${i}`);
  const weights = names.map((name) => `${name}: Tensor[(${WIDTH}, ${WIDTH}), float32]`);
  const x = `%x: Tensor[(${BATCH}, ${WIDTH}), float32]`;
  const lines = names.map((weight, i) => {
    const [before, after] = [i === 0 ? '%x' : `%h${i - 1}`, `%h${i}`];
    const layer = `tanh(matmul(${before}, ${weight}))`;
    return `${after} = ${i % 4 === 3 ? `add(${before}, ${layer})` : layer};`;
  });
  const last = `%h${layers - 1}`;
  return `def @loss(${weights.join(', ')}, ${x}) {
    ${lines.join('\n    ')}
    reduce_mean(mul(${last}, ${last}))
  }
  def @main(${weights.join(', ')}, ${x}) {
    let %r = gradient(@loss)(${names.join(', ')}, %x);
    (%r.0, ${names.map((name, i) => `sub(${name}, mul(0.1f, %r.1.${i}))`).join(', ')})
  }`;
}

/** Steps that read what came just before and what came at any time before. */
function randomProgram(random: () => number, steps: number): string {
  const lines = Array.from({ length: steps }, (_, i) => {
    const [near, far] = [i, Math.floor(random() * (i + 1))];
    const call = random() < 0.5 ? 'add' : 'mul';
    return `%v${i + 1} = softmax(${call}(%v${near}, tanh(%v${far})), axis=${Math.floor(random() * 2)});`;
  });
  return `def @main(%v0: Tensor[(16, 16), float32]) {
    ${lines.join('\n    ')}
    (%v${steps}, reduce_sum(%v${Math.floor(steps / 2)}))
  }`;
}

function planOf(module: Module, options: CompileOptions = {}): FunctionMemoryPlan {
  let plans: readonly FunctionMemoryPlan[] = [];
  compile(module, { ...options, onMemoryPlan: ({ functions }) => (plans = functions) });
  const plan = plans.find(({ name }) => name === 'main');
  if (plan === undefined) throw new Error('no plan');
  return plan;
}

async function results(module: Module, options: CompileOptions): Promise<readonly HostTensor[]> {
  const random = seededRandom(5);
  const params = module.functions.get('main')?.params ?? [];
  const args = params.map(({ type }) => {
    const shape = type?.kind === 'tensor' ? type.shape.map(Number) : [];
    const length = shape.reduce((product, size) => product * size, 1);
    return HostTensor.from(
      'float32',
      shape,
      Array.from({ length }, () => random() - 0.5),
    );
  });
  const machine = await VirtualMachine.create(compile(module, options), {
    devices: [createHostDevice()],
  });
  const value = await machine.get('main')(...args);
  const fields = value instanceof AdtValue ? value.fields : [value];
  const tensors = await machine.read(fields.filter((field) => field instanceof TensorValue));
  machine.dispose();
  return tensors;
}

describe('a network of 32 layers', () => {
  const module = parseModule(deepNetwork(32));
  const { plannedPeakBytes } = planOf(module);

  test('keeps what all layers give, without a budget', () => {
    expect(plannedPeakBytes).toBeGreaterThan(32 * LAYER);
  });

  test('stays within the budget, down to some twice the root of its layers', () => {
    for (const layers of [24, 14]) {
      const memoryBudget = layers * LAYER;
      const plan = planOf(module, { memoryBudget });
      expect(plan.plannedPeakBytes).toBeLessThanOrEqual(memoryBudget);
    }
  });

  test('computes no more again than a smaller budget needs', () => {
    const tensors = [32, 18, 14].map(
      (layers) => planOf(module, { memoryBudget: layers * LAYER }).tensors,
    );
    expect(tensors).toEqual(tensors.toSorted((a, b) => a - b));
    expect(tensors.at(-1)).toBeLessThan(2 * planOf(module).tensors);
  });

  test('says what the least is', () => {
    const compiled = () => planOf(module, { memoryBudget: 4 * LAYER });
    expect(compiled).toThrow(
      /^memoryBudget: @main: got 16384 bytes, expected at least \d+ bytes, the least that was found for this function\. Raise/,
    );
  });
});

test('a budget changes no result, and one that is large enough not a byte', async () => {
  const module = parseModule(deepNetwork(8));
  const { plannedPeakBytes } = planOf(module);
  const given = await results(module, {});
  const memoryBudget = Math.floor(plannedPeakBytes / 3);
  expect(planOf(module, { memoryBudget }).plannedPeakBytes).toBeLessThanOrEqual(memoryBudget);
  expect(await results(module, { memoryBudget })).toEqual(given);
  compile(module, { memoryBudget, verify: true });
  const bytes = compile(module, { memoryBudget: plannedPeakBytes }).toBytes();
  expect(bytes).toEqual(compile(module).toBytes());
});

test('random programs compute the same in the least memory that is found', async () => {
  let smaller = 0;
  for (let seed = 1; seed <= 8; seed++) {
    const module = parseModule(randomProgram(seededRandom(seed), 20));
    const memoryBudget = leastBudget(module);
    const { plannedPeakBytes } = planOf(module, { memoryBudget });
    expect(plannedPeakBytes).toBeLessThanOrEqual(memoryBudget);
    if (memoryBudget < planOf(module).plannedPeakBytes) smaller++;
    expect(await results(module, { memoryBudget })).toEqual(await results(module, {}));
  }
  expect(smaller).toBeGreaterThan(2);
});

/** The budget that the complaint about one of a byte names. */
function leastBudget(module: Module): number {
  try {
    compile(module, { memoryBudget: 1 });
  } catch (error) {
    const [, bytes] = /expected at least (\d+) bytes/.exec(String(error)) ?? [];
    return Number(bytes);
  }
  throw new Error('a byte was enough');
}

test('sizes that have no numbers are not counted, and the warning says so', () => {
  const module = parseModule(`def @main(%x: Tensor[(n, 4), float32]) {
    softmax(softmax(%x, axis=0), axis=1)
  }`);
  const warnings: string[] = [];
  compile(module, { memoryBudget: 64, onWarning: (message) => warnings.push(message) });
  expect(warnings).toEqual([
    'memoryBudget: @main: 2 tensor(s) of sizes without numbers or bounds do not count.',
  ]);
});

test.each([0, -1, 1.5, Number.NaN])('%d is no budget', (memoryBudget) => {
  const module = parseModule('def @main(%x: Tensor[(4,), float32]) { exp(%x) }');
  expect(() => compile(module, { memoryBudget })).toThrow(
    `compile: got memoryBudget ${memoryBudget}, expected a number of bytes`,
  );
});
