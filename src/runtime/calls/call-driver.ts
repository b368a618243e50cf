import type { Device } from '../../device/device.ts';
import type { CallOutcome } from '../call.ts';
import { resume, run } from '../interpreter.ts';
import type { Invocation } from '../invocation.ts';
import type { RunControls, Turn } from '../run-hooks.ts';
import type { RunRecording } from '../replay/run-recording.ts';
import type { Value } from '../values/value.ts';
import type { VmState } from '../vm-state.ts';
import type { CallInFlight, CallTerms } from './call-in-flight.ts';
import type { CallsInFlight } from './calls-in-flight.ts';
import type { SliceClock } from './slice-clock.ts';

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
export class CallDriver {
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
