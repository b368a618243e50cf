import { UsageError } from '../../core/errors.ts';
import { shortList } from '../../core/short-list.ts';
import { untilAborted } from '../../core/until-aborted.ts';
import type { CallRunner } from '../call-runner.ts';
import { resume, run } from '../dispatch.ts';
import { LinkedInstruction, type LinkedFunction, LinkedOp } from '../linked-code.ts';
import type { CallInFlight, RunHooks } from '../run-hooks.ts';
import type { VirtualMachine } from '../virtual-machine.ts';

/** An instruction of a bytecode function, counted from 0 as listings do. */
export interface CodePlace {
  readonly function: string;
  readonly instruction: number;
}

/** A call that is paused: the function called from outside, and what its last frame runs next. */
export interface PausedCall {
  readonly entry: string;
  readonly at: CodePlace;
  readonly depth: number;
}

export interface PauseOptions {
  /** Pause when a call comes to this instruction, which it has not run then. Holds once. */
  readonly at?: CodePlace | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Pause {
  /** All calls are held. */
  readonly reached: Deferred;
  /** They go on. */
  readonly over: Deferred;
  /** Whoever waits for a breakpoint was told. */
  isTold: boolean;
}

const controls = new WeakMap<CallRunner, RunControl>();

/**
 * Pauses the calls of a machine between two instructions. While it is paused, calls in flight are
 * held and new ones wait; nothing is repeated from a recording that began before. Functions taken
 * out with `toFunction` run to their end, since JavaScript waits for them.
 */
export class RunControl implements RunHooks {
  readonly #machine: VirtualMachine;
  readonly #runner: CallRunner;
  readonly #held = new Set<CallInFlight>();
  /** Calls that were let go and may stand at a breakpoint that was set meanwhile. */
  readonly #released = new WeakSet<CallInFlight>();
  readonly #breakpoints = new Map<LinkedFunction, Map<number, LinkedInstruction>>();
  #pause: Pause | undefined;
  /** What waits for the next pause. */
  #next = new Deferred();
  #isWanted = false;
  #leases = 0;

  private constructor(machine: VirtualMachine, runner: CallRunner) {
    this.#machine = machine;
    this.#runner = runner;
    runner.hooks = this;
  }

  /** The one control of a machine. Throws UsageError after the machine's end. */
  static of(machine: VirtualMachine): RunControl {
    const { runner } = machine.parts();
    const control = controls.get(runner) ?? new RunControl(machine, runner);
    controls.set(runner, control);
    return control;
  }

