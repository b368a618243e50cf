import { describe, expect, test } from 'vitest';
import { ExecBuilder, Executable, type FunctionBuilder } from '../bytecode/index.ts';
import type { OperandLike } from '../bytecode/build/function-builder.ts';
import { OutOfMemoryError, RuntimeError } from '../core/errors.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { macrotask } from '../core/async/macrotask.ts';
import type { HostInput } from './link/host-function.ts';
import type { MachineOptions } from './link/load-machine.ts';
import { TestDevice } from './testing/test-device.ts';
import { VirtualMachine } from './virtual-machine.ts';

type Body = (f: FunctionBuilder, b: ExecBuilder) => OperandLike;

/** `main(x)` with a body, as it comes out of a file. */
function program(body: Body): Executable {
  const b = new ExecBuilder();
  const f = b.function('main', ['x']);
  f.ret(body(f, b));
  return Executable.fromBytes(b.build().toBytes());
}

/** Repeats what `step` emits for ever. */
function endless(f: FunctionBuilder, step: () => void): OperandLike {
  const again = f.label();
  f.place(again);
  step();
  f.goto(again);
  return 0;
}

async function run(
  executable: Executable,
  args: readonly HostInput[] = [0],
  options: Partial<MachineOptions> = {},
): Promise<unknown> {
  const device = new TestDevice();
  const vm = await VirtualMachine.create(executable, { devices: [device], ...options });
  const result = await vm.invoke('main', args).catch((error: unknown) => error);
  expect(vm.memory().liveBytes).toBe(0);
  expect(await vm.invoke('main', args).catch((error: unknown) => error)).toEqual(result);
  vm.dispose();
  expect(device.counters().bytesLive).toBe(0);
  return result;
}

describe('constants', () => {
  test('that are small in the file and large in memory', async () => {
    const splats = (count: number, elementCount: number) =>
      program((f, b) => {
        const all = Array.from({ length: count }, (_, i) =>
          b.tensor(HostTensor.splat('float32', [elementCount], i)),
        );
        return f.call('vm.builtin.make_tuple', all);
      });
    const device = new TestDevice();
    const load = (executable: Executable) =>
      VirtualMachine.create(executable, { devices: [device] });
    expect(splats(1, 2 ** 40).toBytes().byteLength).toBeLessThan(2048);
    await expect(load(splats(1, 2 ** 40))).rejects.toThrowErrorMatchingInlineSnapshot(
      `[OutOfMemoryError: constants on test device: got 4398046511104 bytes of constants that the file stores as one element each, expected at most 1073741824. Make them when the program runs, with the operator full.]`,
    );
    await expect(load(splats(40, 2 ** 26))).rejects.toThrow(OutOfMemoryError);
    await expect(load(splats(40, 2 ** 26))).rejects.toThrow(
      'got 10737418240 bytes of constants that the file stores as one element each',
    );
    expect(device.counters().buffersCreated).toBe(0);
  });

  test('60,000 of them in as many blocks are uploaded in one walk', async () => {
    const b = new ExecBuilder({ exact: true });
    for (let i = 0; i < 60_000; i++) b.tensor(HostTensor.from('int32', [1], [i]));
    b.function('main').ret(0);
    const executable = b.build();
    const { data, ...head } = executable;
    async function* dataBlocks() {
      for (let byteOffset = 0; byteOffset < data.byteLength; byteOffset += 256) {
        yield { byteOffset, bytes: data.subarray(byteOffset, byteOffset + 256) };
      }
    }
    const device = new TestDevice();
    const vm = await VirtualMachine.create(head, { devices: [device], dataBlocks: dataBlocks() });
    expect(device.journal).toHaveLength(60_000);
    vm.dispose();
  });
});

describe('storages', () => {
  test.each([
    [2 ** 52, 'got a request of 4503599627370496 bytes, expected at most 1073741824'],
    [-5, 'alloc_storage: got -5 bytes, expected a number of bytes from 0 up.'],
  ])('of %d bytes', async (byteLength, message) => {
    const error = await run(
      program((f, b) => f.call('vm.builtin.alloc_storage', [b.int(byteLength), 0])),
    );
    expect(String(error)).toContain(message);
  });

  test('tensors beyond them', async () => {
    const tensor = (offset: number, shape: readonly number[]) =>
      program((f, b) => {
        const storage = f.call('vm.builtin.alloc_storage', [1024, 0]);
        const operands = [storage, b.int(offset), b.shape(shape), b.dtype('float32')];
        return f.call('vm.builtin.alloc_tensor', operands);
      });
    const huge = [2 ** 52, 2 ** 52, 2 ** 52];
    for (const [offset, shape, message] of [
      [0, [257], 'got float32 (257,), 1028 bytes at 0, expected a tensor within the 1024 bytes'],
      [1024, [1], '4 bytes at 1024'],
      [2 ** 52, [2 ** 50], 'bytes at 4503599627370496'],
      [-256, [1], '4 bytes at -256'],
      [4, [1], '4 bytes at 4, expected an offset that is a multiple of 256'],
      [0, huge, 'expected a tensor within the 1024 bytes of the storage'],
      [0, Array.from({ length: 31 }, () => 2 ** 52).concat(0), 'expected a tensor within'],
    ] as const) {
      const error = await run(tensor(offset, shape));
      expect(error).toBeInstanceOf(RuntimeError);
      expect(String(error)).toContain(message);
    }
  });

  test('shapes that no tensor has', async () => {
    const shape = (n: number) =>
      program((f, b) => {
        const heap = f.call('vm.builtin.alloc_shape_heap', [1]);
        f.call('vm.builtin.store_shape', [heap, 0, b.int(n)], { into: f.void });
        const made = f.call('vm.builtin.make_shape', [heap, 1, 1, 0]);
        return f.call('vm.builtin.reshape', [f.param('x'), made]);
      });
    const x = HostTensor.zeros('float32', [4]);
    expect(String(await run(shape(-1), [x]))).toContain('make_shape: got -1 for dimension 0');
    expect(String(await run(shape(2 ** 53 - 1), [x]))).toContain(
      'reshape: got shape (9007199254740991,) for a tensor (4,), expected a shape of 4 elements.',
    );
  });
});

