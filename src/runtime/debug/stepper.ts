import { Deferred } from '../../core/async/deferred.ts';
import type { CodePlace } from '../../core/contracts/paused-call.ts';
import type { CallInFlight } from '../calls/call-in-flight.ts';
import type { Frame } from '../frame.ts';
import { resume } from '../interpreter.ts';
import type { Invocation } from '../invocation.ts';
import type { RunHooks, Turns } from '../run-hooks.ts';
import type { Value } from '../values/value.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import type { StopReason } from './debug-types.ts';
import { runInstructions } from './run-instructions.ts';
import type { StopConditions } from './stop-conditions.ts';

/** How far a call goes, unless something else stops it before. */
export type Advance =
  /** Until it has run so many instructions; nothing stops it before but a pause. */
  | { readonly kind: 'seek'; readonly executed: number }
  /** For one instruction. */
  | { readonly kind: 'step' }
  /** Until it is back in a stack that is no deeper than this. */
  | { readonly kind: 'depth'; readonly depth: number }
  | { readonly kind: 'continue' };

/** Why it stands; `due`: it has run for as long as it was to. */
export type AdvanceEnd = Extract<StopReason, 'step' | 'breakpoint' | 'output' | 'pause'> | 'due';

/** How long the call holds the thread before others get their turn. */
const SLICE_MS = 8;
/** Instructions between two looks at the clock. */
const CHECK_EVERY = 64;
/** Launches of a turn on a shared device, where one may take long. */
const INSTRUCTIONS_PER_SEEK = 4096;

/** A recursion has more than anybody reads. */
const MAX_FRAMES = 100;

interface Going {
  readonly advance: Advance;
  /** Instructions that the call had run when it began. */
  from: number | undefined;
  readonly begin: number;
  readonly forMs: number;
  readonly end: (reason: AdvanceEnd) => void;
}

export interface StepperParts {
  readonly machine: VirtualMachine;
  readonly conditions: StopConditions;
  /** Turns on the device, for sessions that share it. */
  readonly turns: Turns | undefined;
}

/** Drives the one call of a runner instruction by instruction, as far as it is told each time. */
export class Stepper implements RunHooks {
  readonly mustInterpret = true;
  readonly #parts: StepperParts;
  #going: Going | undefined;
  #wake = new Deferred();
  #isPausing = false;
  /** The call, while it is in flight. */
  call: CallInFlight | undefined;
  /** Instructions that the call had run when it ended. */
  executed = 0;
  /** Where the frames of the call stood when it failed, the innermost first. */
  failed: readonly CodePlace[] = [];

  constructor(parts: StepperParts) {
    this.#parts = parts;
  }

  /** Resolves when the call stands again; not at all when it ends before. `forMs`: give up with `due` after that time. */
  advance(advance: Advance, forMs = Number.POSITIVE_INFINITY): Promise<AdvanceEnd> {
    this.#isPausing = false;
    return new Promise((end) => {
      this.#going = { advance, from: undefined, begin: performance.now(), forMs, end };
      this.#wake.resolve();
    });
  }

  /** Has the call stand at its next instruction. */
  pause(): void {
    this.#isPausing = true;
  }

  admission(): undefined {
    return undefined;
  }

  between(call: CallInFlight): Promise<void> | undefined {
    const { invocation } = call;
    if (invocation.isDone) return undefined;
    this.call = call;
    if (call.cancellation !== undefined) return Promise.reject(call.cancellation);
    if (this.#going !== undefined) return this.#slice(call, this.#going);
    this.#wake = new Deferred();
    return call.idle(this.#wake.promise);
  }

  ended(call: CallInFlight): void {
    this.executed = call.invocation.executed;
    this.call = undefined;
    this.#going = undefined;
  }

  close(): void {
    this.#wake.resolve();
  }

  async #slice(call: CallInFlight, going: Going): Promise<void> {
    try {
      await this.#runSlice(call, going);
    } catch (error) {
      this.#parts.conditions.forget();
      this.failed = placesOf(call.invocation.frames, -1);
      throw error;
    }
  }

  async #runSlice(call: CallInFlight, going: Going): Promise<void> {
    const { invocation } = call;
    going.from ??= invocation.executed;
    const { conditions, turns } = this.#parts;
    const turn = turns && (await turns.take(call));
    let slice: Slice;
    try {
      // Cancelled as its turn came, it is not to run.
      slice = call.cancellation === undefined ? this.#run(invocation, going) : {};
    } finally {
      turn?.end();
    }
    if (slice.pending !== undefined) {
      this.#flush();
      resume(invocation, await call.wait(slice.pending));
    }
    const found = await conditions.check();
    const end = found ? 'output' : (slice.end ?? this.#endOf(invocation, going, true));
    if (end === undefined) return call.pause();
    this.#going = undefined;
    this.#flush();
    going.end(end);
    return undefined;
  }

  /** Runs until a slice of time is over, something has to be waited for, or the call is to stand. */
  #run(invocation: Invocation, going: Going): Slice {
    const { conditions, machine } = this.#parts;
    const begin = performance.now();
    const isSeeking = going.advance.kind === 'seek';
    for (let steps = 1; !invocation.isDone; steps++) {
      const end = this.#endOf(invocation, going);
      if (end !== undefined) return { end };
      if (!isSeeking) conditions.before(invocation);
      const pending = runInstructions(machine, invocation, this.#countOf(invocation, going));
      if (pending !== undefined) return { pending };
      if (conditions.isWaiting) return {};
      const isLong = isSeeking || steps % CHECK_EVERY === 0;
      if (isLong && performance.now() - begin > SLICE_MS) return {};
    }
    return {};
  }

  #countOf({ executed }: Invocation, { advance }: Going): number {
    if (advance.kind !== 'seek') return 1;
    return Math.min(INSTRUCTIONS_PER_SEEK, advance.executed - executed);
  }

  /** Why the call is to stand before its next instruction. With `looksAtClock` also because its time is over. */
  #endOf(
    invocation: Invocation,
    { advance, from = 0, begin, forMs }: Going,
    looksAtClock = false,
  ): AdvanceEnd | undefined {
    const { executed, frames, isDone } = invocation;
    if (isDone) return undefined;
    if (advance.kind === 'seek' && executed >= advance.executed) return 'step';
    if (executed > from) {
      if (advance.kind === 'step') return 'step';
      if (advance.kind === 'depth' && frames.length <= advance.depth) return 'step';
      if (advance.kind !== 'seek' && this.#parts.conditions.isAt(frames.at(-1)))
        return 'breakpoint';
    }
    if (this.#isPausing) return 'pause';
    return looksAtClock && performance.now() - begin > forMs ? 'due' : undefined;
  }

  /** Devices work on what was launched while the call stands. */
  #flush(): void {
    for (const { device } of this.#parts.machine.internals().state.allocators) device.flush();
  }
}

/**
 * The instructions that frames are at, the innermost first, at most 100. Those of callers are behind their calls;
 * `innermost` is what to add for the innermost one.
 */
export function placesOf(frames: readonly Frame[], innermost: 0 | -1): readonly CodePlace[] {
  return frames
    .slice(-MAX_FRAMES)
    .reverse()
    .map((frame, i) => ({
      function: frame.function.source.name,
      instruction: Math.max(0, frame.pc + (i === 0 ? innermost : -1)),
    }));
}

interface Slice {
  readonly pending?: Promise<Value>;
  readonly end?: AdvanceEnd;
}
