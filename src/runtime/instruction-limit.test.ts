import { expect, test } from 'vitest';
import { ExecBuilder, type Executable } from '../bytecode/index.ts';
import type { HostInput } from './link/host-function.ts';
import { countingLoop } from '../worker/testing/test-programs.ts';
import { TestDevice } from './testing/test-device.ts';
import { VirtualMachine } from './virtual-machine.ts';

interface Program {
  readonly title: string;
  readonly executable: Executable;
  readonly args: readonly HostInput[];
  readonly functions?: Readonly<Record<string, () => Promise<number>>>;
  readonly result: number;
  readonly instructions: number;
}

/** main(n) -> n, by n calls of itself, each of three instructions and one more for the last. */
function recursive(): Executable {
  const b = new ExecBuilder();
  const f = b.function('main', ['n']);
  const end = f.label();
  const count = f.fresh();
  f.call('vm.builtin.int_mul', [f.param('n'), 1], { into: count });
  f.if(count, end);
  f.call('vm.builtin.int_add', [count, -1], { into: count });
  f.call('main', [count], { into: count });
  f.call('vm.builtin.int_add', [count, 1], { into: count });
  f.place(end);
  f.ret(count);
  return b.build();
}

/** main() -> test.later(), which the last instruction but one waits for. */
function waiting(): Executable {
  const b = new ExecBuilder();
  const f = b.function('main', []);
  f.ret(f.call('test.later', []));
  return b.build();
}

const PROGRAMS: readonly Program[] = [
  // Five instructions a round, and five that are outside of the rounds or in the last.
  { title: 'a loop', executable: countingLoop(), args: [4], result: 4, instructions: 20 },
  { title: 'calls', executable: recursive(), args: [3], result: 3, instructions: 21 },
  {
    title: 'a function that is waited for',
    executable: waiting(),
    args: [],
    functions: { 'test.later': () => Promise.resolve(7) },
    result: 7,
    instructions: 2,
  },
  // More than one slice.
  {
    title: 'slices',
    executable: countingLoop(),
    args: [20_000],
    result: 20_000,
    instructions: 80_004,
  },
];

async function machine({ executable, functions = {} }: Program, instructions: number) {
  const devices = [new TestDevice()];
  return VirtualMachine.create(executable, { devices, functions, limits: { instructions } });
}

test.each(PROGRAMS)(
  '$title: exactly limits.instructions may run, not one more',
  async (program) => {
    const { args, result, instructions } = program;
    const counting = await machine(program, Number.POSITIVE_INFINITY);
    expect((await counting.profile('main', args)).instructionCount).toBe(instructions);
    const enough = await machine(program, instructions);
    expect(await enough.invoke('main', args)).toBe(result);
    // Each call has the limit to itself.
    expect(await enough.invoke('main', args)).toBe(result);
    const tooFew = await machine(program, instructions - 1);
    await expect(tooFew.invoke('main', args)).rejects.toThrow(
      `got a program that runs beyond ${instructions - 1} instructions, expected an end within limits.instructions.`,
    );
  },
);
