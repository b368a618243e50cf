import type { ExecutableData } from '../bytecode/executable.ts';
import { abortError, internalError } from '../core/errors.ts';
import type { Device } from '../device/device.ts';
import { type CallOutcome, registersOf } from './call.ts';
import { resume, run } from './dispatch.ts';
import type { Frame } from './frame.ts';
import { type FrameCount, Invocation, type Limits } from './invocation.ts';
import type { LinkedFunction } from './linked-code.ts';
import type { LinkedProgram } from './link.ts';
import { macrotask } from '../core/macrotask.ts';
import { untilAborted } from '../core/until-aborted.ts';
import type { Module } from './module.ts';
import { type PendingReplay, type ReplayCounters, ReplayStore } from './replay-store.ts';
import type { CallInFlight, RunHooks, Turn, Turns } from './run-hooks.ts';
import type { RunRecording } from './run-recording.ts';
import { discard, release, retain, TensorValue, type Value } from './value.ts';
import type { VmState } from './vm-state.ts';

/** Nested synchronous calls (program, JS function, program, …) before one waits for its turn. */
const MAX_NESTING = 32;

/** Instructions that a launch counts for, its allocation included. */
const COST_PER_LAUNCH = 512;

export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  readonly recording?: RunRecording | undefined;
  /** See {@link CallInFlight.entry}. */
  readonly entry?: string | undefined;
}

interface Request {
  readonly callee: LinkedFunction;
  readonly args: readonly Value[];
  readonly signal: AbortSignal | undefined;
}

export interface CallRunnerOptions {
  readonly limits: Limits;
  readonly devices: readonly Device[];
  readonly modules: readonly Module[];
  readonly state: VmState;
  /** Whether repeated calls are recorded and replayed. */
  readonly replay: boolean;
}

/** Drives the calls in flight: slices, waiting, cancellation, errors. */
export class CallRunner {
  /** Set while calls can be paused. */
  hooks: RunHooks | undefined;
  /** Set while other machines use the device too: calls then take turns, batch by batch. */
  turns: Turns | undefined;
  readonly #program: ExecutableData;
  readonly #linked: LinkedProgram;
  readonly #limits: Limits;
  readonly #state: VmState;
  readonly #replays: ReplayStore | undefined;
  #interpreted = 0;
  readonly #calls = new Set<Call>();
  readonly #frameCount: FrameCount = { live: 0, registers: 0 };
  /** Why no further call is taken. */
  #end: Error | undefined;
  #nesting = 0;
  #busyMs = 0;

  readonly #devices: readonly Device[];
  /** Modules with kernels that depend on sizes. */
  readonly #foreseeing: readonly Module[];

  constructor(program: ExecutableData, linked: LinkedProgram, options: CallRunnerOptions) {
    this.#program = program;
    this.#linked = linked;
    this.#limits = options.limits;
    this.#devices = options.devices;
    this.#foreseeing = options.modules.filter(({ foresee }) => foresee !== undefined);
    this.#state = options.state;
    const isReplaying = options.replay && options.devices[0]?.record !== undefined;
    this.#replays = isReplaying ? new ReplayStore(options.state, options.devices) : undefined;
  }

  /** Frames in use by all calls. */
  get frameCount(): number {
    return this.#frameCount.live;
  }

  get calls(): ReadonlySet<CallInFlight> {
    return this.#calls;
  }

  /** Drops recordings: kernels have changed. */
  forgetReplays(): void {
    this.#replays?.dispose();
  }

