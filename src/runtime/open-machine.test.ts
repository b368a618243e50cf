import { afterEach, describe, expect, test } from 'vitest';
import { compile, parseModule } from '../frontend/index.ts';
import { fromMachine } from '../rpc/values/machine-values.ts';
import { createDevice } from '../worker/index.ts';
import {
  HostTensor,
  importFunctions,
  type MachineOptions,
  OpaqueValue,
  RunControl,
  takeSnapshot,
  type Value,
  VirtualMachine,
} from './index.ts';

const X = HostTensor.from('float32', [2], [1, 2]);
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

async function hostDevice() {
  const device = await createDevice('host');
  ends.push(() => device.destroy());
  return device;
}

async function open(text: string, options: Partial<MachineOptions> = {}) {
  const devices = options.devices ?? [await hostDevice()];
  const vm = await VirtualMachine.create(compile(parseModule(text)), { ...options, devices });
  ends.push(() => vm.dispose());
  return vm;
}

async function numbers(vm: VirtualMachine, value: Value): Promise<number[]> {
  if (value === null || typeof value !== 'object' || value.kind !== 'tensor') throw new Error();
  const [tensor] = await vm.read([value]);
  vm.release(value);
  return Array.from(tensor?.data ?? [], Number);
}

describe('opaque values', () => {
  const PROGRAM = `
extern def @"db.open"(%i: int) -> any
extern def @"db.add"(%db: any, %x: Tensor[(2,), float32]) -> Tensor[(2,), float32]
def @main(%x: Tensor[(2,), float32]) {
  let %db = @"db.open"(#7);
  let %pair = (%db, %x);
  @"db.add"(%pair.0, mul(%pair.1, 2f))
}
def @make(%i: int) { @"db.open"(%i) }`;
  const functions = {
    'db.open': (key: Value) => new OpaqueValue('database', { key, entries: new Map() }),
    'db.add': (db: Value, x: Value) => {
      if (!(db instanceof OpaqueValue) || db.name !== 'database') throw new Error('no database');
      expect(db.value).toEqual({ key: 7, entries: new Map() });
      return x;
    },
  };

  test('pass through a program, in tuples too', async () => {
    const vm = await open(PROGRAM, { functions });
    const { liveBytes } = vm.memory();
    expect(await numbers(vm, await vm.invoke('main', [X]))).toEqual([2, 4]);
    expect(vm.memory().liveBytes).toBe(liveBytes);
    expect(await vm.invoke('make', [7])).toMatchObject({ kind: 'opaque', name: 'database' });
  });

  test('a snapshot of a call that holds one is refused by name', async () => {
    const vm = await open(PROGRAM, { functions });
    const control = RunControl.of(vm);
    // The call that ends main, after which nothing holds the object.
    const paused = control.pause({ at: { function: 'db.add.checked', instruction: 0 } });
    const running = vm.invoke('main', [X]);
    await paused;
    await expect(takeSnapshot(vm)).rejects.toThrow(
      'snapshot: got a call that holds the opaque value "database", expected values that can be stored.',
    );
    control.continue();
    expect(await numbers(vm, await running)).toEqual([2, 4]);
  });

  test('a remote call that gives one is refused by name', async () => {
    const vm = await open(PROGRAM, { functions });
    const value = await vm.invoke('make', [7]);
    await expect(fromMachine([value], { machine: () => vm })).rejects.toThrow(
      'remote call: got an opaque "database", expected a number, string,',
    );
  });
});

describe('importFunctions', () => {
  const LIBRARY = `
def @scale(%x: Tensor[(2,), float32], %by: int) -> Tensor[(2,), float32] {
  if (int_lt(#0, %by)) { @scale(mul(%x, 2f), int_sub(%by, #1)) } else { %x }
}
def @same(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] { %x }
def @constant(%i: int) -> Tensor[(2,), float32] { [5f, 6f] }`;
  const PROGRAM = `
extern def @scale(%x: Tensor[(2,), float32], %by: int) -> Tensor[(2,), float32]
extern def @same(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32]
extern def @constant(%i: int) -> Tensor[(2,), float32]
def @main(%x: Tensor[(2,), float32]) {
  let %y = @scale(neg(%x), #3);
  let %z = @same(%y);
  add(add(%y, %z), @constant(#0))
}`;

  test.each(['host', 'wasm'] as const)('a program calls another one on %s', async (kind) => {
    const device = await createDevice(kind);
    ends.push(() => device.destroy());
    const library = await open(LIBRARY, { devices: [device] });
    const vm = await open(PROGRAM, { devices: [device], functions: importFunctions(library) });
    const [before, libraryBefore] = [vm, library].map((each) => each.memory().liveBytes);
    for (let i = 0; i < 3; i++) {
      expect(await numbers(vm, await vm.invoke('main', [X]))).toEqual([-11, -26]);
    }
    expect(vm.memory().liveBytes).toBe(before);
    expect(library.memory().liveBytes).toBe(libraryBefore);
  });

  test('some names only; others are refused', async () => {
    const library = await open(LIBRARY);
    expect(Object.keys(importFunctions(library, ['same']))).toEqual(['same']);
    expect(() => importFunctions(library, ['other'])).toThrow(
      'virtual machine: got the function name "other", expected one of scale, same, constant.',
    );
    await expect(open(PROGRAM, { functions: importFunctions(library, ['same']) })).rejects.toThrow(
      'no definition of scale (packed), constant (packed)',
    );
  });
});
