import { having, type OptionKind, requireKind, requireMaker } from '../../core/check-options.ts';
import { Deferred } from '../../core/async/deferred.ts';
import { abortError, UsageError } from '../../core/errors.ts';
import type { CodePlace, PausedCall, PauseOptions } from '../../core/contracts/paused-call.ts';
import { shortList } from '../../core/short-list.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import type { CallInFlight } from '../calls/call-in-flight.ts';
import { CallRunner } from '../calls/call-runner.ts';
import { resume, run } from '../interpreter.ts';
import { type LinkedFunction, LinkedInstruction, LinkedOp } from '../link/linked-code.ts';
import type { RunHooks } from '../run-hooks.ts';
import type { Value } from '../values/value.ts';
import type { VirtualMachine } from '../virtual-machine.ts';

/** Somebody who waits for a breakpoint. */
interface Waiting {
  visitsLeft: number;
}

interface Breakpoint {
  readonly original: LinkedInstruction;
  readonly waiting: Set<Waiting>;
}

/** Instructions of a machine at which calls stop, each as long as somebody waits for it. */
class Breakpoints {
  readonly #places = new Map<LinkedFunction, Map<number, Breakpoint>>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  at(callee: LinkedFunction, index: number): Breakpoint | undefined {
    return this.#places.get(callee)?.get(index);
  }

  add(callee: LinkedFunction, index: number, waiting: Waiting): void {
    const known = this.at(callee, index);
    if (known !== undefined) {
      known.waiting.add(waiting);
      return;
    }
    const original = callee.code[index] as LinkedInstruction;
    const places = this.#places.get(callee) ?? new Map<number, Breakpoint>();
    this.#places.set(callee, places.set(index, { original, waiting: new Set([waiting]) }));
    this.#count++;
    const { destination, target, args, packed, callee: called, cost, moved, codeIndex } = original;
    const fields = { destination, target, args, packed, callee: called, cost, moved, codeIndex };
    replace(callee, index, new LinkedInstruction({ ...fields, op: LinkedOp.breakpoint }));
  }

  /** The last one who waits takes the breakpoint away. */
  drop(callee: LinkedFunction, index: number, waiting: Waiting): void {
    const breakpoint = this.at(callee, index);
    if (breakpoint?.waiting.delete(waiting) !== true || breakpoint.waiting.size > 0) return;
    this.#places.get(callee)?.delete(index);
    this.#count--;
    replace(callee, index, breakpoint.original);
  }

  /** Counts a visit. Returns true if somebody waited for it, who then waits no more. */
  visit(callee: LinkedFunction, index: number): boolean {
    let isHit = false;
    for (const waiting of this.at(callee, index)?.waiting ?? []) {
      if (--waiting.visitsLeft > 0) continue;
      this.drop(callee, index, waiting);
      isHit = true;
    }
    return isHit;
  }

  /** Does work while the instruction is as it was. */
  without<T>(callee: LinkedFunction, index: number, work: () => T): T {
    const original = this.at(callee, index)?.original;
    const broken = callee.code[index];
    if (original === undefined || broken === undefined) return work();
    replace(callee, index, original);
    try {
      return work();
    } finally {
      // The work may have taken the last one who waited away.
      if (this.at(callee, index) !== undefined) replace(callee, index, broken);
    }
  }
}

/** Linked code is private to its machine, and nothing runs while it changes. */
function replace({ code }: LinkedFunction, index: number, instruction: LinkedInstruction): void {
  (code as LinkedInstruction[])[index] = instruction;
}

interface Pause {
  /** Resolved once all calls are held. */
  readonly reached: Deferred;
  /** Resolved once the calls go on. */
  readonly over: Deferred;
  /** Whoever waits for a breakpoint was told. */
  isTold: boolean;
}

export const MACHINE: OptionKind = having('a VirtualMachine', 'internals');

/**
 * Pauses the calls of a machine between two instructions. While it is paused, calls in flight are
 * held and new ones wait. While there are breakpoints nothing is repeated from a recording. Functions
 * taken out with `toFunction` run to their end, since JavaScript waits for them.
 */
export class RunControl implements RunHooks {
  readonly #machine: VirtualMachine;
  readonly #runner: CallRunner;
  readonly #held = new Set<CallInFlight>();
  /** Calls that may stand at a breakpoint and were let go. */
  readonly #released = new WeakSet<CallInFlight>();
  readonly #breakpoints = new Breakpoints();
  #pause: Pause | undefined;
  /** Callers that wait for the next pause. */
  #next = new Deferred();
  #isWanted = false;
  #leases = 0;
  /** Calls of `pause` that wait for the machine to stand still. */
  #pausing = 0;

  private constructor(machine: VirtualMachine, runner: CallRunner) {
    requireMaker('RunControl.of', runner instanceof CallRunner);
    this.#machine = machine;
    this.#runner = runner;
    runner.hooks = this;
  }