  replayCounters(): ReplayCounters {
    const { recorded = 0, replayed = 0 } = this.#replays ?? {};
    return { interpreted: this.#interpreted, recorded, replayed };
  }

  /**
   * Calls a function with arguments that were checked, or repeats what an earlier call did. The
   * caller may release the arguments at once.
   */
  async call(
    callee: LinkedFunction,
    args: readonly Value[],
    signal: AbortSignal | undefined,
  ): Promise<CallOutcome> {
    const admission = this.hooks?.admission();
    if (admission !== undefined) return this.#callAfter(admission, callee, args, signal);
    if (this.#busyMs >= this.#limits.sliceMs) {
      this.#busyMs = 0;
      return this.#callAfter(macrotask(), callee, args, signal);
    }
    const begin = performance.now();
    const replays = this.hooks?.mustInterpret === true ? undefined : this.#replays;
    const { turns } = this;
    const replay = replays?.find(callee, args, { inTurns: turns !== undefined });
    if (replay !== undefined) {
      if (turns !== undefined) return this.#replayInTurns(replay, turns, { callee, args, signal });
      this.#replayAtOnce(replay);
      this.#busyMs += performance.now() - begin;
      return replay.outcome;
    }
    const compiling = this.#foresee(callee, args);
    if (compiling !== undefined) return this.#callAfter(compiling, callee, args, signal);
    const entry = callee.source.name;
    const registers = registersOf(callee, args);
    const pending = replays?.begin(callee, args);
    this.#interpreted++;
    if (pending === undefined) return this.run(callee, registers, { signal, entry });
    try {
      const { recording } = pending;
      const outcome = await this.run(callee, registers, { signal, recording, entry });
      pending.finish(outcome);
      return outcome;
    } catch (error) {
      pending.finish(undefined);
      throw error;
    }
  }

  async #callAfter(
    turn: Promise<void>,
    callee: LinkedFunction,
    ...[args, signal]: [readonly Value[], AbortSignal | undefined]
  ): Promise<CallOutcome> {
    for (const arg of args) retain(arg);
    try {
      await untilAborted(turn, signal);
      if (this.#end !== undefined) throw this.#end;
      return await this.call(callee, args, signal);
    } finally {
      for (const arg of args) release(arg);
    }
  }

  #replayAtOnce(replay: PendingReplay): void {
    try {
      replay.enqueue();
    } catch (error) {
      release(replay.outcome.value);
      throw error;
    } finally {
      replay.end();
    }
  }

  /** Interprets the call after all when a buffer goes meanwhile. */
  async #replayInTurns(
    replay: PendingReplay,
    turns: Turns,
    { callee, args, signal }: Request,
  ): Promise<CallOutcome> {
    const call = new Call(new Invocation(this.#linked, this.#limits, this.#frameCount), undefined);
    let isComplete = false;
    for (const arg of args) retain(arg);
    try {
      try {
        isComplete = await this.#track(call, signal, () => turns.replay(call, replay));
      } finally {
        replay.end();
        if (!isComplete) release(replay.outcome.value);
      }
      return isComplete ? replay.outcome : await this.call(callee, args, signal);
    } finally {
      for (const arg of args) release(arg);
    }
  }

  /** Has devices compile what a call with these sizes needs, where they have not yet. */
  #foresee({ source }: LinkedFunction, args: readonly Value[]): Promise<void> | undefined {
    if (this.#foreseeing.length === 0) return undefined;
    const sizes = new Map<string, number>();
    for (const [index, type] of (source.signature?.params ?? []).entries()) {
      const arg = args[index];
      if (type.kind !== 'tensor' || !(arg instanceof TensorValue)) continue;
      for (const [axis, dim] of type.shape.entries()) {
        const size = arg.shape[axis];
        if (typeof dim === 'string' && size !== undefined) sizes.set(dim, size);
      }
    }
    const waits = this.#foreseeing.flatMap((module) => module.foresee?.(sizes) ?? []);
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
  }

  /** Takes over the references that `registers` hold. */
  run(callee: LinkedFunction, registers: Value[], options?: RunOptions): Promise<CallOutcome> {
    return this.carryOut((invocation) => void invocation.push(callee, registers), options);
  }

  /** Runs the frames that `start` pushes. */
  async carryOut(
    start: (invocation: Invocation) => void,
    { signal, recording, entry }: RunOptions = {},
  ): Promise<CallOutcome> {
    const invocation = new Invocation(this.#linked, this.#limits, this.#frameCount);
    const call = new Call(invocation, entry);
    return this.#track(call, signal, async () => {
      start(invocation);
      if (this.#nesting >= MAX_NESTING) await call.pause();
      await this.#drive(call, recording);
      return { value: invocation.takeResult(), instructionCount: invocation.executed };
    });
  }

  async #track<T>(call: Call, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const onAbort = () => signal !== undefined && call.cancel(abortError(signal));
    this.#calls.add(call);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await work();
    } catch (error) {
      if (call.cancellation !== undefined) throw call.cancellation;
      throw await withStack(error, this.#program, call.invocation.frames);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#calls.delete(call);
      call.unwind();
      this.hooks?.ended(call);
    }
  }

  /** Rejects every call in flight; no other one may come. */
  end(error: Error): void {
    this.#end = error;
    this.#replays?.dispose();
    for (const call of this.#calls) call.cancel(error);
    this.hooks?.close();
  }

  async #drive(call: Call, recording: RunRecording | undefined): Promise<void> {
    const { invocation } = call;
    for (;;) {
      for (let held = this.hooks?.between(call); held; held = this.hooks?.between(call)) {
        recording?.abandon();
        await held;
      }
      if (invocation.isDone) return;
      const turn = this.turns && (await this.turns.take(call));
      let pending: Promise<Value> | undefined;
      try {
        if (turn === undefined || call.cancellation === undefined) {
          pending = this.#runSlice(invocation, recording, turn);
        }
      } finally {
        turn?.end();
      }
      if (call.cancellation !== undefined) return call.abandon(pending);
      if (invocation.isDone) return;
      if (pending !== undefined) {
        recording?.abandon();
        // Devices work on what was launched while the program waits.
        for (const device of this.#devices) device.flush();
        resume(invocation, await call.wait(pending));
      }
      if (this.#busyMs >= this.#limits.sliceMs) {
        this.#busyMs = 0;
        await call.pause();
      }
    }
  }

  /** Time is counted over all calls, so that many short ones yield like a long one. */
  #runSlice(
    invocation: Invocation,
    recording: RunRecording | undefined,
    turn: Turn | undefined,
  ): Promise<Value> | undefined {
    const begin = performance.now();
    const outer = this.#state.recording;
    this.#nesting++;
    this.#state.recording = recording;
    recording?.resume();
    try {
      return run(invocation, turn && turn.launchLimit * COST_PER_LAUNCH);
    } finally {
      recording?.pause();
      this.#state.recording = outer;
      this.#nesting--;
      this.#busyMs += performance.now() - begin;
    }
  }
}

