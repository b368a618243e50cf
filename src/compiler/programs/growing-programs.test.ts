import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { DEVICES } from '../../device/testing/node-devices.ts';
import { NaiveAllocator } from '../../runtime/testing/naive-allocator.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { compile } from '../compile.ts';
import { evaluateModule } from '../evaluation/evaluate-module.ts';
import { parseModule } from '../ir/text/parse.ts';
import { lists, taken } from '../testing/read-tuple.ts';

/** The axes before the one that grows. */
const OUTER = ['', '2, ', '1, 3, ', 'b, 3, '];

/** Programs that extend tensors, read some of them later, and give some of them away. */
function randomProgram(random: () => number, outer: string): string {
  const STATE = `Tensor[(${outer}?, 2), int32]`;
  const ROW = `Tensor[(${outer}1, 2), int32]`;
  const axis = outer.split(',').length - 1;
  const below = (limit: number): number => Math.floor(random() * limit);
  let count = 0;
  const block = (names: readonly string[], depth: number): string => {
    const known = [...names];
    const lines: string[] = [];
    const any = (): string => known[Math.max(0, known.length - 1 - below(3))] ?? '%a';
    const statements: (() => string)[] = [
      () => `concat(${any()}, %u, axis=${axis})`,
      () => `concat(${any()}, %u, add(%u, 1), %u, axis=${axis})`,
      () => `concat(${any()}, %b, axis=${axis})`,
      () => `concat(concat(${any()}, %u, axis=${axis}), %u, axis=${axis})`,
      () => `concat(%u, ${any()}, axis=${axis})`,
      () => `relu(concat(${any()}, %u, axis=${axis}))`,
      () => `add(${any()}, %u)`,
      () => any(),
      () => `(${any()}, ${any()}).${below(2)}`,
      () => `@turns(%k, ${any()}, %u)`,
      () => `@apply(fn (%y: ${STATE}) -> ${STATE} { concat(%y, %u, axis=${axis}) }, ${any()})`,
      () => `if (%k) {\n${block(known, depth + 1)}\n} else {\n${block(known, depth + 1)}\n}`,
    ];
    for (let n = 2 + below(5); n > 0; n--) {
      const choice = below(depth < 2 ? statements.length : statements.length - 1);
      const value = statements[choice]?.() ?? '%a';
      const name = `%v${count++}`;
      lines.push(`let ${name}: ${STATE} = ${value};`);
      known.push(name);
    }
    const result = depth === 0 ? `(${any()}, ${any()}, ${any()})` : any();
    return [...lines, result].join('\n');
  };
  return `def @apply<A, B>(%f: fn (A) -> B, %a: A) -> B { %f(%a) }
def @turns(%k: int, %x: ${STATE}, %u: ${ROW}) -> ${STATE} {
  if (%k) { @turns(int_sub(%k, #1), concat(%x, %u, axis=${axis}), add(%u, 1)) } else { %x }
}
def @main(%k: int, %a: Tensor[(${outer}n, 2), int32], %b: Tensor[(${outer}m, 2), int32], %u: ${ROW}) {
${block(['%a', '%b'], 0)}
}`;
}

/** Compiled once for all devices. */
const PROGRAMS = Array.from({ length: 28 }, (_, i) => {
  const random = seededRandom(i + 1);
  const outer = OUTER[i % 4] ?? '';
  const text = randomProgram(random, outer);
  const executable = compile(parseModule(text), { verify: true });
  return {
    seed: i + 1,
    random,
    outer: outer
      .split(',')
      .slice(0, -1)
      .map((size) => Number(size) || 2),
    text,
    executable,
  };
});

describe.each(DEVICES)('tensors that programs extend on $title', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  test('have the elements that the language says, whoever owns them', async () => {
    let extended = 0;
    for (const { seed, random, outer, text, executable } of PROGRAMS) {
      extended += executable.functionTable.some(({ name }) => /append/.test(name)) ? 1 : 0;
      const devices = [device, createHostDevice()];
      const vm = await VirtualMachine.create(executable, { devices });
      const createAllocator = (of: Device) => new NaiveAllocator(of);
      const naive = await VirtualMachine.create(executable, { devices, createAllocator });
      const { liveBytes } = vm.memory();
      const numbers = (rows: number): HostTensor => {
        const count = outer.reduce((product, size) => product * size, 2 * rows);
        const values = Array.from({ length: count }, () => Math.floor(random() * 9) - 4);
        return HostTensor.from('int32', [...outer, rows, 2], values);
      };
      const [a, b, u] = [numbers(seed % 4), numbers(3), numbers(1)];
      const k = seed % 3;
      const reference = evaluateModule(parseModule(text), 'main', [k, a, b, u]);
      const expected = lists(
        typeof reference === 'object' && 'fields' in reference ? reference.fields : [],
      );
      const what = `seed ${seed}\n${text}`;
      expect(await taken(naive, naive.invoke('main', [k, a, b, u])), what).toEqual(expected);
      for (let turn = 0; turn < 3; turn++) {
        const [x, y] = [vm.tensor(a), vm.tensor(b)];
        expect(await taken(vm, vm.invoke('main', [k, x, y, u])), what).toEqual(expected);
        expect(lists(await vm.read([x, y])), what).toEqual(lists([a, b]));
        vm.retain(y);
        const given = vm.invoke('main', [k, x, y, u], { donate: [1, 2] });
        expect(await taken(vm, given), what).toEqual(expected);
        expect(lists(await vm.read([y])), what).toEqual(lists([b]));
        vm.release(y);
      }
      expect(vm.memory().liveBytes, what).toBe(liveBytes);
      vm.dispose();
      naive.dispose();
    }
    expect(extended).toBeGreaterThan(22);
  });
});