  /**
   * Resolves when every call in flight is held: at once, after what a call waits for, or, with
   * `at`, when one comes there (or somebody else pauses the machine). Rejects with the signal's
   * reason, and with UsageError for a place that is none.
   */
  async pause({ at, signal }: PauseOptions = {}): Promise<readonly PausedCall[]> {
    if (at !== undefined) {
      const { callee, index } = this.#find(at);
      this.#setBreakpoint(callee, index);
      try {
        await untilAborted(this.#next.promise, signal);
      } finally {
        this.#clearBreakpoint(callee, index);
      }
      return this.calls();
    }
    this.#isWanted = true;
    const { reached } = this.#begin();
    await untilAborted(reached.promise, signal);
    return this.calls();
  }

  /** Lets all calls go on. Without effect on a machine that is not paused. */
  continue(): void {
    this.#isWanted = false;
    this.#openUnlessWanted();
  }

  get isPaused(): boolean {
    return this.#isWanted;
  }

  /** Calls that are held now, in the order in which they began. */
  calls(): PausedCall[] {
    return this.heldCalls().map(({ entry = '', invocation: { frames } }) => {
      const top = frames.at(-1);
      const at = { function: top?.function.source.name ?? entry, instruction: top?.pc ?? 0 };
      return { entry, at, depth: frames.length };
    });
  }

  /** See {@link calls}. */
  heldCalls(): CallInFlight[] {
    return [...this.#runner.calls].filter((call) => this.#held.has(call));
  }

  /** Does work while nothing runs; afterwards all goes on unless the machine was paused before. */
  async whilePaused<T>(work: () => T | Promise<T>): Promise<T> {
    this.#leases++;
    try {
      await this.#begin().reached.promise;
      this.#machine.parts();
      return await work();
    } finally {
      this.#leases--;
      this.#openUnlessWanted();
    }
  }

  admission(): Promise<void> | undefined {
    return this.#pause?.over.promise;
  }

  between(call: CallInFlight): Promise<void> | undefined {
    const { invocation } = call;
    if (invocation.isDone) return undefined;
    if (invocation.isBroken) this.#stopAtBreakpoint(call);
    // JavaScript, and perhaps a call of this machine, waits for a function that was taken out.
    if (this.#pause !== undefined && call.entry !== undefined) {
      return this.#hold(call, this.#pause);
    }
    return this.#released.delete(call) ? this.#stepOff(call) : undefined;
  }

  ended(call: CallInFlight): void {
    this.#held.delete(call);
    this.#check();
  }

  close(): void {
    this.#pause?.over.resolve();
  }

  #begin(): Pause {
    this.#pause ??= { reached: new Deferred(), over: new Deferred(), isTold: false };
    const pause = this.#pause;
    this.#check();
    return pause;
  }

  #check(): void {
    if (this.#pause === undefined) return;
    for (const call of this.#runner.calls) if (!this.#held.has(call)) return;
    this.#pause.reached.resolve();
    if (!this.#isWanted || this.#pause.isTold) return;
    this.#pause.isTold = true;
    this.#next.resolve();
    this.#next = new Deferred();
  }

  #openUnlessWanted(): void {
    if (this.#isWanted || this.#leases > 0) return;
    this.#pause?.over.resolve();
    this.#pause = undefined;
  }

  async #hold(call: CallInFlight, { over }: Pause): Promise<void> {
    this.#held.add(call);
    this.#check();
    try {
      await call.idle(over.promise);
    } finally {
      // Paused again meanwhile, it is held again at once.
      if (this.#pause === undefined) this.#held.delete(call);
    }
    this.#released.add(call);
  }

  /** Runs the instruction under a breakpoint at which the call was let go. */
  #stepOff(call: CallInFlight): Promise<void> | undefined {
    const { invocation } = call;
    const frame = invocation.frames.at(-1);
    const original = frame && this.#breakpoints.get(frame.function)?.get(frame.pc);
    if (frame === undefined || original === undefined) return undefined;
    const { function: callee, pc } = frame;
    this.#clearBreakpoint(callee, pc);
    const pending = run(invocation, 1);
    this.#setBreakpoint(callee, pc);
    if (pending === undefined) return Promise.resolve();
    return call.wait(pending).then((value) => resume(invocation, value));
  }

  #stopAtBreakpoint({ invocation }: CallInFlight): void {
    invocation.isBroken = false;
    const frame = invocation.frames.at(-1);
    if (frame !== undefined) this.#clearBreakpoint(frame.function, frame.pc);
    this.#isWanted = true;
    this.#begin();
  }

  #find({ function: name, instruction }: CodePlace): { callee: LinkedFunction; index: number } {
    const { functions } = this.#machine.parts().linked;
    const callee = functions.find(({ source }) => source.name === name);
    if (callee === undefined) {
      throw new UsageError({
        where: 'pause',
        got: `the function name ${JSON.stringify(name)}`,
        expected: `one of ${shortList(functions.map(({ source }) => source.name))}`,
      });
    }
    if (callee.code[instruction] !== undefined) return { callee, index: instruction };
    throw new UsageError({
      where: 'pause',
      got: `instruction ${instruction} of ${name}`,
      expected: `an instruction from 0 to ${callee.code.length - 1}`,
    });
  }

  #setBreakpoint(callee: LinkedFunction, index: number): void {
    const original = callee.code[index];
    if (original === undefined || original.op === LinkedOp.breakpoint) return;
    const originals = this.#breakpoints.get(callee) ?? new Map<number, LinkedInstruction>();
    this.#breakpoints.set(callee, originals.set(index, original));
    const { destination, target, args, packed, callee: called, cost, codeIndex } = original;
    const fields = { destination, target, args, packed, callee: called, cost, codeIndex };
    replace(callee, index, new LinkedInstruction({ ...fields, op: LinkedOp.breakpoint }));
  }

  #clearBreakpoint(callee: LinkedFunction, index: number): void {
    const original = this.#breakpoints.get(callee)?.get(index);
    if (original === undefined) return;
    this.#breakpoints.get(callee)?.delete(index);
    replace(callee, index, original);
  }
}

/** Linked code is private to its machine, and nothing runs while it changes. */
function replace({ code }: LinkedFunction, index: number, instruction: LinkedInstruction): void {
  (code as LinkedInstruction[])[index] = instruction;
}

class Deferred {
  readonly promise: Promise<void>;
  #resolve: () => void = () => undefined;

  constructor() {
    this.promise = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  resolve(): void {
    this.#resolve();
  }
}