/** A call in flight that can be cancelled while it waits. */
class Call implements CallInFlight {
  readonly invocation: Invocation;
  readonly entry: string | undefined;
  cancellation: Error | undefined;
  #rejectWait: ((error: Error) => void) | undefined;
  #pending: Promise<unknown> | undefined;

  constructor(invocation: Invocation, entry: string | undefined) {
    this.invocation = invocation;
    this.entry = entry;
  }

  cancel(error: Error): void {
    this.cancellation ??= error;
    this.#rejectWait?.(this.cancellation);
  }

  /** The value of a promise, unless the call is cancelled before. */
  wait<T extends Value | void>(pending: Promise<T>): Promise<T> {
    this.#pending = pending;
    return new Promise<T>((resolve, reject) => {
      this.#rejectWait = reject;
      pending.then(
        (value) => this.#settle(value, resolve),
        (error: unknown) => {
          this.#pending = undefined;
          reject(error);
        },
      );
    });
  }

  /** Lets others have their turn. Nobody works on the call's values meanwhile. */
  pause(): Promise<void> {
    return this.idle(macrotask());
  }

  idle(until: Promise<void>): Promise<void> {
    if (this.cancellation !== undefined) return Promise.reject(this.cancellation);
    const turn = this.wait(until);
    this.#pending = undefined;
    return turn;
  }

  /** Throws the cancellation of a call that was cancelled while its code ran. */
  abandon(pending: Promise<Value> | undefined): never {
    this.#pending = pending?.then(discard, () => undefined);
    throw this.cancellation ?? internalError('the call was not cancelled');
  }

  /** Whoever still works on the arguments of a cancelled call keeps them until it is done. */
  unwind(): void {
    const pending = this.#pending;
    const unwind = () => this.invocation.unwind();
    if (pending === undefined) unwind();
    else pending.then(unwind, unwind);
  }

  #settle<T extends Value | void>(value: T, resolve: (value: T) => void): void {
    this.#pending = undefined;
    if (this.cancellation === undefined) resolve(value);
    else if (value !== undefined) discard(value);
  }
}

/** What describes errors loads with the first one; where it cannot, the error stays as it is. */
async function withStack(
  error: unknown,
  program: ExecutableData,
  frames: readonly Frame[],
): Promise<unknown> {
  try {
    const { withVmStack } = await import('./vm-stack.ts');
    return withVmStack(error, program, frames);
  } catch {
    return error;
  }
}
