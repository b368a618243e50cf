import { ASYNC_DISPOSE } from '../../core/async/dispose-symbols.ts';
import { internalError } from '../../core/errors.ts';
import type {
  Breakpoint,
  DebugDetail,
  DebugMemory,
  DebugOrder,
  DebugReply,
  DebugStop,
  DebugValue,
  SetBreakpoint,
} from '../../worker/protocol/debug-order.ts';
import { checkOptions, type OptionKinds } from '../../core/check-options.ts';
import type { Inputs } from '../values/input-value.ts';
import { type FunctionOwner, fromWireWithFunctions } from '../values/program-function.ts';
import type { OutputValue } from '../values/session-value.ts';
import { type AskAboutRun, askTool, type ToolReply } from './ask-tool.ts';

/** The function that a debugging run runs, and the signal that ends it. */
export interface DebugOptions {
  /** The function of the program to run. Default: `main`. */
  readonly function?: string | undefined;
  /** Ends the run. Whatever is under way, and all that comes later, rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** How long an order may take. */
export interface OrderOptions {
  /** Stops the run at its next instruction; the order rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** A register, or a part of its value. */
export interface RegisterPlace {
  /** The number of the frame, 0 the innermost. Default: 0. */
  readonly frame?: number | undefined;
  /** Parts: `[1, 0]` is the first part of the second part of the value. Default: the value. */
  readonly path?: readonly number[] | undefined;
}

/** The place where a run stands; at its end also its results. */
export interface DebugPlace extends DebugStop {
  /** With `end`: the results by name, as `run` gives them. */
  readonly outputs?: Readonly<Record<string, OutputValue>> | undefined;
}

const DEBUG_OPTIONS: OptionKinds<DebugOptions> = { function: 'text', signal: 'signal' };

export interface DebuggedSession extends FunctionOwner {
  readonly closed: AbortSignal;
}

/** The worker knows runs by numbers, which no two sessions of a page share. */
let runs = 0;

/** See `Session.debug`. */
export async function debugSession(
  session: DebuggedSession,
  ask: AskAboutRun,
  { inputs, options }: { readonly inputs: Inputs; readonly options: DebugOptions },
): Promise<DebugRun> {
  checkOptions('debug', options, DEBUG_OPTIONS);
  const number = ++runs;
  const over = ask(inputs, 'debug', { run: number });
  const order: Send = (given, orderOptions) =>
    askTool(session, ['debug', { run: number, order: given }], orderOptions);
  // Refused, as a run is for wrong inputs, it begins nothing.
  const first = Promise.race([order({ do: 'start' }), over]);
  const run = new DebugRun(session, { order, over });
  try {
    await run.began(first);
    return run;
  } catch (error) {
    await run.close();
    throw error;
  }
}

type Send = (order: DebugOrder, options?: OrderOptions) => Promise<ToolReply<'debug'>>;

interface RunLink {
  readonly order: Send;
  /** Settles when the run is over. */
  readonly over: Promise<unknown>;
}

/**
 * A run of a program that goes instruction by instruction, beside other runs of its session. Orders
 * are carried out one after the other. They reject with UsageError once the run is closed, and
 * otherwise as a run does when its device or session goes. Where the program itself fails, no order
 * rejects: the run stands at the error then.
 */
export class DebugRun {
  readonly #session: DebuggedSession;
  readonly #link: RunLink;
  #place: DebugPlace | undefined;
  /** Why it is over, but for {@link close}. */
  #reason: { readonly error: unknown } | undefined;

  /** @internal */
  constructor(session: DebuggedSession, link: RunLink) {
    this.#session = session;
    this.#link = link;
    link.over.catch((error: unknown) => {
      this.#reason = { error };
    });
  }

