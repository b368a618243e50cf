import type { ExecutableData } from '../../bytecode/executable.ts';
import type { Frame } from '../frame.ts';
import { type FrameCount, Invocation, type Limits } from '../invocation.ts';
import type { LinkedProgram } from '../link/link.ts';
import type { RunControls } from '../run-hooks.ts';
import { CallInFlight, type CallTerms } from './call-in-flight.ts';

interface CallsInFlightOptions {
  readonly program: ExecutableData;
  readonly linked: LinkedProgram;
  readonly limits: Limits;
  readonly controls: RunControls;
}

/** The calls of a machine between their first instruction and their end, which share its limits. */
export class CallsInFlight {
  readonly #options: CallsInFlightOptions;
  readonly #frameCount: FrameCount = { live: 0, registers: 0 };
  readonly #calls = new Set<CallInFlight>();
  #stopped: Error | undefined;

  constructor(options: CallsInFlightOptions) {
    this.#options = options;
  }

  /** The calls, in the order in which they began. */
  get calls(): ReadonlySet<CallInFlight> {
    return this.#calls;
  }

  /** Why no further call is taken. */
  get stopped(): Error | undefined {
    return this.#stopped;
  }

  /** Cancels every call; no other one may come. */
  stop(error: Error): void {
    this.#stopped = error;
    for (const call of this.#calls) call.cancel(error);
  }

  /** Begins a call, which its caller has to {@link end}. */
  begin(terms: CallTerms): CallInFlight {
    const { linked, limits } = this.#options;
    const call = new CallInFlight(new Invocation(linked, limits, this.#frameCount), terms);
    this.#calls.add(call);
    return call;
  }

  /** The error that a call ends with: the one that it was cancelled with, or its own with its stack. */
  async failure({ cancellation, invocation }: CallInFlight, error: unknown): Promise<unknown> {
    return cancellation ?? (await withStack(error, this.#options.program, invocation.frames));
  }

  /** Frees the memory of a call, however it ends. */
  end(call: CallInFlight): void {
    this.#calls.delete(call);
    call.unwind();
    const { hooks, stepping } = this.#options.controls;
    hooks?.ended(call);
    stepping?.ended(call);
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
