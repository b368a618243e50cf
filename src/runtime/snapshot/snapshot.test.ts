import { expect, test } from 'vitest';
import { ExecBuilder } from '../../bytecode/index.ts';
import { WeftError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { createWebGpuDevice } from '../../device/webgpu/index.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import {
  AdtValue,
  ClosureValue,
  PackedFunctionValue,
  release,
  TensorValue,
  type Value,
} from '../values/value.ts';
import { loopAndTree } from '../testing/long-programs.ts';
import { VirtualMachine } from '../virtual-machine.ts';
import { restoreSnapshot, resumeSnapshot } from './resume-snapshot.ts';
import { RunControl } from './run-control.ts';
import { openSnapshot, sealSnapshot } from './snapshot-file.ts';
import { HEADER_BYTE_LENGTH } from './snapshot-format.ts';
import { takeSnapshot } from './take-snapshot.ts';

const program = () => loopAndTree({ asking: true });

const functions = { 'test.answer': (x: Value) => x };

function open(device: Device): Promise<VirtualMachine> {
  return VirtualMachine.create(program(), { devices: [device], functions });
}

const X = HostTensor.from('float32', [3], [1, 2, 3]);

async function elements(machine: VirtualMachine, value: Value | undefined): Promise<number[]> {
  if (!(value instanceof TensorValue)) throw new Error('no tensor');
  const [tensor] = await machine.read([value]);
  release(value);
  return Array.from(tensor?.data ?? [], Number);
}

/** Runs to the `visit`-th time that an instruction is reached, and stores the machine there. */
async function storedAt(machine: VirtualMachine, call: [string, number], visits: number) {
  const control = RunControl.of(machine);
  const [name, n] = call;
  const at = { function: name, instruction: 3 };
  let paused = control.pause({ at });
  const result = machine.invoke(name, [X, n]);
  for (let visit = 1; visit < visits; visit++) {
    await paused;
    paused = control.pause({ at });
    control.continue();
  }
  const [where] = await paused;
  expect(where?.at).toEqual(at);
  const bytes = await takeSnapshot(machine);
  control.continue();
  return { bytes, where, straight: await elements(machine, await result) };
}

test.each([
  ['a loop', 'main', 200, 57],
  ['a recursion', 'tree', 6, 20],
] as const)('%s goes on in another machine, on either device', async (_, name, n, visits) => {
  const gpu = await createWebGpuDevice({ operators: CORE_OPERATORS, gpu: await sharedNodeGpu() });
  const host = createHostDevice();
  for (const device of [host, gpu]) {
    const machine = await open(device);
    const { bytes, straight } = await storedAt(machine, [name, n], visits);
    machine.dispose();
    for (const other of [gpu, host]) {
      const options = { devices: [other], functions };
      const resumed = await resumeSnapshot(bytes, program(), options);
      const got = await elements(resumed.machine, await resumed.calls[0]?.result);
      if (other === device) expect(got).toEqual(straight);
      else for (const [i, value] of got.entries()) expect(value).toBeCloseTo(straight[i] ?? 0, 5);
      expect(resumed.machine.memory().liveBytes).toBe(0);
      resumed.machine.dispose();
    }
  }
  gpu.destroy();
});

test('keeps what is shared, and gives everything back', async () => {
  const machine = await open(createHostDevice());
  const tensor = machine.tensor(X);
  const view = new TensorValue(tensor.storage, { byteOffset: 0, dtype: 'float32', shape: [1, 3] });
  const inner = new AdtValue(3, [tensor, 'a\ud800', -7, null]);
  const closure = new ClosureValue(machine, 1, { captured: [inner] });
  const root = new AdtValue(0, [inner, view, closure, inner]);
  const bytes = await takeSnapshot(machine, { roots: { root }, note: 'half way' });
  const options = { devices: [createHostDevice()], functions };
  const { machine: other, roots, note } = await resumeSnapshot(bytes, program(), options);
  expect(note).toBe('half way');
  const copy = roots['root'];
  if (!(copy instanceof AdtValue)) throw new Error('no ADT');
  const [first, seen, code, last] = copy.fields;
  expect(first).toBe(last);
  if (!(first instanceof AdtValue) || !(seen instanceof TensorValue)) throw new Error('no fields');
  expect(first.fields.slice(1)).toEqual(['a\ud800', -7, null]);
  expect((first.fields[0] as TensorValue).storage).toBe(seen.storage);
  expect(seen.shape).toEqual([1, 3]);
  expect((code as ClosureValue).captured[0]).toBe(first);
  release(copy);
  expect(other.memory().liveBytes).toBe(0);
});