  /** The place where the run stands after the last order. */
  get place(): DebugPlace {
    if (this.#place === undefined) throw internalError('a debugging run that stands nowhere');
    return this.#place;
  }

  /** Runs one instruction, into calls of functions. */
  step(options?: OrderOptions): Promise<DebugPlace> {
    return this.#go({ do: 'step' }, options);
  }

  /**
   * Runs one instruction; a call of a function to its end. A tail call takes the place of its
   * caller, and is gone into.
   */
  stepOver(options?: OrderOptions): Promise<DebugPlace> {
    return this.#go({ do: 'stepOver' }, options);
  }

  /** Runs until the innermost function has returned, to behind its call. */
  stepOut(options?: OrderOptions): Promise<DebugPlace> {
    return this.#go({ do: 'stepOut' }, options);
  }

  /**
   * Goes one instruction back. The program runs again up to there, from a snapshot or from its
   * start.
   */
  stepBack(options?: OrderOptions): Promise<DebugPlace> {
    return this.#go({ do: 'stepBack' }, options);
  }

  /** Runs to the next breakpoint, or to the end. */
  continue(options?: OrderOptions): Promise<DebugPlace> {
    return this.#go({ do: 'continue' }, options);
  }

  /** Goes to where the run had executed so many instructions, back or forth. Rejects with UsageError for what is no integer from 0 up. */
  seek(executed: number, options?: OrderOptions): Promise<DebugPlace> {
    return this.#go({ do: 'seek', executed }, options);
  }

  /** Stops what is under way at the next instruction: its order resolves then. */
  async pause(): Promise<void> {
    await this.#order({ do: 'pause' });
  }

  /**
   * Stops where these say, in place of those before. Resolves to the instructions that each stands for. Rejects with UsageError
   * for a function, an instruction or a name that the program does not have.
   */
  async setBreakpoints(breakpoints: readonly Breakpoint[]): Promise<readonly SetBreakpoint[]> {
    return need((await this.#ask({ do: 'setBreakpoints', breakpoints })).breakpoints);
  }

  /** The registers of a frame that hold something, 0 the innermost frame. */
  async registers(frame = 0): Promise<readonly DebugValue[]> {
    return need((await this.#ask({ do: 'registers', frame })).registers);
  }

  /**
   * The value of a register in full: of a tensor statistics, a histogram, its first elements, and a
   * picture where its shape is one.
   */
  async value(
    register: number,
    { frame = 0, path = [] }: RegisterPlace = {},
  ): Promise<DebugDetail> {
    return need((await this.#ask({ do: 'value', frame, register, path })).value);
  }

  /** The storages and shape heaps that the registers of all frames hold. */
  async memory(): Promise<DebugMemory> {
    return need((await this.#ask({ do: 'memory' })).memory);
  }

  /** Ends the run and frees what it holds. Idempotent. */
  async close(): Promise<void> {
    this.#link.order({ do: 'close' }).catch(() => undefined);
    await this.#link.over.catch(() => undefined);
  }

  /** Calls {@link close} at the end of a block with `await using`. */
  [ASYNC_DISPOSE](): Promise<void> {
    return this.close();
  }

  /** @internal Takes where it stands from a reply. */
  async began(reply: Promise<ToolReply<'debug'>>): Promise<DebugPlace> {
    const { answer, results } = await reply;
    const stop = need(answer?.stop);
    const isEnd = stop.reason === 'end';
    const outputs = isEnd ? fromWireWithFunctions(results, this.#session) : undefined;
    this.#place = { ...stop, ...(outputs && { outputs }) };
    return this.#place;
  }

  #go(order: DebugOrder, options: OrderOptions = {}): Promise<DebugPlace> {
    checkOptions(order.do, options, { signal: 'signal' });
    return this.began(this.#order(order, options));
  }

  async #ask(order: DebugOrder): Promise<DebugReply> {
    return (await this.#order(order)).answer ?? {};
  }

  async #order(order: DebugOrder, options?: OrderOptions): Promise<ToolReply<'debug'>> {
    try {
      return await this.#link.order(order, options);
    } catch (error) {
      throw this.#reason === undefined ? error : this.#reason.error;
    }
  }
}

function need<T>(part: T | undefined): T {
  if (part === undefined) throw internalError('a reply without what was asked for');
  return part;
}
