import type { ExecutableData } from '../bytecode/executable.ts';
import { abortError, internalError } from '../core/errors.ts';
import type { Device } from '../device/device.ts';
import { resume, run } from './dispatch.ts';
import { type FrameCount, Invocation, type Limits } from './invocation.ts';
import type { LinkedFunction } from './linked-code.ts';
import type { LinkedProgram } from './link.ts';
import { macrotask } from './macrotask.ts';
import { discard, type Value } from './value.ts';
import { withVmStack } from './vm-stack.ts';

/** Nested synchronous calls (program, JS function, program, …) before one waits for its turn. */
const MAX_NESTING = 32;

export interface CallOutcome {
  /** The caller owns one reference. */
  readonly value: Value;
  readonly instructionCount: number;
}

export interface CallRunnerOptions {
  readonly limits: Limits;
  readonly devices: readonly Device[];
}

/** Drives the calls in flight: slices, waiting, cancellation, errors. */
export class CallRunner {
  readonly #program: ExecutableData;
  readonly #linked: LinkedProgram;
  readonly #limits: Limits;
  readonly #calls = new Set<Call>();
  readonly #frameCount: FrameCount = { live: 0, registers: 0 };
  #nesting = 0;
  #busyMs = 0;

  readonly #devices: readonly Device[];

  constructor(program: ExecutableData, linked: LinkedProgram, options: CallRunnerOptions) {
    this.#program = program;
    this.#linked = linked;
    this.#limits = options.limits;
    this.#devices = options.devices;
  }

  /** Frames in use by all calls. */
  get frameCount(): number {
    return this.#frameCount.live;
  }

  /** Takes over the references that `registers` hold. */
  async run(
    callee: LinkedFunction,
    registers: Value[],
    signal: AbortSignal | undefined,
  ): Promise<CallOutcome> {
    const invocation = new Invocation(this.#linked, this.#limits, this.#frameCount);
    const call = new Call(invocation);
    const onAbort = () => signal !== undefined && call.cancel(abortError(signal));
    this.#calls.add(call);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      invocation.push(callee, registers);
      if (this.#nesting >= MAX_NESTING) await call.pause();
      await this.#drive(call);
      return { value: invocation.takeResult(), instructionCount: invocation.executed };
    } catch (error) {
      if (call.cancellation !== undefined) throw call.cancellation;
      throw withVmStack(error, this.#program, invocation.frames);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#calls.delete(call);
      call.unwind();
    }
  }

  /** Rejects every call in flight. */
  cancelAll(error: Error): void {
    for (const call of this.#calls) call.cancel(error);
  }

  async #drive(call: Call): Promise<void> {
    const { invocation } = call;
    for (;;) {
      const pending = this.#runSlice(invocation);
      if (call.cancellation !== undefined) return call.abandon(pending);
      if (invocation.isDone) return;
      if (pending !== undefined) {
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
  #runSlice(invocation: Invocation): Promise<Value> | undefined {
    const begin = performance.now();
    this.#nesting++;
    try {
      return run(invocation);
    } finally {
      this.#nesting--;
      this.#busyMs += performance.now() - begin;
    }
  }
}

/** A call in flight that can be cancelled while it waits. */
class Call {
  readonly invocation: Invocation;
  cancellation: Error | undefined;
  #rejectWait: ((error: Error) => void) | undefined;
  #pending: Promise<unknown> | undefined;

  constructor(invocation: Invocation) {
    this.invocation = invocation;
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
    const turn = this.wait(macrotask());
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
