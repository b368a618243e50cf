import { Deferred } from '../../core/async/deferred.ts';
import { UnsupportedError, UsageError } from '../../core/errors.ts';
import type { CallRunner } from '../calls/call-runner.ts';
import type { Frame } from '../frame.ts';
import type { HostInput } from '../link/host-function.ts';
import { KernelInstructions } from '../observe/kernel-instructions.ts';
import { steppedRunner } from '../observe/observe.ts';
import { openSnapshot } from '../snapshot/snapshot-file.ts';
import { restoreCalls } from '../snapshot/resume-snapshot.ts';
import { RunControl } from '../snapshot/run-control.ts';
import { type HostStates, storeCalls } from '../snapshot/take-snapshot.ts';
import { release, type Value } from '../values/value.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import { BreakpointPlaces } from './breakpoint-places.ts';
import type {
  Breakpoint,
  DebugDetail,
  DebugMemory,
  DebugStop,
  DebugValue,
  SetBreakpoint,
} from './debug-types.ts';
import { describeInFull, describeRegisters, HeldMemory, valueAt } from './describe-values.ts';
import { type Advance, placesOf, Stepper } from './stepper.ts';
import { StopConditions } from './stop-conditions.ts';

/** A snapshot of a debugging run at a place of it. */
interface Checkpoint {
  /** Instructions that the run had executed. */
  readonly executed: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const BYTE_BUDGET = 256 * 2 ** 20;

/** Snapshots of a run, from which it can be repeated. Where they get too large, every second one goes. */
class Checkpoints {
  /** Bytes that one may have: several fit, or they would be of little use. */
  readonly largest: number;
  readonly #byteBudget: number;
  #all: Checkpoint[] = [];

  /** `byteBudget`: the most bytes that all of them take. */
  constructor(byteBudget: number = BYTE_BUDGET) {
    this.#byteBudget = byteBudget;
    this.largest = byteBudget / 8;
  }

  /** The last one that is not beyond a place. */
  before(executed: number): Checkpoint | undefined {
    return this.#all.findLast((each) => each.executed <= executed);
  }

  add(checkpoint: Checkpoint): void {
    if (this.#all.some(({ executed }) => executed === checkpoint.executed)) return;
    this.#all = [...this.#all, checkpoint].sort((a, b) => a.executed - b.executed);
    while (this.#byteLength() > this.#byteBudget)
      this.#all = this.#all.filter((_, i) => i % 2 === 1);
  }

  #byteLength(): number {
    return this.#all.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
  }
}

interface DebuggedCallOptions {
  readonly functionName: string;
  /** Inputs as for a call of the machine. They are not changed, and live as long as the run. */
  readonly inputs: readonly HostInput[];
  /** States of the host that checkpoints store beside the call. */
  readonly states?: HostStates | undefined;
  /** Runs of the program between two snapshots, in milliseconds. Default: 250. */
  readonly checkpointMs?: number | undefined;
  /** The most bytes of host memory that snapshots of the run take. Default: 256 MiB. */
  readonly checkpointBytes?: number | undefined;
}

const CHECKPOINT_MS = 250;

/** Instructions that breakpoints stand for in all. */
const MOST_PLACES = 100_000;

/** One execution of the call: from the start, or from a checkpoint. */
interface Execution {
  /** Resolves to how the execution ended; never rejects. */
  readonly outcome: Promise<Ended>;
  abort(error: Error): void;
}

type Ended =
  | { readonly kind: 'end'; readonly value: Value }
  | { readonly kind: 'error'; readonly error: unknown };

/**
 * A call of a program that goes instruction by instruction, beside other calls of its machine, which it does not hold up. It
 * shares the machine's kernels, constants and memory. To step back it runs again, from a snapshot or from the start.
 */
export class DebuggedCall {
  readonly #machine: VirtualMachine;
  readonly #options: DebuggedCallOptions;
  readonly #runner: CallRunner;
  readonly #stepper: Stepper;
  readonly #kernels: KernelInstructions;
  readonly #places: BreakpointPlaces;
  readonly #conditions: StopConditions;
  readonly #memory = new HeldMemory();
  readonly #checkpoints: Checkpoints;
  readonly #firstStates: ReadonlyMap<string, Uint8Array>;
  /** False once a value could not be stored: then there are no further checkpoints. */
  #storesValues = true;
  #sinceCheckpointMs = 0;
  #execution: Execution;
  #ended: Ended | undefined;
  #closed: Error | undefined;
  readonly #closing = new Deferred();

