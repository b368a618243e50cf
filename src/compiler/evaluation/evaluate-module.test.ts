import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { compile } from '../compile.ts';
import { evaluateModule } from './evaluate-module.ts';
import { parseModule } from '../ir/text/parse.ts';

type Arguments = readonly (number | HostTensor)[];

/** The int that a machine and the reference give, or the message of what they throw. */
async function bothResults(text: string, args: Arguments) {
  const module = parseModule(text);
  const vm = await VirtualMachine.create(compile(module), { devices: [createHostDevice()] });
  const inMachine = vm.invoke('main', args).catch(firstLine);
  let reference: unknown;
  try {
    reference = evaluateModule(module, 'main', args);
  } catch (error) {
    reference = firstLine(error);
  }
  const both = { machine: await inMachine, reference };
  vm.dispose();
  return both;
}

function firstLine(error: unknown): string {
  return String(error).split('\n')[0] ?? '';
}

const LARGEST = Number.MAX_SAFE_INTEGER;

describe('the reference gives what the machine gives', () => {
  test.each([
    ['int_mul', -4, 0, 0],
    ['int_floordiv', 0, -3, 0],
    ['int_floordiv', -7, 2, -4],
    ['int_mod', -6, 3, 0],
    ['int_mod', 7, -3, -2],
    ['int_mod', -LARGEST, 2 ** 52, 1],
    ['int_lt', -5, 4, 1],
  ])('%s(%i, %i) = %i', async (op, a, b, expected) => {
    const text = `def @main(%a: int, %b: int) { ${op}(%a, %b) }`;
    const { machine, reference } = await bothResults(text, [a, b]);
    expect(Object.is(machine, expected)).toBe(true);
    expect(Object.is(reference, expected)).toBe(true);
  });

  test.each([
    ['int_add', LARGEST, 1, '9007199254740991 + 1, expected a result within 2^53.'],
    ['int_floordiv', 5, 0, '5 // 0, expected a divisor other than 0.'],
    ['int_mod', 5, 0, '5 % 0, expected a divisor other than 0.'],
  ])('%s(%i, %i) is refused', async (op, a, b, got) => {
    const text = `def @main(%a: int, %b: int) { ${op}(%a, %b) }`;
    const message = `int arithmetic: got ${got}`;
    expect(await bothResults(text, [a, b])).toEqual({
      machine: `RuntimeError: ir:1:31: ${message}`,
      reference: `RuntimeError: ${message}`,
    });
  });

  test.each([0, 1])('a condition that is %i', async (element) => {
    const text = 'def @main(%c: Tensor[(), bool], %a: int, %b: int) { if (%c) { %a } else { %b } }';
    const both = { machine: element, reference: element };
    const condition = HostTensor.from('bool', [], [element]);
    expect(await bothResults(text, [condition, 1, 0])).toEqual(both);
  });
});
