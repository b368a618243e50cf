import { describe, expect, test } from 'vitest';
import { ExecBuilder } from '../bytecode/index.ts';
import { OutOfMemoryError, UnsupportedError } from '../core/errors.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { NaiveAllocator } from './testing/naive-allocator.ts';
import type { MachineProgress } from './link/load-machine.ts';
import { TestDevice } from './testing/test-device.ts';
import { TensorValue } from './values/value.ts';
import { VirtualMachine } from './virtual-machine.ts';

/** `copies(x)` makes three copies of x; `weights()` returns a constant. */
function program() {
  const b = new ExecBuilder();
  const f = b.function('copies', ['x']);
  const copies = [1, 2, 3].map(() => f.call('vm.builtin.copy', [f.param('x')]));
  f.ret(f.call('vm.builtin.make_tuple', copies));
  const g = b.function('weights');
  g.ret(
    b.tensor(
      HostTensor.from(
        'float32',
        [300],
        Array.from({ length: 300 }, (_, i) => i),
      ),
    ),
  );
  return b.build();
}

const BIG = HostTensor.zeros('float32', [256]);

describe('VirtualMachine.create', () => {
  test('uploads the data section while it arrives, and reports progress', async () => {
    const executable = program();
    const progress: MachineProgress[] = [];
    const device = new TestDevice();
    async function* dataBlocks() {
      for (let byteOffset = 0; byteOffset < executable.dataByteLength; byteOffset += 500) {
        yield { byteOffset, bytes: executable.data.slice(byteOffset, byteOffset + 500) };
      }
    }
    const { data: _, ...head } = executable;
    const vm = await VirtualMachine.create(head, {
      devices: [device],
      dataBlocks: dataBlocks(),
      onProgress: (step) => progress.push(step),
    });
    expect(progress).toEqual([
      { phase: 'upload', loaded: 500, total: 1200 },
      { phase: 'upload', loaded: 1000, total: 1200 },
      { phase: 'upload', loaded: 1200, total: 1200 },
    ]);
    expect(device.journal).toEqual(['write 500', 'write 500', 'write 200']);
    const weights = await vm.invoke('weights');
    if (!(weights instanceof TensorValue)) throw new Error('internal: the result is no tensor');
    expect((await vm.read([weights]))[0]?.elements[299]).toBe(299);
    expect(vm.memory()).toMatchObject({ constantBytes: 1200, liveBytes: 0 });
  });

  test('fails when the data section ends early or its source fails', async () => {
    const device = new TestDevice();
    const { data: _, ...head } = program();
    await expect(VirtualMachine.create(head, { devices: [device] })).rejects.toThrow(
      'data section: got an end before the constant at byte 0 was complete',
    );
    async function* failing() {
      yield { byteOffset: 0, bytes: new Uint8Array(4) };
      throw new TypeError('network error');
    }
    const options = { devices: [device], dataBlocks: failing() };
    await expect(VirtualMachine.create(head, options)).rejects.toThrow('network error');
    expect(device.counters().bytesLive).toBe(0);
  });

  test('stops the upload when the kernels cannot be prepared', async () => {
    const b = new ExecBuilder();
    const type = { dtype: 'float32', shape: [4] } as const;
    const body = [{ op: 'relu', inputs: [0], attributes: {} }];
    b.primitive({ name: 'k', params: [type], body, results: [{ value: 1, type }] });
    const f = b.function('main', ['y']);
    f.call('k', [b.tensor(HostTensor.from('float32', [4], [1, 2, 3, 4])), f.param('y')]);
    f.ret(f.param('y'));
    const executable = b.build();
    const device = new TestDevice();
    async function* endless() {
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 0));
        yield { byteOffset: 0, bytes: executable.data.subarray(0, 4) };
      }
    }
    const options = { devices: [device], dataBlocks: endless() };
    const failure = VirtualMachine.create(executable, options);
    await expect(failure).rejects.toBeInstanceOf(UnsupportedError);
    await expect(failure).rejects.toThrow('test device cannot run k');
    expect(device.counters().bytesLive).toBe(0);
  });
});

