import { internalError, UsageError } from '../../core/errors.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import { DebuggedCall } from '../../runtime/debug/debugged-call.ts';
import type { DebugStop } from '../../runtime/debug/debug-types.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import type { DebugOrder, DebugReply } from '../protocol/debug-order.ts';
import type { Tool, ToolContext, ToolReply } from './tool.ts';

/** Begins a run of a number that the page chose, and is answered when it is over; or an order for one. */
export type DebugRequest =
  | { readonly run: number; readonly functionName: string; readonly order?: undefined }
  | { readonly run: number; readonly order: DebugOrder };

type Begin = Extract<DebugRequest, { functionName: string }>;
type Ordered = Extract<DebugRequest, { order: DebugOrder }>;
type Reply = ToolReply<DebugReply>;

/** Debugging runs of a session. */
export function openTool(hosted: HostedSession): Tool<DebugRequest, ToolContext, DebugReply> {
  const runs = new DebugRuns(hosted);
  return (request, context) =>
    request.order === undefined ? runs.hold(request, context) : runs.order(request, context.signal);
}

/** A debugging run from the request that begins it to its end. */
interface Entry {
  readonly call: Promise<DebuggedCall>;
  readonly begin: (call: DebuggedCall) => void;
  readonly fail: (error: unknown) => void;
  functionName: string;
  /** Orders are done one after the other. */
  last: Promise<unknown>;
}

/** The debugging runs of a session, by their numbers. */
class DebugRuns {
  readonly #hosted: HostedSession;
  readonly #entries = new Map<number, Entry>();

  constructor(hosted: HostedSession) {
    this.#hosted = hosted;
  }

  /** Whichever comes first, the request that begins a run or an order for it. */
  #entryOf(run: number): Entry {
    const known = this.#entries.get(run);
    if (known !== undefined) return known;
    let [begin, fail]: [Entry['begin'], Entry['fail']] = [() => undefined, () => undefined];
    const call = new Promise<DebuggedCall>((resolve, reject) => {
      [begin, fail] = [resolve, reject];
    });
    // Orders reject with it.
    call.catch(() => undefined);
    const entry: Entry = { call, begin, fail, functionName: '', last: call };
    this.#entries.set(run, entry);
    return entry;
  }

  /** Holds a debugging run for orders, until it is closed or the signal aborts. */
  async hold(
    { run, functionName }: Begin,
    { inputs, signal, states, checkpointBytes, onHeld }: ToolContext,
  ): Promise<Reply> {
    const hosted = this.#hosted;
    const entry = this.#entryOf(run);
    entry.functionName = functionName;
    onHeld?.();
    let call: DebuggedCall | undefined;
    try {
      // It needs the weights, though between orders nothing of it is under way.
      await hosted.shared?.hold(signal);
      call = new DebuggedCall(hosted.machine, { functionName, inputs, states, checkpointBytes });
      entry.begin(call);
      await untilAborted(call.closed, signal);
      return { answer: {} };
    } catch (error) {
      entry.fail(error);
      throw error;
    } finally {
      this.#entries.delete(run);
      await call?.close(signal.aborted ? signal.reason : closedError());
    }
  }

  /** Does what a page asks of a debugging run. Aborted, what is under way stops at the next instruction. */
  async order({ run, order }: Ordered, signal: AbortSignal): Promise<Reply> {
    if (order.do !== 'start' && !this.#entries.has(run)) throw closedError();
    const entry = this.#entryOf(run);
    const call = await entry.call;
    if (order.do === 'pause') {
      call.pause();
      return { answer: {} };
    }
    if (order.do === 'close') {
      await call.close(closedError());
      return { answer: {} };
    }
    const stop = (): void => call.pause();
    const work = (): Promise<Reply> => {
      signal.throwIfAborted();
      signal.addEventListener('abort', stop, { once: true });
      const { device } = this.#hosted;
      return device.share(() => carryOut(this.#hosted, { entry, call, order }), signal);
    };
    const done = entry.last.then(work, work);
    entry.last = done;
    try {
      return await done;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
}

interface Carried {
  readonly entry: Entry;
  readonly call: DebuggedCall;
  readonly order: DebugOrder;
}

async function carryOut(hosted: HostedSession, { entry, call, order }: Carried): Promise<Reply> {
  const stopped = async (going: Promise<DebugStop>): Promise<Reply> => {
    const stop = await going;
    const { result } = call;
    if (stop.reason !== 'end' || result === undefined) return { answer: { stop } };
    // Whoever delivers it drops it, but one may step back and come here again.
    hosted.machine.retain(result);
    const results = await hosted.deliver(
      { functionName: entry.functionName, keep: 'host' },
      result,
    );
    return { answer: { stop }, results };
  };
  switch (order.do) {
    case 'start':
    case 'step':
    case 'stepOver':
    case 'stepOut':
    case 'stepBack':
    case 'continue':
      return stopped(call[order.do]());
    case 'seek':
      return stopped(call.seek(order.executed));
    case 'setBreakpoints':
      return { answer: { breakpoints: call.setBreakpoints(order.breakpoints) } };
    case 'registers':
      return { answer: { registers: call.registers(order.frame) } };
    case 'value':
      return { answer: { value: await call.value(order.frame, order.register, order.path) } };
    case 'memory':
      return { answer: { memory: call.memory() } };
    default:
      throw internalError(`an order ${order.do} that is carried out at once`);
  }
}

function closedError(): UsageError {
  return new UsageError({
    where: 'debug',
    got: 'an order for a debugging run that was closed',
    expected: 'a run that is open',
    remedy: 'Begin another one with session.debug.',
  });
}
