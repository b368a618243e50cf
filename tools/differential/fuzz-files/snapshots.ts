import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { createHostDevice } from '../../../src/device/host/host-device.ts';
import { resumeSnapshot } from '../../../src/runtime/snapshot/resume-snapshot.ts';
import { RunControl } from '../../../src/runtime/snapshot/run-control.ts';
import { sealSnapshot } from '../../../src/runtime/snapshot/snapshot-file.ts';
import {
  HEADER_BYTE_LENGTH,
  SECTION_ALIGNMENT,
  SECTION_NAMES,
} from '../../../src/runtime/snapshot/snapshot-format.ts';
import { takeSnapshot } from '../../../src/runtime/snapshot/take-snapshot.ts';
import { loopAndTree } from '../../../src/runtime/testing/long-programs.ts';
import {
  AdtValue,
  ClosureValue,
  FloatValue,
  release,
  ShapeValue,
  type Value,
} from '../../../src/runtime/values/value.ts';
import { VirtualMachine } from '../../../src/runtime/virtual-machine.ts';
import { Chance, joined } from './chance.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { checkEmpty } from './run-executable.ts';

const BYTE_BUDGET = 2 ** 22;
const LIMITS = { instructions: 20_000, callDepth: 200, fields: 1 << 14, registers: 1 << 16 };
const ENTRY_BYTE_LENGTH = 8;
const BODY_OFFSET = HEADER_BYTE_LENGTH + SECTION_NAMES.length * ENTRY_BYTE_LENGTH;
/** Positions of sections; values and calls more often. */
const CHANGED_SECTIONS = [0, 1, 2, 2, 2, 2, 3, 3, 3, 4, 5, 6, 7];
/** So often nothing moves. */
const IN_PLACE = 0.85;
const SPLICED = 0.05;
/** Where calls are held: a function, its `n`, and the visit of instruction 3. */
const PLACES = [
  ['main', 20, 3],
  ['tree', 3, 5],
  ['tail', 9, 4],
  ['fold', 5, 2],
] as const;

const program = loopAndTree({ asking: true });
const functions = { 'test.answer': (x: Value) => x };
const states = { dice: { save: () => Uint8Array.of(1, 2, 3), restore: () => undefined } };

/** Snapshots with changes in their sections, and right lengths and hashes. */
export async function snapshots(): Promise<FuzzTarget> {
  const files: Uint8Array[][] = [];
  let header = new Uint8Array();
  for (const [name, n, visit] of PLACES) {
    const file = await snapshotAt(name, n, visit);
    header = file.slice(0, HEADER_BYTE_LENGTH);
    files.push(takeApart(file));
  }
  return {
    input: async (seed) => {
      const chance = new Chance(seed);
      const sections = [...chance.pick(files)];
      for (let changes = chance.often(0.7) ? 1 : 3; changes > 0; changes--) {
        const index = chance.pick(CHANGED_SECTIONS);
        const bytes = sections[index] ?? new Uint8Array();
        const changed = chance.often(IN_PLACE) ? chance.change(bytes) : chance.mutate(bytes);
        const donor = chance.often(SPLICED) ? chance.pick(files)[index] : undefined;
        sections[index] = donor ?? changed;
      }
      return putTogether(header, sections);
    },
    run,
  };
}

function takeApart(file: Uint8Array): Uint8Array[] {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  let start = BODY_OFFSET;
  return SECTION_NAMES.map((_, index) => {
    const entry = HEADER_BYTE_LENGTH + index * ENTRY_BYTE_LENGTH;
    const length = view.getUint32(entry + 4, true);
    const bytes = file.slice(start, start + length);
    start += padded(length);
    return bytes;
  });
}

async function putTogether(
  header: Uint8Array,
  sections: readonly Uint8Array[],
): Promise<Uint8Array<ArrayBuffer>> {
  const table = new DataView(new ArrayBuffer(sections.length * ENTRY_BYTE_LENGTH));
  for (const [index, { length }] of sections.entries()) {
    table.setUint32(index * ENTRY_BYTE_LENGTH, index + 1, true);
    table.setUint32(index * ENTRY_BYTE_LENGTH + 4, length, true);
  }
  const body = sections.map((bytes) =>
    joined(bytes, new Uint8Array(padded(bytes.length) - bytes.length)),
  );
  const file = joined(header, new Uint8Array(table.buffer), ...body);
  new DataView(file.buffer).setBigInt64(16, BigInt(file.length), true);
  await sealSnapshot(file);
  return file;
}

function padded(length: number): number {
  return Math.ceil(length / SECTION_ALIGNMENT) * SECTION_ALIGNMENT;
}

/** Resumes the snapshot, lets its calls go on to their end, and frees everything. */
async function run(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const device = createHostDevice({ byteBudget: BYTE_BUDGET });
  const options = { devices: [device], functions, states, limits: LIMITS, log: () => undefined };
  let machine: VirtualMachine | undefined;
  try {
    const resumed = await resumeSnapshot(bytes, program, { ...options, byteBudget: BYTE_BUDGET });
    ({ machine } = resumed);
    const results = await Promise.allSettled(resumed.calls.map(({ result }) => result));
    for (const result of results) if (result.status === 'fulfilled') release(result.value);
    for (const root of Object.values(resumed.roots)) release(root);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  } finally {
    checkEmpty(machine?.memory().liveBytes ?? 0, 'live in the machine');
    machine?.dispose();
    checkEmpty(device.counters().bytesLive, 'left on the device');
  }
}

/** With values of every kind as roots. */
async function snapshotAt(name: string, n: number, visit: number): Promise<Uint8Array> {
  const machine = await VirtualMachine.create(program, {
    devices: [createHostDevice()],
    functions,
  });
  const control = RunControl.of(machine);
  const x = HostTensor.from('float32', [3], [1, 2, 3]);
  const paused = control.pause({ at: { function: name, instruction: 3 }, visit });
  const call = machine.invoke(name, [x, n]);
  call.catch(() => undefined);
  await paused;
  const tensor = machine.tensor(x);
  const inner = new AdtValue(3, [tensor, 'text', -7, null, new FloatValue(0.5)]);
  const closure = new ClosureValue(machine, 1, { captured: [inner] });
  const root = new AdtValue(0, [inner, new ShapeValue([2, 3]), closure, inner]);
  const bytes = await takeSnapshot(machine, { roots: { root, tensor }, states, note: 'half way' });
  machine.dispose();
  return bytes;
}