  /** Begins a run, which stands before its first instruction once {@link DebuggedCall.start} has resolved. */
  constructor(machine: VirtualMachine, options: DebuggedCallOptions) {
    const { executable } = machine;
    const { linked } = machine.internals();
    const kernels = new KernelInstructions(executable);
    this.#kernels = kernels;
    this.#machine = machine;
    this.#checkpoints = new Checkpoints(options.checkpointBytes);
    this.#options = options;
    this.#places = new BreakpointPlaces(executable, linked.functions, kernels);
    this.#conditions = new StopConditions({ machine, places: this.#places, kernels });
    this.#stepper = new Stepper(machine, this.#conditions);
    this.#runner = steppedRunner(machine, this.#stepper);
    const states = Object.entries(options.states ?? {});
    this.#firstStates = new Map(states.map(([name, each]) => [name, each.save()]));
    this.#execution = this.#fromStart();
  }

  /** The first stop, before the first instruction. Rejects as a call does that is refused. */
  async start(): Promise<DebugStop> {
    const stop = await this.#go({ kind: 'seek', executed: 0 });
    if (this.#ended?.kind === 'error') throw this.#ended.error;
    return stop;
  }

  /** Runs one instruction, into calls. */
  step(): Promise<DebugStop> {
    return this.#go({ kind: 'step' });
  }

  /** Runs one instruction; a call of a function to its end. A tail call takes the place of its caller: it is gone into. */
  stepOver(): Promise<DebugStop> {
    return this.#go({ kind: 'depth', depth: this.#frames().length });
  }

  /** Runs to the return of the innermost function. */
  stepOut(): Promise<DebugStop> {
    return this.#go({ kind: 'depth', depth: this.#frames().length - 1 });
  }

  /** Runs to a breakpoint, or to the end. */
  continue(): Promise<DebugStop> {
    return this.#go({ kind: 'continue' });
  }

  /** Goes to where it had run so many instructions, back or forth. Throws UsageError for what is no such number. */
  async seek(executed: number): Promise<DebugStop> {
    if (!Number.isSafeInteger(executed) || executed < 0) {
      const got = String(executed);
      throw new UsageError({ where: 'debug, seek', got, expected: 'an integer from 0 up' });
    }
    const now = this.#executed;
    const nearest = this.#checkpoints.before(executed);
    const isAhead = executed > now || (executed === now && this.#ended === undefined);
    const goesOn = isAhead && (nearest === undefined || nearest.executed <= now);
    if (!goesOn) await this.#restart(nearest);
    return this.#go({ kind: 'seek', executed });
  }

  /** One instruction back. Where it has run none it stays. */
  stepBack(): Promise<DebugStop> {
    return this.seek(Math.max(0, this.#executed - 1));
  }

  /** Has what is under way stop at the next instruction. */
  pause(): void {
    this.#stepper.pause();
  }

  /**
   * Sets breakpoints in place of those before. Throws UsageError for a place or name that the
   * program does not have.
   */
  setBreakpoints(breakpoints: readonly Breakpoint[]): readonly SetBreakpoint[] {
    let count = 0;
    const all = breakpoints.map((each) => {
      const set = this.#places.resolve(each);
      count += set.places.length;
      if (count > MOST_PLACES) throw tooManyPlaces();
      return set;
    });
    this.#conditions.set(all);
    return all;
  }

  /** The values in the registers of a frame; frame 0 is the innermost. */
  registers(frame: number): readonly DebugValue[] {
    const found = this.#frame(frame);
    return describeRegisters(found, this.#kernels.unwritten(found));
  }

  /** A register of a frame in full, or with `path` a part of it. */
  value(frame: number, register: number, path: readonly number[]): Promise<DebugDetail> {
    return describeInFull(this.#machine, valueAt(this.#frame(frame), register, path));
  }

  memory(): DebugMemory {
    return this.#memory.describe(this.#frames());
  }

  /** The result, once it has ended. It lives until the run goes elsewhere. */
  get result(): Value | undefined {
    return this.#ended?.kind === 'end' ? this.#ended.value : undefined;
  }

  /** Ends it. Whatever is under way rejects with the error, and all that comes later. */
  async close(error: Error): Promise<void> {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    this.#closing.resolve();
    this.#execution.abort(error);
    this.#drop(await this.#execution.outcome);
    this.#ended = undefined;
  }

  get closed(): Promise<void> {
    return this.#closing.promise;
  }

  get #executed(): number {
    return this.#stepper.call?.invocation.executed ?? this.#stepper.executed;
  }

  #frames(): readonly Frame[] {
    return this.#stepper.call?.invocation.frames ?? [];
  }

  #frame(index: number): Frame {
    const found = this.#frames().at(-1 - index);
    if (found !== undefined && index >= 0) return found;
    const got = `frame ${index}`;
    const expected = `a frame below ${this.#frames().length}, the number of open calls`;
    throw new UsageError({ where: 'debug', got, expected });
  }

  async #go(advance: Advance): Promise<DebugStop> {
    for (;;) {
      if (this.#closed !== undefined) throw this.#closed;
      if (this.#ended !== undefined) return this.#endStop(this.#ended);
      const { checkpointMs = CHECKPOINT_MS } = this.#options;
      const begin = performance.now();
      const left = Math.max(0, checkpointMs - this.#sinceCheckpointMs);
      const going = this.#stepper.advance(advance, this.#storesValues ? left : undefined);
      const reason = await Promise.race([going, this.#execution.outcome]);
      if (typeof reason === 'object') {
        if (this.#closed !== undefined) throw this.#closed;
        this.#ended = reason;
        continue;
      }
      this.#sinceCheckpointMs += performance.now() - begin;
      if (this.#sinceCheckpointMs >= checkpointMs) await this.#takeCheckpoint();
      if (reason !== 'due') return this.#stop(reason);
    }
  }

  #stop(reason: Exclude<DebugStop['reason'], 'end' | 'error'>): DebugStop {
    const frames = this.#frames();
    return {
      reason,
      executed: this.#executed,
      depth: frames.length,
      frames: placesOf(frames, 0).map((place) => this.#places.describe(place)),
      found: reason === 'output' ? this.#conditions.found : undefined,
    };
  }

  #endStop(ended: Ended): DebugStop {
    const at = { executed: this.#executed, depth: 0 };
    if (ended.kind === 'end') return { reason: 'end', ...at, frames: [] };
    const frames = this.#stepper.failures.map((place) => this.#places.describe(place));
    const { error } = ended;
    const said = error instanceof Error ? error.message : String(error);
    return { reason: 'error', ...at, depth: frames.length, frames, error: said };
  }

  #fromStart(): Execution {
    const own = new AbortController();
    const { functionName, inputs } = this.#options;
    const options = { signal: own.signal, runner: this.#runner };
    const outcome = endOf(this.#machine.invoke(functionName, inputs, options));
    return { outcome, abort: (error) => own.abort(error) };
  }

  async #restart(from: { readonly bytes: Uint8Array } | undefined): Promise<void> {
    this.#execution.abort(new DOMException('The run begins again.', 'AbortError'));
    this.#drop(await this.#execution.outcome);
    this.#ended = undefined;
    this.#sinceCheckpointMs = 0;
    this.#stepper.executed = 0;
    if (this.#closed !== undefined) throw this.#closed;
    if (from !== undefined) {
      this.#execution = await this.#fromCheckpoint(from.bytes);
      return;
    }
    for (const [name, bytes] of this.#firstStates) this.#options.states?.[name]?.restore(bytes);
    this.#execution = this.#fromStart();
  }

  async #fromCheckpoint(bytes: Uint8Array): Promise<Execution> {
    const control = RunControl.of(this.#machine);
    const { calls } = await restoreCalls(this.#machine, await openSnapshot(bytes), {
      states: this.#options.states,
      runner: this.#runner,
      instructionAt: (callee, index) => control.instructionAt(callee, index),
    });
    const [call] = calls;
    if (call === undefined) throw new UsageError('The snapshot holds no call.');
    return { outcome: endOf(call.result), abort: (error) => call.abort(error) };
  }

  async #takeCheckpoint(): Promise<void> {
    const { call } = this.#stepper;
    this.#sinceCheckpointMs = 0;
    if (!this.#storesValues || call === undefined) return;
    if (this.#memory.describe(this.#frames()).heldBytes > this.#checkpoints.largest) return;
    const { executed } = call.invocation;
    try {
      const { states } = this.#options;
      const bytes = await storeCalls(this.#machine, [call], { ...(states && { states }) });
      this.#checkpoints.add({ executed, bytes });
    } catch (error) {
      // It then runs again from its start.
      if (!(error instanceof UnsupportedError)) throw error;
      this.#storesValues = false;
    }
  }

  #drop(ended: Ended): void {
    if (ended.kind === 'end') release(ended.value);
  }
}

function tooManyPlaces(): UsageError {
  return new UsageError({
    where: 'debug, breakpoint',
    got: `breakpoints that stand for more than ${MOST_PLACES} instructions`,
    expected: `at most ${MOST_PLACES}`,
    remedy: 'Name fewer nodes, or instructions.',
  });
}

function endOf(value: Promise<Value>): Promise<Ended> {
  return value.then(
    (result): Ended => ({ kind: 'end', value: result }),
    (error: unknown): Ended => ({ kind: 'error', error }),
  );
}
