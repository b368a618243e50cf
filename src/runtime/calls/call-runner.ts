import type { ExecutableData } from '../../bytecode/executable.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import type { Device } from '../../device/device.ts';
import { type CallOutcome, registersOf } from '../call.ts';
import type { FunctionLibrary } from '../link/function-library.ts';
import type { Invocation, Limits } from '../invocation.ts';
import type { LinkedProgram } from '../link/link.ts';
import {
  type PendingCall,
  type ReplayCounters,
  ReplayStore,
  type PendingReplay,
} from '../replay/replay-store.ts';
import type { RunControls, RunHooks, Stepping, Turns, Turn } from '../run-hooks.ts';
import { symbolSizes } from '../link/symbol-sizes.ts';
import { hold, unhold, release, retain, type Value } from '../values/value.ts';
import type { VmState } from '../vm-state.ts';
import type { CallInFlight, CallTerms } from './call-in-flight.ts';
import { CallsInFlight } from './calls-in-flight.ts';
import { SliceClock } from './slice-clock.ts';
import type { LinkedFunction } from '../link/linked-code.ts';
import { resume, run } from '../interpreter.ts';
import type { RunRecording } from '../replay/run-recording.ts';

/** Nested synchronous calls (program, JS function, program, …) before one waits for its turn. */
const MAX_NESTING = 32;

/** Instructions that a launch counts for, its allocation included. */
const COST_PER_LAUNCH = 512;

interface CallDriverOptions {
  readonly controls: RunControls;
  readonly inFlight: CallsInFlight;
  readonly slices: SliceClock;
  readonly devices: readonly Device[];
  readonly state: VmState;
}

/** Runs the code of calls slice by slice; between two slices they wait, are held or take turns. */
class CallDriver {
  readonly #controls: RunControls;
  readonly #inFlight: CallsInFlight;
  readonly #slices: SliceClock;
  readonly #devices: readonly Device[];
  readonly #state: VmState;
  #nesting = 0;

  constructor({ controls, inFlight, slices, devices, state }: CallDriverOptions) {
    this.#controls = controls;
    this.#inFlight = inFlight;
    this.#slices = slices;
    this.#devices = devices;
    this.#state = state;
  }

  /** Runs a call to its end, from the frames that `start` pushes at once. */
  async drive(
    terms: CallTerms,
    start: (invocation: Invocation) => void,
    recording?: RunRecording,
  ): Promise<CallOutcome> {
    const call = this.#inFlight.begin(terms);
    const { invocation } = call;
    try {
      start(invocation);
      if (this.#nesting >= MAX_NESTING) await call.pause();
      for (;;) {
        for (let held = this.#hold(call); held !== undefined; held = this.#hold(call)) {
          recording?.abandon();
          await held;
        }
        if (invocation.isDone) break;
        const { turns } = this.#controls;
        const turn = turns && (await turns.take(call));
        const pending = this.#runSlice(call, recording, turn);
        if (call.cancellation !== undefined) call.abandon(pending);
        if (invocation.isDone) break;
        if (pending !== undefined) {
          recording?.abandon();
          // Devices work on what was launched while the program waits.
          for (const device of this.#devices) device.flush();
          resume(invocation, await call.wait(pending));
        }
        if (this.#slices.isOver) await call.idle(this.#slices.next());
      }
      return { value: invocation.takeResult(), instructionCount: invocation.executed };
    } catch (error) {
      throw await this.#inFlight.failure(call, error);
    } finally {
      this.#inFlight.end(call);
    }
  }

  #hold(call: CallInFlight): Promise<void> | undefined {
    const { hooks, stepping } = this.#controls;
    return hooks?.between(call) ?? stepping?.between(call);
  }

  /** Nothing runs of a call that was cancelled as its turn came. */
  #runSlice(
    { cancellation, invocation }: CallInFlight,
    recording: RunRecording | undefined,
    turn: Turn | undefined,
  ): Promise<Value> | undefined {
    if (turn !== undefined && cancellation !== undefined) {
      turn.end();
      return undefined;
    }
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
      this.#slices.count(begin);
      turn?.end();
    }
  }
}

