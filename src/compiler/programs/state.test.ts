import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { DEVICES, WASM_THREADS } from '../../device/testing/node-devices.ts';
import { NaiveAllocator } from '../../runtime/testing/naive-allocator.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { compile } from '../compile.ts';
import { parseModule } from '../ir/text/parse.ts';
import { evaluateModule } from '../evaluation/evaluate-module.ts';
import { lists, taken } from '../testing/read-tuple.ts';

const STATE = 'Tensor[(4, 64), float32]';
const PARAMS = `%k: int, %a: ${STATE}, %b: ${STATE}, %i: Tensor[(1, 1), int32], %u: Tensor[(1, 64), float32]`;

/** Programs that change tensors row by row, read some of them later, and give some of them away. */
function randomProgram(random: () => number): string {
  const below = (limit: number): number => Math.floor(random() * limit);
  let count = 0;
  const block = (names: readonly string[], depth: number): string => {
    const known = [...names];
    const lines: string[] = [];
    const any = (): string => known[Math.max(0, known.length - 1 - below(4))] ?? '%a';
    const statements: (() => string)[] = [
      () => `scatter_nd(${any()}, %i, %u)`,
      () => `scatter_nd(${any()}, %i, %u, reduction="add")`,
      () => `scatter_nd(${any()}, %i, %u, reduction="mul")`,
      () => `relu(${any()})`,
      () => `add(${any()}, ${any()})`,
      () => `softmax(${any()}, axis=1)`,
      () => `reshape(reshape(${any()}, shape=[256]), shape=[4, 64])`,
      () => any(),
      () => `(${any()}, ${any()}).${below(2)}`,
      () => `@turns(%k, ${any()}, %i, %u)`,
      () => `@apply(fn (%y: ${STATE}) { add(${any()}, scatter_nd(%y, %i, %u)) }, ${any()})`,
      () => `if (%k) {\n${block(known, depth + 1)}\n} else {\n${block(known, depth + 1)}\n}`,
    ];
    for (let n = 2 + below(6); n > 0; n--) {
      const choice = below(depth < 2 ? statements.length : statements.length - 1);
      const value = statements[choice]?.() ?? '%a';
      const name = `%v${count++}`;
      lines.push(`let ${name} = ${value};`);
      known.push(name);
    }
    const result = depth === 0 ? `(${any()}, ${any()}, ${any()})` : any();
    return [...lines, result].join('\n');
  };
  return `def @apply<A, B>(%f: fn (A) -> B, %a: A) -> B { %f(%a) }
def @turns(%k: int, %x: ${STATE}, %i: Tensor[(1, 1), int32], %u: Tensor[(1, 64), float32]) -> ${STATE} {
  if (%k) { @turns(int_sub(%k, #1), scatter_nd(%x, %i, %u, reduction="add"), %i, %u) } else { %x }
}
def @main(${PARAMS}) {
${block(['%a', '%b'], 0)}
}`;
}

/** Small whole numbers, with which sums and products are exact. */
function numbers(random: () => number): HostTensor {
  const values = Array.from({ length: 256 }, () => Math.floor(random() * 4) - 1);
  return HostTensor.from('float32', [4, 64], values);
}

describe.each([...DEVICES, WASM_THREADS])('state on $title', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  test('random programs give what the language says, whoever owns their inputs', async () => {
    let owned = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const random = seededRandom(seed);
      const text = randomProgram(random);
      const module = parseModule(text);
      const executable = compile(module);
      owned += executable.functionTable.some(({ name }) => name === 'vm.builtin.own') ? 1 : 0;
      const devices = [device, createHostDevice()];
      const vm = await VirtualMachine.create(executable, { devices });
      const naive = await VirtualMachine.create(executable, {
        devices,
        createAllocator: (of) => new NaiveAllocator(of),
      });
      const { liveBytes } = vm.memory();
      const [a, b] = [numbers(random), numbers(random)];
      const i = HostTensor.from('int32', [1, 1], [Math.floor(random() * 5)]);
      const u = HostTensor.from(
        'float32',
        [1, 64],
        lists([numbers(random)])[0]?.slice(0, 64) ?? [],
      );
      const k = seed % 3;
      const expected = referenceOf(text, [k, a, b, i, u]);
      const close = (actual: number[][], what: string): void => {
        for (const [at, list] of expected.entries()) {
          const difference = list.findIndex(
            (value, n) => Math.abs(value - (actual[at]?.[n] ?? NaN)) > 1e-3 * (1 + Math.abs(value)),
          );
          expect(difference, `${what}, result ${at} of seed ${seed}\n${text}`).toBe(-1);
        }
      };
      const inputs = [k, a, b, i, u];
      close(await taken(naive, naive.invoke('main', inputs)), 'without reuse');
      for (const turn of [1, 2, 3]) {
        close(await taken(vm, vm.invoke('main', inputs)), `uploaded, ${turn}`);
        const [x, y] = [vm.tensor(a), vm.tensor(b)];
        close(await taken(vm, vm.invoke('main', [k, x, y, i, u])), `kept, ${turn}`);
        expect(lists(await vm.read([x, y])), `inputs of seed ${seed}\n${text}`).toEqual(
          lists([a, b]),
        );
        vm.retain(y);
        const given = vm.invoke('main', [k, x, y, i, u], { donate: [1, 2] });
        close(await taken(vm, given), `donated, ${turn}`);
        expect(lists(await vm.read([y])), `a second owner of seed ${seed}\n${text}`).toEqual(
          lists([b]),
        );
        vm.release(y);
      }
      expect(vm.memory().liveBytes, `seed ${seed}`).toBe(liveBytes);
      vm.dispose();
      naive.dispose();
    }
    expect(owned).toBeGreaterThan(20);
  });
});

function referenceOf(text: string, args: readonly (number | HostTensor)[]): number[][] {
  const result = evaluateModule(parseModule(text), 'main', args);
  if (typeof result !== 'object' || !('fields' in result)) throw new Error('no tuple');
  return lists(result.fields);
}
