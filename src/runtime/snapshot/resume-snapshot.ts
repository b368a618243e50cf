import type { ExecutableData } from '../../bytecode/executable.ts';
import { TENSOR_ALIGNMENT } from '../../bytecode/file/data-layout.ts';
import { isBlockByteLength, MAX_BLOCK_BYTE_LENGTH } from '../../bytecode/file/file-format.ts';
import { checkOptions, requireBytes, requireKind } from '../../core/check-options.ts';
import type { ByteReader } from '../../core/bytes/byte-reader.ts';
import { UnsupportedError, UsageError } from '../../core/errors.ts';
import type { PausedCall } from '../../core/contracts/paused-call.ts';
import type { CallOutcome } from '../call.ts';
import type { CallRunner } from '../calls/call-runner.ts';
import type { Invocation } from '../invocation.ts';
import { type LinkedFunction, type LinkedInstruction, LinkedOp } from '../link/linked-code.ts';
import { type MachineOptions, settleWrites } from '../link/load-machine.ts';
import { PackedFunctionValue, retain, type Value } from '../values/value.ts';
import type { MachineInternals } from '../link/load-machine.ts';
import { VirtualMachine } from '../virtual-machine.ts';
import { programHash } from './program-hash.ts';
import { MACHINE, RunControl } from './run-control.ts';
import { openSnapshot, type SnapshotSections } from './snapshot-file.ts';
import { HASH_BYTE_LENGTH } from './snapshot-format.ts';
import type { HostStates } from './take-snapshot.ts';
import { ValueReader } from './value-reader.ts';