export interface CallRunnerOptions {
  readonly limits: Limits;
  readonly devices: readonly Device[];
  readonly libraries: readonly FunctionLibrary[];
  readonly state: VmState;
  /** Repeated calls are recorded and replayed. */
  readonly replay: boolean;
  /** Interprets all calls for an observer. */
  readonly stepping?: Stepping | undefined;
}

/**
 * Takes the calls of a machine. Steps admit a call, have it wait, or answer it from a recording; the
 * rest is interpreted. While its code runs a call is in flight: it is driven slice by slice, and ends
 * with a result, an error, or cancelled.
 */
export class CallRunner implements RunControls {
  hooks: RunHooks | undefined;
  turns: Turns | undefined;
  readonly stepping: Stepping | undefined;
  readonly limits: Limits;
  readonly #inFlight: CallsInFlight;
  readonly #driver: CallDriver;
  readonly #replays: ReplayStore | undefined;
  readonly #admission: readonly AdmissionStep[];
  #interpreted = 0;

  constructor(program: ExecutableData, linked: LinkedProgram, options: CallRunnerOptions) {
    const { limits, devices, state, libraries, stepping } = options;
    const slices = new SliceClock(limits.sliceMs);
    const inFlight = new CallsInFlight({ program, linked, limits, controls: this });
    const isReplaying =
      options.replay && stepping === undefined && devices[0]?.recording !== undefined;
    const replays = isReplaying ? new ReplayStore(state, devices) : undefined;
    const sized = libraries.filter(({ compileForSizes }) => compileForSizes !== undefined);
    this.limits = limits;
    this.stepping = stepping;
    this.#inFlight = inFlight;
    this.#driver = new CallDriver({ controls: this, inFlight, slices, devices, state });
    this.#replays = replays;
    this.#admission = [
      refuseAfterEnd(inFlight),
      waitWhilePaused(this),
      yieldAfterSlice(slices),
      ...(replays === undefined
        ? []
        : [replayCalls({ replays, controls: this, inFlight, slices })]),
      ...(sized.length === 0 ? [] : [compileForSizes(sized)]),
    ];
  }

  /**
   * Calls a function, and records it where it may be repeated; or repeats what an earlier call did. The caller may
   * release the arguments at once. Throws or rejects.
   */
  call(request: CallRequest): Promise<CallOutcome> {
    for (const admit of this.#admission) {
      const answer = admit(request);
      if (answer instanceof Promise) return this.#wait(request, answer);
      if (answer !== undefined) return Promise.resolve(answer);
    }
    this.#interpreted++;
    const { callee, args, signal } = request;
    const replays = this.hooks?.mustInterpret === true ? undefined : this.#replays;
    const pending = replays?.begin(callee, args);
    const start = (invocation: Invocation): void => {
      invocation.push(callee, registersOf(callee, args));
    };
    const terms = { signal, entry: callee.source.name };
    const outcome = this.#driver.drive(terms, start, pending?.recording);
    return pending === undefined ? outcome : finishRecording(pending, outcome);
  }

  /** Waits with a call, which is then admitted from the first step again, unless it was answered. */
  async #wait(request: CallRequest, answer: Promise<CallOutcome | void>): Promise<CallOutcome> {
    for (const arg of request.args) hold(arg);
    try {
      return (await answer) ?? (await this.call(request));
    } finally {
      for (const arg of request.args) unhold(arg);
    }
  }

  /** Runs the frames that `start` pushes at once. */
  run(start: (invocation: Invocation) => void, terms: CallTerms = {}): Promise<CallOutcome> {
    return this.#driver.drive(terms, start);
  }

  /** Rejects every call in flight; no other one may come. */
  end(error: Error): void {
    this.#replays?.dispose();
    this.#inFlight.stop(error);
    this.hooks?.close();
  }

  /** The calls in flight, in the order in which they began. */
  get calls(): ReadonlySet<CallInFlight> {
    return this.#inFlight.calls;
  }

  /** Drops recordings: kernels have changed. */
  forgetReplays(): void {
    this.#replays?.dispose();
  }

  replayCounters(): ReplayCounters {
    const { recorded = 0, replayed = 0 } = this.#replays ?? {};
    return { interpreted: this.#interpreted, recorded, replayed };
  }
}