  /** The one control of a machine. Throws UsageError after the machine's end. */
  static of(machine: VirtualMachine): RunControl {
    requireKind('RunControl.of', MACHINE, ['what is', machine]);
    const { runner } = machine.internals();
    const { hooks } = runner;
    return hooks instanceof RunControl ? hooks : new RunControl(machine, runner);
  }

  /**
   * Resolves when every call in flight is held: at once, after what a call waits for, or, with
   * `at`, when one comes there (or somebody else pauses the machine). Rejects with the signal's
   * reason, with UsageError for a place that is none, when the machine goes on before all calls are
   * held, and with the machine's error when it ends.
   */
  async pause({ at, visit = 1, signal }: PauseOptions = {}): Promise<readonly PausedCall[]> {
    if (signal?.aborted === true) throw abortError(signal);
    if (!Number.isSafeInteger(visit) || visit < 1) {
      const got = `visit ${String(visit)}`;
      throw new UsageError({ where: 'pause', got, expected: 'an integer from 1 up' });
    }
    if (at === undefined) await this.#standStill(signal);
    else await this.#comeTo(at, visit, signal);
    this.#machine.internals();
    return this.calls();
  }

  async #standStill(signal: AbortSignal | undefined): Promise<void> {
    this.#isWanted = true;
    const pause = this.#begin();
    this.#pausing++;
    try {
      await untilAborted(pause.reached.promise, signal);
    } catch (error) {
      // Whoever gives up wants no pause any more, but others may.
      if (this.#pausing === 1 && this.#pause === pause && !pause.isTold) this.continue();
      throw error;
    } finally {
      this.#pausing--;
    }
  }

  async #comeTo(at: CodePlace, visit: number, signal: AbortSignal | undefined): Promise<void> {
    const { callee, index } = this.#find(at);
    const waiting = { visitsLeft: visit };
    this.#breakpoints.add(callee, index, waiting);
    try {
      await untilAborted(this.#next.promise, signal);
    } finally {
      this.#breakpoints.drop(callee, index, waiting);
    }
  }

  /** Lets all calls go on. Without effect on a machine that is not paused. */
  continue(): void {
    this.#isWanted = false;
    this.#openUnlessWanted();
  }

  /** True while calls are held, or will be at their next instruction. */
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

  /** The calls that {@link calls} describes. */
  heldCalls(): CallInFlight[] {
    return [...this.#runner.calls].filter((call) => this.#held.has(call));
  }

  /** Does work while nothing runs; afterwards all goes on unless the machine was paused before. */
  async whilePaused<T>(work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#leases++;
    try {
      await untilAborted(this.#begin().reached.promise, signal);
      this.#machine.internals();
      return await work();
    } finally {
      this.#leases--;
      this.#openUnlessWanted();
    }
  }

  /** An instruction as it is without a breakpoint. */
  instructionAt(callee: LinkedFunction, index: number): LinkedInstruction | undefined {
    return this.#breakpoints.at(callee, index)?.original ?? callee.code[index];
  }

  /** Does work while an instruction is as it is without a breakpoint. */
  withoutBreakpoint<T>(callee: LinkedFunction, index: number, work: () => T): T {
    return this.#breakpoints.without(callee, index, work);
  }

  get mustInterpret(): boolean {
    return this.#breakpoints.count > 0;
  }

  admission(): Promise<void> | undefined {
    return this.#pause?.over.promise;
  }

  between(call: CallInFlight): Promise<void> | undefined {
    const { invocation } = call;
    if (invocation.isDone) return undefined;
    if (invocation.isBroken) {
      invocation.isBroken = false;
      this.#visit(call);
      this.#released.add(call);
    }
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
    this.#pause?.reached.resolve();
    this.#next.resolve();
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
    this.#pause?.reached.reject(
      new UsageError({
        where: 'pause',
        got: 'a continue before all calls were held',
        expected: 'no continue until the pause resolves',
      }),
    );
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
    if (frame === undefined || this.#breakpoints.at(frame.function, frame.pc) === undefined) {
      return undefined;
    }
    const step = (): Promise<Value> | undefined => run(invocation, 1);
    const pending = this.#breakpoints.without(frame.function, frame.pc, step);
    if (pending === undefined) return Promise.resolve();
    return call.wait(pending).then((value) => resume(invocation, value));
  }

  /** Counts that a call came to a breakpoint; pauses the machine where somebody waited for it. */
  #visit({ invocation }: CallInFlight): void {
    const frame = invocation.frames.at(-1);
    if (frame === undefined || !this.#breakpoints.visit(frame.function, frame.pc)) return;
    this.#isWanted = true;
    this.#begin();
  }

  #find({ function: name, instruction }: CodePlace): { callee: LinkedFunction; index: number } {
    const { functions } = this.#machine.internals().linked;
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
}
