import { describe, expect, test } from 'vitest';
import { ExecBuilder } from '../bytecode/index.ts';
import * as errors from '../core/errors.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import type { HostFunction } from './link/host-function.ts';
import { TestDevice } from './testing/test-device.ts';
import { VirtualMachine } from './virtual-machine.ts';

const { DeviceError, RuntimeError, ShapeError, WeftError } = errors;
const ERROR_CLASSES = Object.values(errors).filter(
  (value): value is typeof WeftError => typeof value === 'function' && 'errorName' in value,
);

/** `main` calls `inner`, which calls the packed function `test.fail`, then needs one more step. */
function nested(): ExecBuilder {
  const b = new ExecBuilder();
  const inner = b.function('inner', ['x']);
  const shifted = inner.call('vm.builtin.int_add', [inner.param('x'), 1]);
  const result = inner.call('test.fail', [shifted, b.string('why')]);
  inner.ret(inner.call('vm.builtin.make_tuple', [result]));
  const main = b.function('main', ['x']);
  const first = main.call('inner', [main.param('x')]);
  main.ret(main.call('vm.builtin.make_tuple', [first]));
  return b;
}

async function failure(fail: HostFunction): Promise<unknown> {
  const vm = await VirtualMachine.create(nested().build(), {
    devices: [new TestDevice()],
    functions: { 'test.fail': fail },
  });
  return vm.invoke('main', [3]).catch((error: unknown) => error);
}

describe('an exception from a packed function', () => {
  test('becomes a RuntimeError with the stack of the machine', async () => {
    const thrown = new RangeError('out of paper');
    const error = await failure(() => {
      throw thrown;
    });
    expect(error).toMatchInlineSnapshot(`
      [RuntimeError: out of paper
          at inner, instruction 1 (line 5): %2 = call test.fail(%1, c[0])
          at main, instruction 0 (line 11): %1 = call inner(%0)]
    `);
    expect(error).toBeInstanceOf(RuntimeError);
    expect(error).toMatchObject({
      cause: thrown,
      details: {
        vmStack: [
          '    at inner, instruction 1 (line 5): %2 = call test.fail(%1, c[0])',
          '    at main, instruction 0 (line 11): %1 = call inner(%0)',
        ],
      },
    });
  });

  test('of Weft keeps its class and details', async () => {
    const error = await failure(async () => {
      throw new ShapeError('too square', { details: { side: 4 } });
    });
    expect(error).toBeInstanceOf(ShapeError);
    expect(error).toMatchObject({ name: 'ShapeError', details: { side: 4 } });
    expect(error).toHaveProperty('message', expect.stringContaining('too square\n    at inner, '));
  });

  test.each(ERROR_CLASSES)('of the class %o keeps it', async (errorClass) => {
    const error = await failure(() => {
      throw new errorClass('no');
    });
    expect(Object.getPrototypeOf(error)).toBe(errorClass.prototype);
    expect(error).toHaveProperty('message', expect.stringMatching(/^no\n {4}at inner, /));
  });

  test('of a subclass without a name of its own is of the class that has one', async () => {
    const error = await failure(() => {
      throw new (class extends ShapeError {})('no');
    });
    expect(Object.getPrototypeOf(error)).toBe(ShapeError.prototype);
  });

  test('that is a subclass of its own keeps the nearest name there is', async () => {
    class PrinterError extends DeviceError {
      static override readonly errorName = 'PrinterError';
    }
    const error = await failure(() => {
      throw new PrinterError('jammed');
    });
    expect(error).toBeInstanceOf(RuntimeError);
    expect(error).toMatchObject({ cause: { name: 'PrinterError', message: 'jammed' } });
  });

  test('that is no Error is shown as text', async () => {
    const error = await failure(() => Promise.reject('a string'));
    expect(error).toHaveProperty('message', expect.stringContaining('a string\n    at inner'));
    expect(error).toMatchObject({ name: 'RuntimeError', cause: 'a string' });
  });

  test('leaves no frame and no memory behind', async () => {
    const b = new ExecBuilder();
    const f = b.function('main', ['x']);
    const storage = f.call('vm.builtin.alloc_storage', [1024, 0]);
    f.call('vm.builtin.fatal', [b.string('no way')]);
    f.ret(f.call('vm.builtin.make_tuple', [storage, f.param('x')]));
    const vm = await VirtualMachine.create(b.build(), { devices: [new TestDevice()] });
    const x = HostTensor.zeros('float32', [4]);
    for (let i = 0; i < 3; i++) {
      await expect(vm.invoke('main', [x])).rejects.toThrow('no way\n    at main, instruction 1');
    }
    expect(vm.memory()).toMatchObject({ liveBytes: 0, allocations: 6, reuses: 4 });
  });
});

