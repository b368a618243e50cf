import { checkOptions, requireKind } from '../../core/check-options.ts';
import { ByteWriter } from '../../core/bytes/byte-writer.ts';
import { UsageError } from '../../core/errors.ts';
import type { Device, DeviceRange } from '../../device/device.ts';
import type { MachineInternals } from '../link/load-machine.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import { release, retain, type StorageValue, type Value } from '../values/value.ts';
import type { CallInFlight } from '../calls/call-in-flight.ts';
import { programHash } from './program-hash.ts';
import { MACHINE, RunControl } from './run-control.ts';
import { draftSnapshot, sealSnapshot } from './snapshot-file.ts';
import { STORAGE_ALIGNMENT } from './snapshot-format.ts';
import { ValueWriter } from './value-writer.ts';

/** Bytes of one read from a device. */
const PIECE_BYTE_LENGTH = 8 * 2 ** 20;

/** The state of a JS function of the program, which the machine cannot know. */
interface HostState {
  /** Bytes that {@link restore} takes back, of this version or a later one. */
  save(): Uint8Array;
  /** Throws for bytes that are none of its own. */
  restore(bytes: Uint8Array): void;
}

/** States of functions of the host, by names of the caller. */
export type HostStates = Readonly<Record<string, HostState>>;

/** Values that a snapshot stores beside the calls. */
export interface SnapshotOptions {
  /** Further values to store, such as tensors that a caller keeps between calls. */
  readonly roots?: Readonly<Record<string, Value>>;
  /** Stored with the machine, and restored by those of the same names. */
  readonly states?: HostStates;
  /** A text of the caller, which is stored as it is. */
  readonly note?: string;
  /** Gives up while calls are waited for. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Stores all calls in flight with everything they refer to; see `docs/snapshots.md`. A machine that
 * is not paused is paused for the time of it. Throws UnsupportedError for what cannot be stored:
 * values of other machines, or a program whose data section nobody has any more.
 */
export function takeSnapshot(
  machine: VirtualMachine,
  options: SnapshotOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  requireKind('takeSnapshot', MACHINE, ['what is', machine]);
  const own = { roots: 'object', states: 'object' } as const;
  checkOptions('takeSnapshot', options, { ...own, note: 'text', signal: 'signal' });
  const control = RunControl.of(machine);
  const work = () => storeCalls(machine, control.heldCalls(), options);
  return control.whilePaused(work, options.signal);
}

/**
 * Stores calls as {@link takeSnapshot} does; they have to stand between two instructions for the
 * time of it.
 */
export async function storeCalls(
  machine: VirtualMachine,
  held: readonly CallInFlight[],
  options: SnapshotOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const internals = machine.internals();
  const writer = new ValueWriter(internals, machine.executable);
  const calls = writeCalls(held, writer);
  const roots = writeRoots(writer, options.roots ?? {});
  const states = writeStates(options.states ?? {});
  const values = new ByteWriter().u32(writer.count).bytes(writer.entries.finish());
  const functions = new ByteWriter().u32(writer.functionNames.length);
  for (const name of writer.functionNames) functions.string(name);
  const note = new ByteWriter().string(options.note ?? '');
  const program = writeProgram(machine, internals);
  const places = placesOf(writer.storages);
  const sections = { program, functions, values, calls, roots, states, note };
  const { bytes, data } = draftSnapshot(sections, places.byteLength);
  await readContents(places.storages, data);
  await sealSnapshot(bytes);
  return bytes;
}

function writeProgram(
  machine: VirtualMachine,
  { state, dataHashes }: MachineInternals,
): ByteWriter {
  const { blockByteLength, hash } = programHash(machine.executable, dataHashes);
  const devices = new Set(state.allocators.map(({ device }) => device));
  const w = new ByteWriter().bytes(hash).u32(blockByteLength).u32(devices.size);
  for (const { kind, info } of devices) w.string(kind).string(info.name);
  return w;
}

function writeCalls(calls: readonly CallInFlight[], writer: ValueWriter): ByteWriter {
  const w = new ByteWriter().u32(calls.length);
  for (const { entry = '', invocation } of calls) {
    w.string(entry).i64(invocation.executed).u32(invocation.frames.length);
    for (const { function: callee, pc, registers } of invocation.frames) {
      writer.operands(w.u32(callee.index).u32(pc), registers);
    }
  }
  return w;
}

function writeRoots(writer: ValueWriter, roots: Readonly<Record<string, Value>>): ByteWriter {
  const w = new ByteWriter().u32(Object.keys(roots).length);
  for (const [name, value] of Object.entries(roots)) {
    writer.operand(w.string(name), value);
  }
  return w;
}

function writeStates(states: HostStates): ByteWriter {
  const w = new ByteWriter().u32(Object.keys(states).length);
  for (const [name, state] of Object.entries(states)) {
    const bytes = state.save();
    w.string(name).u32(bytes.byteLength).bytes(bytes);
  }
  return w;
}

interface Place {
  readonly storage: StorageValue;
  readonly byteOffset: number;
}

function placesOf(storages: readonly StorageValue[]) {
  let byteLength = 0;
  const places = storages.map((storage): Place => {
    const byteOffset = byteLength;
    const end = byteOffset + Math.ceil(storage.byteLength / 4) * 4;
    byteLength = Math.ceil(end / STORAGE_ALIGNMENT) * STORAGE_ALIGNMENT;
    return { storage, byteOffset };
  });
  return { storages: places, byteLength };
}

interface Piece extends DeviceRange {
  readonly target: number;
}

/** Reads in pieces, so that beside the snapshot no more than one is in memory. */
async function readContents(places: readonly Place[], data: Uint8Array): Promise<void> {
  for (const { storage } of places) {
    if (storage.references <= 0) {
      throw new UsageError({
        where: 'snapshot',
        got: 'a tensor that was released',
        expected: 'values with a reference',
      });
    }
  }
  for (const { storage } of places) retain(storage);
  try {
    let batch: Piece[] = [];
    let device: Device | undefined;
    let byteLength = 0;
    const flush = async (): Promise<void> => {
      const blocks = await (device?.read(batch) ?? []);
      for (const [index, block] of blocks.entries()) data.set(block, batch[index]?.target ?? 0);
      [batch, byteLength] = [[], 0];
    };
    for (const { storage, piece } of piecesOf(places)) {
      const isFull = byteLength + piece.byteLength > PIECE_BYTE_LENGTH;
      if (batch.length > 0 && (isFull || storage.device !== device)) await flush();
      device = storage.device;
      batch.push(piece);
      byteLength += piece.byteLength;
    }
    if (batch.length > 0) await flush();
  } finally {
    for (const { storage } of places) release(storage);
  }
}

function* piecesOf(places: readonly Place[]) {
  for (const { storage, byteOffset: target } of places) {
    const { buffer, byteOffset } = storage;
    const whole = Math.ceil(storage.byteLength / 4) * 4;
    for (let at = 0; at < whole; at += PIECE_BYTE_LENGTH) {
      const byteLength = Math.min(PIECE_BYTE_LENGTH, whole - at);
      const piece = { buffer, byteOffset: byteOffset + at, byteLength, target: target + at };
      yield { storage, piece };
    }
  }
}