async function finishRecording(
  pending: PendingCall,
  running: Promise<CallOutcome>,
): Promise<CallOutcome> {
  let outcome: CallOutcome | undefined;
  try {
    outcome = await running;
    return outcome;
  } finally {
    pending.finish(outcome);
  }
}

/** Has devices compile what a call with these sizes needs, where they have not yet. */
function compileForSizes(libraries: readonly FunctionLibrary[]): AdmissionStep {
  return ({ callee, args, signal }) => {
    const sizes = symbolSizes(callee.source, args);
    const waits = libraries.flatMap((library) => library.compileForSizes?.(sizes) ?? []);
    if (waits.length === 0) return undefined;
    const compiled = Promise.all(waits).then(() => undefined);
    return untilAborted(compiled, signal);
  };
}

/** Refuses a call that waited until its machine was disposed of, or lost its device. */
function refuseAfterEnd(inFlight: CallsInFlight): AdmissionStep {
  return () => {
    if (inFlight.stopped !== undefined) throw inFlight.stopped;
    return undefined;
  };
}

/** Has a call wait while its machine is paused. */
function waitWhilePaused(controls: RunControls): AdmissionStep {
  return ({ signal }) => {
    const pause = controls.hooks?.admission();
    return pause && untilAborted(pause, signal);
  };
}

/** Lets others have their turn when calls have held the thread for as long as they may. */
function yieldAfterSlice(slices: SliceClock): AdmissionStep {
  return ({ signal }) => (slices.isOver ? untilAborted(slices.next(), signal) : undefined);
}

interface ReplayContext {
  readonly replays: ReplayStore;
  readonly controls: RunControls;
  readonly inFlight: CallsInFlight;
  readonly slices: SliceClock;
}

/** Repeats what an earlier call did, in place of its code. */
function replayCalls({ replays, controls, inFlight, slices }: ReplayContext): AdmissionStep {
  return (request) => {
    const { hooks, turns } = controls;
    if (hooks?.mustInterpret === true) return undefined;
    const begin = performance.now();
    const { callee, args } = request;
    const replay = replays.find(callee, args, { inTurns: turns !== undefined });
    if (replay === undefined) return undefined;
    if (turns !== undefined) return replayInTurns(replay, request, { inFlight, turns });
    let isComplete = false;
    try {
      replay.launches.replay();
      isComplete = true;
    } finally {
      replay.end(isComplete);
    }
    slices.count(begin);
    return replay.outcome;
  };
}

/** Undefined when a buffer goes meanwhile. */
async function replayInTurns(
  replay: PendingReplay,
  { args, signal }: CallRequest,
  { inFlight, turns }: { readonly inFlight: CallsInFlight; readonly turns: Turns },
): Promise<CallOutcome | undefined> {
  let isComplete = false;
  for (const arg of args) retain(arg);
  const call = inFlight.begin({ signal });
  try {
    isComplete = await turns.replay(call, replay);
    return isComplete ? replay.outcome : undefined;
  } catch (error) {
    throw await inFlight.failure(call, error);
  } finally {
    inFlight.end(call);
    replay.end(isComplete);
    for (const arg of args) release(arg);
  }
}

/** A call from outside, with arguments that were checked. */
interface CallRequest {
  readonly callee: LinkedFunction;
  readonly args: readonly Value[];
  readonly signal: AbortSignal | undefined;
}

/**
 * Undefined where the call may go on to the next step. An outcome where no code has to run. A promise
 * where the call waits: of its outcome, or of undefined, after which it is admitted from the first
 * step again.
 */
type Admission = CallOutcome | Promise<CallOutcome | void> | undefined;

/** Stands between a call and its code. Throws to refuse the call. */
type AdmissionStep = (request: CallRequest) => Admission;
