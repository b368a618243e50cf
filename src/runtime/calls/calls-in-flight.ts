import type { ExecutableData } from '../../bytecode/executable.ts';
import { abortError } from '../../core/errors.ts';
import type { Frame } from '../frame.ts';
import { type FrameCount, Invocation, type Limits } from '../invocation.ts';
import type { LinkedProgram } from '../link/link.ts';
import type { RunControls } from '../run-hooks.ts';
import { CallInFlight } from './call-in-flight.ts';

/** How a call is known, and stopped. */
export interface CallTerms {
  readonly signal?: AbortSignal | undefined;
  /** See {@link CallInFlight.entry}. */
  readonly entry?: string | undefined;
}

interface CallsInFlightOptions {
  readonly program: ExecutableData;
  readonly linked: LinkedProgram;
  readonly limits: Limits;
  readonly controls: RunControls;
  /** The class of watched calls; undefined where nobody watches. */
  readonly invocation?: typeof Invocation | undefined;
}

/** The calls of a machine between their first instruction and their end, which share its limits. */
export class CallsInFlight {
  readonly #options: CallsInFlightOptions;
  readonly #frameCount: FrameCount = { live: 0, registers: 0 };
  readonly #calls = new Set<CallInFlight>();
  #end: Error | undefined;

  constructor(options: CallsInFlightOptions) {
    this.#options = options;
  }

  /** The calls, in the order in which they began. */
  get calls(): ReadonlySet<CallInFlight> {
    return this.#calls;
  }

  /** Why no further call is taken. */
  get end(): Error | undefined {
    return this.#end;
  }

  /** Cancels every call; no other one may come. */
  stop(error: Error): void {
    this.#end = error;
    for (const call of this.#calls) call.cancel(error);
  }

  /** Does the work of one call. Errors get the call's stack; its memory goes, however it ends. */
  async track<T>(
    { signal, entry }: CallTerms,
    work: (call: CallInFlight) => Promise<T>,
  ): Promise<T> {
    const { program, linked, limits, controls, invocation = Invocation } = this.#options;
    const call = new CallInFlight(new invocation(linked, limits, this.#frameCount), entry);
    const onAbort = signal && (() => call.cancel(abortError(signal)));
    this.#calls.add(call);
    if (onAbort !== undefined) signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await work(call);
    } catch (error) {
      if (call.cancellation !== undefined) throw call.cancellation;
      throw await withStack(error, program, call.invocation.frames);
    } finally {
      if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
      this.#calls.delete(call);
      call.unwind();
      controls.hooks?.ended(call);
    }
  }
}

/** The code that describes errors loads with the first one; where it cannot, the error stays as it is. */
async function withStack(
  error: unknown,
  program: ExecutableData,
  frames: readonly Frame[],
): Promise<unknown> {
  try {
    const { withVmStack } = await import('../vm-stack.ts');
    return withVmStack(error, program, frames);
  } catch {
    return error;
  }
}
