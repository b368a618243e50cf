import { Deferred } from '../../core/async/deferred.ts';
import type { CodePlace } from '../../core/contracts/paused-call.ts';
import type { CallInFlight } from '../calls/call-in-flight.ts';
import type { Frame } from '../frame.ts';
import type { Invocation } from '../invocation.ts';
import { devicesOf, type InstructionObserver } from '../observe/observe.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import type { StopReason } from './debug-types.ts';
import type { StopConditions } from './stop-conditions.ts';

/** How far a call goes, unless something else stops it before. */
export type Advance =
  /** Until it has run so many instructions; nothing stops it before but a pause. */
  | { readonly kind: 'seek'; readonly executed: number }
  | { readonly kind: 'step' }
  /** Until it is back in a stack that is no deeper than this. */
  | { readonly kind: 'depth'; readonly depth: number }
  | { readonly kind: 'continue' };

/** Why it stands; `due`: it has run for as long as it was to. */
export type AdvanceEnd = Extract<StopReason, 'step' | 'breakpoint' | 'output' | 'pause'> | 'due';

/** Instructions of a turn on a shared device, where one may take long. */
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

/** Has the one call of a run go as far as it is told each time. */
export class Stepper implements InstructionObserver {
  readonly #machine: VirtualMachine;
  readonly #conditions: StopConditions;
  #going: Going | undefined;
  #wake = new Deferred();
  #isPausing = false;
  /** The call, while it is in flight. */
  call: CallInFlight | undefined;
  /** Instructions that the call had run when it ended. */
  executed = 0;
  /** Where the frames of the call stood when it failed, the innermost first. */
  failures: readonly CodePlace[] = [];

  constructor(machine: VirtualMachine, conditions: StopConditions) {
    this.#machine = machine;
    this.#conditions = conditions;
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

  hold(call: CallInFlight): Promise<void> | undefined {
    this.call = call;
    if (this.#goOn(call.invocation, true) !== undefined) return undefined;
    this.#wake = new Deferred();
    return call.idle(this.#wake.promise);
  }

  before(invocation: Invocation): number {
    const { executed } = invocation;
    const advance = this.#goOn(invocation);
    if (advance === undefined) return 0;
    if (advance.kind === 'seek')
      return Math.min(INSTRUCTIONS_PER_SEEK, advance.executed - executed);
    this.#conditions.before(invocation);
    return 1;
  }

  after(): Promise<void> | undefined {
    const checking = this.#conditions.check();
    return checking && this.#standIf(checking);
  }

  async #standIf(isFound: Promise<boolean>): Promise<void> {
    if (await isFound) this.#stand('output');
  }

  failed({ frames }: Invocation): void {
    this.#conditions.forget();
    this.failures = placesOf(frames, -1);
  }

  ended(call: CallInFlight): void {
    this.executed = call.invocation.executed;
    this.call = undefined;
    this.#going = undefined;
  }

  /** How far the call goes; undefined where it stands, from now on too. */
  #goOn(invocation: Invocation, looksAtClock = false): Advance | undefined {
    if (this.#going === undefined) return undefined;
    const end = this.#endOf(invocation, this.#going, looksAtClock);
    if (end !== undefined) this.#stand(end);
    return this.#going?.advance;
  }

  #stand(reason: AdvanceEnd): void {
    const going = this.#going;
    this.#going = undefined;
    // Devices work on what was launched while the call stands.
    for (const device of devicesOf(this.#machine)) device.flush();
    going?.end(reason);
  }

  /** Why the call is to stand before its next instruction. With `looksAtClock` also because its time is over. */
  #endOf(
    { executed, frames }: Invocation,
    going: Going,
    looksAtClock: boolean,
  ): AdvanceEnd | undefined {
    const { advance, begin, forMs } = going;
    going.from ??= executed;
    if (advance.kind === 'seek' && executed >= advance.executed) return 'step';
    const hasRun = executed > going.from;
    if (hasRun) {
      if (advance.kind === 'step') return 'step';
      if (advance.kind === 'depth' && frames.length <= advance.depth) return 'step';
      if (advance.kind !== 'seek' && this.#conditions.isAt(frames.at(-1))) return 'breakpoint';
    }
    if (this.#isPausing) return 'pause';
    return looksAtClock && hasRun && performance.now() - begin > forMs ? 'due' : undefined;
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