/** How a snapshot is put into a machine. */
export interface RestoreOptions {
  /** States of functions of the host, restored by those of the same names. */
  readonly states?: HostStates | undefined;
  /** Aborts it; it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** A call that goes on, from where it was held. */
export interface ResumedCall extends PausedCall {
  /** The caller owns one reference to the result. */
  readonly result: Promise<Value>;
  /** Stops the call; its result rejects with the error. */
  abort(error: Error): void;
}

interface Restored {
  /** Calls that go on, in the order in which they began. */
  readonly calls: readonly ResumedCall[];
  /** The caller owns one reference to each. */
  readonly roots: Readonly<Record<string, Value>>;
  readonly note: string;
}

/**
 * Makes a machine of a snapshot, whose calls go on at once. Throws as `VirtualMachine.create` does, and
 * FormatError for a snapshot that was cut or changed, UsageError for one of another program and for
 * functions or states that this side lacks, by name, UnsupportedError where it cannot go on here,
 * and OutOfMemoryError.
 */
export async function resumeSnapshot(
  bytes: Uint8Array,
  executable: ExecutableData & { readonly data?: Uint8Array },
  { states, ...options }: MachineOptions & RestoreOptions,
): Promise<Restored & { readonly machine: VirtualMachine }> {
  const machine = await VirtualMachine.create(executable, options);
  try {
    const { signal } = options;
    return { machine, ...(await restoreSnapshot(machine, bytes, { states, signal })) };
  } catch (error) {
    machine.dispose();
    throw error;
  }
}

/**
 * Puts the calls of a snapshot into a machine of the same program, where they go on. Throws as {@link resumeSnapshot} does.
 */
export async function restoreSnapshot(
  machine: VirtualMachine,
  bytes: Uint8Array,
  options: RestoreOptions = {},
): Promise<Restored> {
  requireKind('restoreSnapshot', MACHINE, ['what is', machine]);
  requireBytes('restoreSnapshot', bytes);
  checkOptions('restoreSnapshot', options, { states: 'object', signal: 'signal' });
  const sections = await openSnapshot(bytes);
  const control = RunControl.of(machine);
  const { runner } = machine.internals();
  const original: InstructionAt = (callee, index) => control.instructionAt(callee, index);
  return control.whilePaused(() =>
    restoreCalls(machine, sections, { ...options, runner, instructionAt: original }),
  );
}

type InstructionAt = (callee: LinkedFunction, index: number) => LinkedInstruction | undefined;

/** The runner in which the calls of a snapshot go on. */
interface RestoreContext extends RestoreOptions {
  readonly runner: CallRunner;
  /** An instruction as it is without a breakpoint. */
  readonly instructionAt: InstructionAt;
}

/**
 * Restores calls as {@link restoreSnapshot} does, in a runner that lets none of them run meanwhile.
 */
export async function restoreCalls(
  machine: VirtualMachine,
  sections: SnapshotSections,
  { states = {}, signal, runner, instructionAt }: RestoreContext,
): Promise<Restored> {
  const internals = machine.internals();
  checkProgram(sections.program, machine, internals);
  const data = sections.data.bytes(sections.data.remaining, 'data');
  const values = new ValueReader(internals, findFunctions(sections.functions, internals), data);
  try {
    values.readAll(sections.values);
    await settleWrites({
      devices: internals.state.allocators.map(({ device }) => device),
      signal,
    });
    machine.internals();
    const drafts = readCalls(sections.calls, internals, { values, instructionAt });
    const roots = readRoots(sections.roots, values);
    const note = sections.note.string('note');
    sections.note.end();
    restoreStates(sections.states, states);
    for (const root of Object.values(roots)) retain(root);
    const calls = drafts.map((draft) => start(draft, runner, signal));
    return { calls, roots, note };
  } finally {
    values.dispose();
  }
}

function checkProgram(r: ByteReader, machine: VirtualMachine, internals: MachineInternals): void {
  const { executable } = machine;
  const stored = r.bytes(HASH_BYTE_LENGTH, 'hash of the program');
  const blockByteLength = r.u32('block length');
  if (!isBlockByteLength(blockByteLength)) {
    throw r.error({
      got: `blocks of ${blockByteLength} bytes`,
      expected: `a multiple of ${TENSOR_ALIGNMENT} up to ${MAX_BLOCK_BYTE_LENGTH}`,
    });
  }
  const devices = r.list('devices', 8, () => [r.string('kind'), r.string('name')] as const);
  r.end();
  const { hash } = programHash(executable, internals.dataHashes, blockByteLength);
  if (hash.some((byte, index) => byte !== stored[index])) {
    throw new UsageError({
      where: 'resume',
      got: `an executable with the hash ${shortHex(hash)}`,
      expected: `the one that ran, ${shortHex(stored)}`,
      remedy: 'Load the same file that was running when the snapshot was taken.',
    });
  }
  const count = new Set(internals.state.allocators.map(({ device }) => device)).size;
  if (count <= devices.length || !usesHost(executable)) return;
  throw new UnsupportedError({
    where: 'resume',
    got: 'a snapshot of the host device alone, of a program that is placed on two devices',
    expected: 'a snapshot that tells which tensors are on the host',
    remedy: "Resume it with `device: 'host'`.",
  });
}

/** Returns true if a program places anything on the host, beside its main device. */
function usesHost({ primitives, constants, functionTable }: ExecutableData): boolean {
  return (
    primitives.some(({ device }) => device === 'host') ||
    constants.some((constant) => constant.kind === 'tensor' && constant.device === 'host') ||
    functionTable.some(({ name }) => name === 'vm.builtin.to_device')
  );
}

function findFunctions(r: ByteReader, { libraries }: MachineInternals): PackedFunctionValue[] {
  const missing: string[] = [];
  const functions = r.list('functions', 4, () => {
    const name = r.string('name of a function');
    // The user's functions first: a kernel may have the name of one.
    const call = libraries.findLast((library) => library.get(name) !== undefined)?.get(name);
    if (call !== undefined) return new PackedFunctionValue(name, call);
    missing.push(name);
    return undefined;
  });
  r.end();
  if (missing.length > 0) throw lacks('functions', missing);
  return functions.filter((value) => value !== undefined);
}

function restoreStates(r: ByteReader, states: HostStates): void {
  const stored = r.list('states', 8, () => {
    const name = r.string('name of a state');
    return { name, bytes: r.bytes(r.u32('length of a state'), 'state').slice() };
  });
  r.end();
  const missing = stored.filter(({ name }) => !Object.hasOwn(states, name));
  if (missing.length > 0)
    throw lacks(
      'states',
      missing.map(({ name }) => name),
    );
  for (const { name, bytes } of stored) states[name]?.restore(bytes);
}

function lacks(what: string, names: readonly string[]): UsageError {
  return new UsageError(
    {
      where: 'resume',
      got: `a snapshot that needs the ${what} ${names.join(', ')}`,
      expected: `${what} of these names on the side that resumes it`,
      remedy: `Pass them as \`${what}\`.`,
    },
    { details: { missing: names } },
  );
}

function readRoots(r: ByteReader, values: ValueReader): Record<string, Value> {
  const roots = r.list('roots', 5, () => [r.string('name'), values.operand(r)] as const);
  r.end();
  return Object.fromEntries(roots);
}

interface FrameDraft {
  readonly callee: LinkedFunction;
  readonly pc: number;
  readonly registers: readonly Value[];
}

interface CallDraft {
  readonly entry: string;
  readonly executed: number;
  readonly frames: readonly FrameDraft[];
}

interface CallContext {
  readonly values: ValueReader;
  readonly instructionAt: InstructionAt;
}

function readCalls(
  r: ByteReader,
  internals: MachineInternals,
  { values, instructionAt }: CallContext,
): CallDraft[] {
  const calls = r.list('calls', 16, (): CallDraft => {
    const entry = r.string('name of a function');
    const executed = r.i64('instructions');
    const frames = r.list('frames', 12, () => readFrame(r, internals, values));
    if (frames.length === 0 || executed < 0) {
      throw r.error({ got: 'a call without frames', expected: 'one frame or more' });
    }
    checkCallers(r, frames, instructionAt);
    return { entry, executed, frames };
  });
  r.end();
  return calls;
}

function readFrame(r: ByteReader, { linked }: MachineInternals, values: ValueReader): FrameDraft {
  const index = r.u32('function of a frame');
  const callee = linked.functions[index];
  const pc = r.u32('instruction of a frame');
  const registers = values.operands(r, 'registers');
  if (
    callee !== undefined &&
    pc < callee.code.length &&
    registers.length === callee.registerCount
  ) {
    return { callee, pc, registers };
  }
  throw r.error({
    got: `${registers.length} registers at instruction ${pc} of function ${index}`,
    expected: 'an instruction of a function of the program, with its registers',
  });
}

/** All frames but the last one wait for a call to return. */
function checkCallers(
  r: ByteReader,
  frames: readonly FrameDraft[],
  instructionAt: InstructionAt,
): void {
  for (const { callee, pc } of frames.slice(0, -1)) {
    const op = instructionAt(callee, pc - 1)?.op;
    if (op === LinkedOp.call || op === LinkedOp.invoke) continue;
    const { name } = callee.source;
    throw r.error({
      got: `a frame that called another one before instruction ${pc} of ${name}`,
      expected: 'a call there',
    });
  }
}

function start(
  { entry, executed, frames }: CallDraft,
  runner: CallRunner,
  signal: AbortSignal | undefined,
): ResumedCall {
  const fill = (invocation: Invocation): void => {
    invocation.executed = executed;
    for (const { callee, pc, registers } of frames) {
      for (const value of registers) retain(value);
      invocation.push(callee, [...registers]).pc = pc;
    }
  };
  const own = new AbortController();
  const either = signal === undefined ? own.signal : AbortSignal.any([signal, own.signal]);
  const outcome: Promise<CallOutcome> = runner.run(fill, { signal: either, entry });
  const result = outcome.then(({ value }) => value);
  // Whoever asks for it gets the error; nobody has to.
  result.catch(() => undefined);
  const top = frames.at(-1);
  const at = { function: top?.callee.source.name ?? entry, instruction: top?.pc ?? 0 };
  const abort = (error: Error): void => own.abort(error);
  return { entry, at, depth: frames.length, result, abort };
}

function shortHex(hash: Uint8Array): string {
  return `${Array.from(hash.subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join('')}…`;
}