describe('host memory', () => {
  const limits = { fields: 100_000, registers: 100_000 };

  test('frames of many registers', async () => {
    const wide = program((f) => {
      let last: OperandLike = f.param('x');
      for (let i = 0; i < 1000; i++) last = f.call('vm.builtin.int_add', [last, 1]);
      f.call('main', [last]);
      return last;
    });
    const error = await run(wide, [0], { limits });
    expect(error).toBeInstanceOf(RuntimeError);
    expect(String(error).split('\n')[0]).toMatchInlineSnapshot(
      `"RuntimeError: got a call beyond 100000 registers, expected at most 100000 registers. Return the result of the call at once (a tail call), or raise limits.registers."`,
    );
    expect(error).toHaveProperty('details.limit', 100_000);
  });

  test.each<[string, (f: FunctionBuilder, list: OperandLike, b: ExecBuilder) => OperandLike]>([
    ['a list', (f, list) => f.call('vm.builtin.make_tuple', [list, f.param('x')])],
    [
      'closures',
      (f, list, b) => f.call('vm.builtin.make_closure', [b.functionReference('main'), list]),
    ],
    [
      'shape heaps',
      (f, list) =>
        f.call('vm.builtin.make_tuple', [list, f.call('vm.builtin.alloc_shape_heap', [9])]),
    ],
  ])('%s without an end', async (_, grow) => {
    const b = new ExecBuilder();
    const f = b.function('main', ['x']);
    const list = f.call('vm.builtin.make_tuple', []);
    const again = f.label();
    f.place(again);
    f.call('vm.builtin.make_tuple', [grow(f, list, b)], { into: list });
    f.goto(again);
    const error = await run(b.build(), [0], { limits });
    expect(error).toBeInstanceOf(OutOfMemoryError);
    expect(String(error)).toContain(
      'got more than 100000 fields of tuples, ADT values, closures and shape heaps',
    );
  });

  test('what is dropped does not count', async () => {
    const dropped = program((f, b) => {
      const [again, end] = [f.label(), f.label()];
      const left = f.call('vm.builtin.int_add', [f.param('x'), 0]);
      f.place(again);
      f.if(left, end);
      const heap = f.call('vm.builtin.alloc_shape_heap', [50]);
      const closure = f.call('vm.builtin.make_closure', [b.functionReference('main'), heap]);
      f.call('vm.builtin.make_tuple', [heap, closure, closure]);
      f.call('vm.builtin.make_tuple', [heap], { into: f.void });
      f.call('vm.builtin.int_sub', [left, 1], { into: left });
      f.goto(again);
      f.place(end);
      return 7;
    });
    expect(await run(dropped, [20_000], { limits })).toBe(7);
  });
});

test('a value that holds another twice, forty times over, is printed in part', async () => {
  const lines: string[] = [];
  const twice = program((f) => {
    let value: OperandLike = f.param('x');
    for (let i = 0; i < 40; i++) value = f.call('vm.builtin.make_tuple', [value, value]);
    f.call('vm.builtin.print', [value], { into: f.void });
    return 0;
  });
  expect(await run(twice, [0], { log: (line) => lines.push(line) })).toBe(0);
  expect(lines[0]?.length).toBeLessThan(10_000);
  expect(lines[0]).toContain('…');
});

describe('an endless loop can be stopped soon: one of', () => {
  const big = HostTensor.zeros('float32', [1 << 20]);
  const many = Array.from({ length: 16_000 }, () => 1);
  test.each<[string, HostInput, Body]>([
    ['nothing', 0, (f) => endless(f, () => undefined)],
    ['copies', big, (f) => endless(f, () => f.call('vm.builtin.copy', [f.param('x')]))],
    ['prints', big, (f) => endless(f, () => f.call('vm.builtin.print', [f.param('x')]))],
    ['wide tuples', 0, (f) => endless(f, () => f.call('vm.builtin.make_tuple', many))],
    ['shape heaps', 0, (f) => endless(f, () => f.call('vm.builtin.alloc_shape_heap', [65_536]))],
    [
      'calls of many registers',
      0,
      (f) => {
        const skip = f.label();
        f.if(f.call('vm.builtin.int_add', [0, 0]), skip);
        for (let i = 0; i < 30_000; i++) f.call('vm.builtin.int_add', [f.param('x'), 1]);
        f.place(skip);
        return f.call('main', [f.param('x')]);
      },
    ],
  ])('%s', async (_, x, body) => {
    const vm = await VirtualMachine.create(program(body), {
      devices: [new TestDevice()],
      log: () => undefined,
    });
    const controller = new AbortController();
    const running = vm.invoke('main', [x], { signal: controller.signal });
    const rejected = expect(running).rejects.toThrow('aborted');
    await macrotask();
    controller.abort();
    await rejected;
    // What is being read is held until it has been.
    await expect.poll(() => vm.memory().liveBytes).toBe(0);
    vm.dispose();
  });
});
