import { expect, test } from 'vitest';
import { ExecBuilder, type Executable } from '../../bytecode/index.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { createWebGpuDevice } from '../../device/webgpu/index.ts';
import { OPS } from '../../ops/registry.ts';
import { nodeGpu } from '../../testing/node-gpu.ts';
import {
  AdtValue,
  ClosureValue,
  PackedFunctionValue,
  release,
  TensorValue,
  type Value,
} from '../value.ts';
import { VirtualMachine } from '../virtual-machine.ts';
import { resumeSnapshot } from './resume-snapshot.ts';
import { RunControl } from './run-control.ts';
import { takeSnapshot } from './take-snapshot.ts';

const VECTOR = { dtype: 'float32', shape: [3] } as const;

/**
 * `main(x, n)` multiplies x by a constant n times; `tree(x, n)` is x times 2^n by recursion;
 * `ask(x)` calls JS, then adds.
 */
function program(): Executable {
  const b = new ExecBuilder();
  for (const op of ['mul', 'add']) {
    const body = [{ op, inputs: [0, 1], attributes: {} }];
    const results = [{ value: 2, type: VECTOR }];
    b.primitive({ name: op, params: [VECTOR, VECTOR], body, results });
  }
  const build = (name: string, params: string[]) => {
    const f = b.function(name, params);
    const apply = (op: string, left: Parameters<typeof f.ret>[0], right: typeof left) => {
      const storage = f.call('vm.builtin.alloc_storage', [12, 0]);
      const operands = [storage, 0, b.shape([3]), b.dtype('float32')];
      const out = f.call('vm.builtin.alloc_tensor', operands);
      f.call(op, [left, right, out], { into: f.void });
      return out;
    };
    return { f, apply };
  };
  const { f, apply } = build('main', ['x', 'n']);
  const factor = b.tensor(HostTensor.from('float32', [3], [1.001, 0.999, 1.0001]));
  const [x, left, top, done] = [f.fresh(), f.fresh(), f.label(), f.label()];
  f.call('vm.builtin.move', [f.param('x')], { into: x });
  f.call('vm.builtin.move', [f.param('n')], { into: left });
  f.place(top);
  f.if(left, done);
  f.call('vm.builtin.move', [apply('mul', x, factor)], { into: x });
  f.call('vm.builtin.int_sub', [left, 1], { into: left });
  f.goto(top);
  f.place(done);
  f.ret(x);

  const tree = build('tree', ['x', 'n']);
  const g = tree.f;
  const deeper = g.label();
  g.if(g.call('vm.builtin.int_eq', [g.param('n'), 0]), deeper);
  g.ret(g.param('x'));
  g.place(deeper);
  const below = g.call('vm.builtin.int_sub', [g.param('n'), 1]);
  const branches = [0, 1].map(() => g.call('tree', [g.param('x'), below]));
  g.ret(tree.apply('add', branches[0] ?? 0, branches[1] ?? 0));

  const ask = build('ask', ['x']);
  ask.f.ret(ask.apply('add', ask.f.param('x'), ask.f.call('test.answer', [ask.f.param('x')])));
  return b.build();
}

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
  const gpu = await createWebGpuDevice({ operators: OPS, gpu: await nodeGpu() });
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

test('a snapshot that is cut or changed anywhere is refused', async () => {
  const machine = await open(createHostDevice());
  const { bytes } = await storedAt(machine, ['tree', 3], 5);
  const resume = (changed: Uint8Array) =>
    resumeSnapshot(changed, program(), { devices: [createHostDevice()], functions });
  for (let at = 0; at < bytes.length; at += 7) {
    const changed = bytes.slice();
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    await expect(resume(changed)).rejects.toMatchObject({ name: 'FormatError' });
    await expect(resume(bytes.slice(0, at))).rejects.toMatchObject({ name: 'FormatError' });
  }
});