test('names the functions and the program that the resuming side lacks', async () => {
  const machine = await open(createHostDevice());
  const roots = { f: new PackedFunctionValue('test.outside', () => null) };
  const bytes = await takeSnapshot(machine, { roots });
  const b = new ExecBuilder();
  b.function('main').ret(1);
  const devices = [createHostDevice()];
  await expect(resumeSnapshot(bytes, program(), { devices, functions })).rejects.toThrow(
    'a snapshot that needs the functions test.outside',
  );
  const outside = { ...functions, 'test.outside': () => null };
  const resumed = await resumeSnapshot(bytes, program(), { devices, functions: outside });
  expect(resumed.roots['f']).toMatchObject({ kind: 'packed', name: 'test.outside' });
  await expect(resumeSnapshot(bytes, b.build(), { devices })).rejects.toThrow(
    'expected the one that ran',
  );
  const states = { dice: { save: () => Uint8Array.of(7), restore: () => undefined } };
  const withState = await takeSnapshot(machine, { states });
  await expect(resumeSnapshot(withState, program(), { devices, functions })).rejects.toThrow(
    'a snapshot that needs the states dice',
  );
});

test.each([0, 1, 128, 2 ** 24 + 256])(
  'blocks of %i bytes are refused, not hashed',
  async (length) => {
    const machine = await open(createHostDevice());
    const { bytes } = await storedAt(machine, ['tree', 3], 5);
    machine.dispose();
    const changed = new Uint8Array(bytes);
    const sectionCount = 8;
    const hashByteLength = 32;
    // The first section begins with the hash of the program.
    const at = HEADER_BYTE_LENGTH + sectionCount * 8 + hashByteLength;
    new DataView(changed.buffer).setUint32(at, length, true);
    await sealSnapshot(changed);
    const options = { devices: [createHostDevice()], functions };
    await expect(resumeSnapshot(changed, program(), options)).rejects.toThrow(
      `got blocks of ${length} bytes, expected a multiple of 256 up to 16777216`,
    );
  },
);

test('a snapshot that is cut or changed at any byte is refused', async () => {
  const machine = await open(createHostDevice());
  const { bytes } = await storedAt(machine, ['tree', 3], 5);
  const refused = expect.objectContaining({ name: 'FormatError' });
  const failure = (given: Uint8Array) => openSnapshot(given).catch((error: unknown) => error);
  for (let at = 0; at < bytes.length; at++) {
    const changed = bytes.slice();
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    expect(await failure(changed)).toEqual(refused);
    expect(await failure(bytes.slice(0, at))).toEqual(refused);
    if (at % 97 === 0) await expect(restoreSnapshot(machine, changed)).rejects.toEqual(refused);
  }
  expect(await failure(Uint8Array.of(...bytes, 0))).toEqual(refused);
});

test('a snapshot with any other byte under a right hash is refused with a typed error, or restored', async () => {
  const machine = await open(createHostDevice());
  const { bytes } = await storedAt(machine, ['tree', 3], 5);
  const control = RunControl.of(machine);
  await control.pause();
  const kinds = new Map<string, number>();
  for (let at = HEADER_BYTE_LENGTH; at < bytes.length; at++) {
    const changed = bytes.slice();
    changed[at] = (changed[at] ?? 0) ^ (at % 3 === 0 ? 0xff : 1 << (at % 8));
    await sealSnapshot(changed);
    let kind = 'restored';
    try {
      const { calls, roots } = await restoreSnapshot(machine, changed);
      for (const call of calls) call.abort(new Error('enough'));
      await Promise.allSettled(calls.map(({ result }) => result));
      for (const root of Object.values(roots)) release(root);
    } catch (error) {
      expect(error).toBeInstanceOf(WeftError);
      kind = (error as Error).name;
    }
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  control.continue();
  // Snapshots that were dropped half-way left nothing behind.
  expect(machine.memory().liveBytes).toBe(0);
  expect([...kinds.keys()].sort()).toEqual([
    'FormatError',
    'RuntimeError',
    'UsageError',
    'restored',
  ]);
});