describe('what is not meant', () => {
  const untyped = (value: unknown): never => value as never;
  const devices = [new TestDevice()];
  test.each<[string, unknown, unknown, string]>([
    ['nothing', program(), undefined, 'got undefined, expected an object with options.'],
    ['no options', program(), {}, 'got devices undefined, expected a list, each a device'],
    [
      'other options',
      program(),
      { devices, byteBudgt: 1 },
      'got an unknown option "byteBudgt", expected only devices,',
    ],
    [
      'other limits',
      program(),
      { devices, limits: { callDepht: 5 } },
      'got limits {"callDepht":5}, expected some of callDepth, registers, fields',
    ],
    [
      'another mode',
      program(),
      { devices, compile: 'lazy' },
      'got compile "lazy", expected "ahead" or "on demand".',
    ],
    ['names of devices', program(), { devices: ['host'] }, 'got devices ["host"], expected a list'],
    [
      'bytes',
      program().toBytes(),
      { devices },
      'got the program a Uint8Array, expected an Executable',
    ],
  ])('%s make no machine', async (_, executable, options, message) => {
    const machine = VirtualMachine.create(untyped(executable), untyped(options));
    await expect(machine).rejects.toThrow(`VirtualMachine.create: ${message}`);
  });

  test('is neither called nor read', async () => {
    const vm = await VirtualMachine.create(program(), { devices });
    await expect(vm.invoke('copies', untyped({ x: BIG }))).rejects.toThrow('expected a list.');
    await expect(vm.invoke('copies', [BIG], untyped({ donated: [0] }))).rejects.toThrow(
      'invoke: got an unknown option "donated", expected only signal, donate, runner. Did you mean donate?',
    );
    await expect(vm.profile('copies', [BIG], untyped({ donate: 0 }))).rejects.toThrow(
      'invoke: got donate 0, expected a list of numbers.',
    );
    expect(() => vm.tensor(untyped([1]))).toThrow(
      'tensor: got what is [1], expected a HostTensor.',
    );
    await expect(vm.read(untyped([5]))).rejects.toThrow('each a tensor of a machine.');
    vm.dispose();
  });
});

describe('memory', () => {
  test('returns to the constants after each run; trim empties the pool', async () => {
    const device = new TestDevice();
    const vm = await VirtualMachine.create(program(), { devices: [device] });
    for (let i = 0; i < 3; i++) {
      const result = await vm.invoke('copies', [BIG]);
      expect(vm.memory().liveBytes).toBe(3 * 1024);
      vm.release(result);
      expect(vm.memory()).toMatchObject({ liveBytes: 0, pooledBytes: 4 * 1024 });
    }
    expect(vm.memory()).toMatchObject({
      constantBytes: 1200,
      peakBytes: 1200 + 4 * 1024,
      allocations: 12,
      reuses: 8,
    });
    expect(vm.trim()).toBe(4 * 1024);
    expect(device.counters().bytesLive).toBe(1200);
    vm.dispose();
    expect(device.counters().bytesLive).toBe(0);
  });

  test('a run beyond the budget fails with the sizes and leaves nothing behind', async () => {
    const device = new TestDevice();
    const vm = await VirtualMachine.create(program(), { devices: [device], byteBudget: 5000 });
    const error = await vm.invoke('copies', [BIG]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OutOfMemoryError);
    expect(error).toMatchInlineSnapshot(`
      [OutOfMemoryError: allocation on test device: got a request of 1024 bytes with 3072 live, 0 pooled and 1200 in constants, expected at most 5000 bytes in all. Raise the byte budget, use a smaller batch, or dispose of other sessions.
          at copies, instruction 2 (line 6): %3 = call vm.builtin.copy(%0)]
    `);
    expect(error).toMatchObject({
      details: { requestedBytes: 1024, liveBytes: 3072, reservedBytes: 1200, budgetBytes: 5000 },
    });
    expect(vm.memory()).toMatchObject({ liveBytes: 0, pooledBytes: 3072 });
    await expect(
      VirtualMachine.create(program(), { devices: [device], byteBudget: 1000 }),
    ).rejects.toThrow('got a request of 1200 bytes');
  });

  test('another allocator may be chosen', async () => {
    const device = new TestDevice();
    const vm = await VirtualMachine.create(program(), {
      devices: [device],
      createAllocator: (on, byteBudget) => new NaiveAllocator(on, { byteBudget }),
    });
    vm.release(await vm.invoke('copies', [BIG]));
    expect(vm.memory()).toMatchObject({ liveBytes: 0, pooledBytes: 0, reuses: 0 });
  });

  test('values from outside keep their references', async () => {
    const vm = await VirtualMachine.create(program(), { devices: [new TestDevice()] });
    const x = vm.tensor(BIG);
    vm.retain(x);
    vm.release(await vm.invoke('copies', [x]));
    vm.release(x);
    expect(vm.memory().liveBytes).toBe(1024);
    expect(vm.readSync(x)?.elementCount).toBe(256);
    vm.release(x);
    expect(vm.memory().liveBytes).toBe(0);
  });
});
