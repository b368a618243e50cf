import { describe, expect, test } from 'vitest';
import { readExecutable } from '../bytecode/file/executable-file.ts';
import { ExecBuilder, Executable } from '../bytecode/index.ts';
import { compile } from '../compiler/compile.ts';
import { parseModule } from '../compiler/ir/text/parse.ts';
import { DeviceError } from '../core/errors.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import type { HostFunction, HostInput } from './link/host-function.ts';
import { VirtualMachine } from './virtual-machine.ts';

/** The error of `@main`, after the way through a file. */
async function failure(
  text: string,
  args: readonly HostInput[],
  functions: Readonly<Record<string, HostFunction>> = {},
): Promise<Error> {
  const file = compile(parseModule(text, { file: 'm.ir' }), { verify: true }).toBytes();
  const vm = await VirtualMachine.create(Executable.fromBytes(file), {
    devices: [createHostDevice()],
    functions,
  });
  const error: unknown = await vm.invoke('main', args).catch((thrown: unknown) => thrown);
  if (error instanceof Error) return error;
  throw new Error('the program did not stop');
}

describe('the message of a program that stops begins with its place', () => {
  test.each<[string, string, readonly HostInput[], string]>([
    [
      'a size that differs',
      'def @main(%x: Tensor[(2, n), float32], %y: Tensor[(m, 2), float32]) {\n  matmul(%x, %y)\n}',
      [HostTensor.zeros('float32', [2, 4]), HostTensor.zeros('float32', [3, 2])],
      'm.ir:2:3: ',
    ],
    [
      'fatal',
      'def @main(%n: int) -> int {\n  if (%n) { #1 } else { stop<int>(message="no n") }\n}',
      [0],
      'm.ir:2:25: no n',
    ],
    [
      'a match without a clause, which names its place itself',
      'type T { A, B }\ndef @f(%n: int) -> T { if (%n) { A } else { B } }\ndef @main(%n: int) -> int { match? (@f(%n)) { A => #1 } }',
      [0],
      'm.ir:3:29: no clause fits the value',
    ],
    [
      'arithmetic on ints',
      'def @main(%n: int) -> int {\n  int_floordiv(#1, %n)\n}',
      [0],
      'm.ir:2:3: ',
    ],
  ])('%s', async (_, text, args, message) => {
    const error = await failure(text, args);
    expect(error.message.startsWith(message), error.message).toBe(true);
    expect(error.message).toContain(`, from m.ir:`);
  });

  test('a function of JavaScript, called by a recursive function', async () => {
    const text = `
      extern def @"ask"(%n: int) -> int
      def @count(%n: int) -> int {
        if (%n) { int_add(#1, @count(int_sub(%n, #1))) } else { @ask(%n) }
      }
      def @main(%n: int) -> int { int_mul(#2, @count(%n)) }`;
    const error = await failure(text, [1], {
      ask: () => {
        throw new RangeError('nobody there');
      },
    });
    expect(error).toMatchInlineSnapshot(`
      [RuntimeError: m.ir:4:65, declared at m.ir:2:18: nobody there
          at ask.checked, instruction 0 (line 4), from m.ir:2:18: %1 = call ask(%0)
          at count, instruction 5 (line 14), from m.ir:4:65: %4 = call ask.checked(%0)
          at count, instruction 2 (line 11), from m.ir:4:31: %2 = call count(%1)
          at main, instruction 0 (line 19), from m.ir:6:47: %1 = call count(%0)]
    `);
  });
});

test('a damaged source map does not hide the error', async () => {
  const b = new ExecBuilder();
  const f = b.function('main');
  f.at({ source: 'node' });
  f.call('vm.builtin.fatal', [b.string('no way')]);
  f.ret(0);
  const { program, data } = readExecutable(b.build().toBytes());
  const damaged = new Executable({ ...program, sourceMapBytes: Uint8Array.of(0xff, 0xff) }, data);
  const vm = await VirtualMachine.create(damaged, { devices: [createHostDevice()] });
  await expect(vm.invoke('main', [])).rejects.toThrow(
    /^no way\n {4}at main, instruction 0 \(line 4\): /,
  );
  expect(() => damaged.sourceMap).toThrow('section sourceMap, byte 2');
});

test('a device that fails, and a kernel of many nodes', async () => {
  const b = new ExecBuilder();
  const f = b.function('main', ['x']);
  f.at(...Array.from({ length: 6 }, (_, i) => ({ source: `node_${i}` })));
  f.ret(f.call('test.launch', [f.param('x')]));
  const options = {
    devices: [createHostDevice()],
    functions: {
      'test.launch': (): never => {
        throw new DeviceError('the queue is full');
      },
    },
  };
  const vm = await VirtualMachine.create(b.build(), options);
  const error = await vm.invoke('main', [1]).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(DeviceError);
  expect(error).toMatchInlineSnapshot(`
    [DeviceError: node "node_0", node "node_1", node "node_2", node "node_3" and 2 more: the queue is full
        at main, instruction 0 (line 4), from node "node_0", node "node_1", node "node_2", node "node_3" and 2 more: %1 = call test.launch(%0)]
  `);
});