describe('linking', () => {
  test('reports every missing name in one error', async () => {
    const b = new ExecBuilder();
    const f = b.function('main', ['x']);
    const one = f.call('mine.first', [f.param('x')]);
    const two = f.call('mine.known', [one]);
    f.ret(f.call('mine.second', [two]));
    const error = await VirtualMachine.create(b.build(), {
      devices: [new TestDevice()],
      functions: { 'mine.known': () => 1 },
    }).catch((thrown: unknown) => thrown);
    expect(error).toMatchInlineSnapshot(
      `[UsageError: linking: got no definition of mine.first (packed), mine.second (packed), expected a definition of every function that the executable calls. Give them as \`functions\` where the program is loaded.]`,
    );
    expect(error).toMatchObject({
      name: 'UsageError',
      details: { missing: ['mine.first (packed)', 'mine.second (packed)'] },
    });
  });

  test('a name of the builtins cannot be registered', async () => {
    const b = new ExecBuilder();
    b.function('main').ret(0);
    const device = new TestDevice();
    const options = { devices: [device], functions: { 'vm.builtin.print': () => 0 } };
    await expect(VirtualMachine.create(b.build(), options)).rejects.toThrow(
      'got the name vm.builtin.print, expected a name that does not begin with vm.builtin.',
    );
    await expect(VirtualMachine.create(b.build(), { devices: [] })).rejects.toThrow(
      'VirtualMachine.create: got no device, expected at least one device.',
    );
  });

  test('frees the constants when it fails', async () => {
    const b = new ExecBuilder();
    const f = b.function('main');
    const big = b.tensor(HostTensor.zeros('float32', [1000]));
    f.ret(f.call('mine.missing', [big]));
    const device = new TestDevice();
    await expect(VirtualMachine.create(b.build(), { devices: [device] })).rejects.toThrow(
      'no definition of mine.missing (packed)',
    );
    expect(device.counters()).toMatchObject({ buffersCreated: 1, bytesLive: 0 });
  });
});

test('an unknown function name lists the known ones', async () => {
  const vm = await VirtualMachine.create(nested().build(), {
    devices: [new TestDevice()],
    functions: { 'test.fail': () => 0 },
  });
  expect(() => vm.get('mian')).toThrow(
    'virtual machine: got the function name "mian", expected one of inner, main.',
  );
  await expect(vm.invoke('mian')).rejects.toThrow('expected one of inner, main.');
});

test('a condition that is no int, and instructions beyond the limit', async () => {
  const b = new ExecBuilder();
  const f = b.function('main', ['x']);
  const [end, top] = [f.label(), f.label()];
  f.if(f.param('x'), end);
  f.place(top);
  f.goto(top);
  f.place(end);
  f.ret(0);
  const limits = { instructions: 100_000 };
  const vm = await VirtualMachine.create(b.build(), { devices: [new TestDevice()], limits });
  await expect(vm.invoke('main', ['yes'])).rejects.toThrow(
    'if: got string "yes", expected an int. Pass the condition through vm.builtin.read_if_cond.',
  );
  await expect(vm.invoke('main', [1])).rejects.toThrow(
    'got a program that runs beyond 100000 instructions, expected an end within',
  );
  expect(await vm.invoke('main', [0])).toBe(0);
});
