import { internalError, UsageError } from '../../core/errors.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import { DebuggedCall } from '../../runtime/debug/debugged-call.ts';
import type { DebugStop } from '../../runtime/debug/debug-types.ts';
import type { HostInput } from '../../runtime/link/host-function.ts';
import type { HostStates } from '../../runtime/snapshot/take-snapshot.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import type { ControlRequest } from '../protocol/control-request.ts';
import type { DebugOrder, DebugReply } from '../protocol/debug-order.ts';
import type { WireResult } from '../protocol/wire-value.ts';

type Begin = Extract<ControlRequest, { kind: 'debug' }>;
type Ordered = Extract<ControlRequest, { kind: 'debug order' }>;

interface Answer {
  readonly debug: DebugReply;
  readonly results?: readonly WireResult[];
}

/** A debugging run from the request that begins it to its end. */
interface Entry {
  readonly begun: Promise<DebuggedCall>;
  readonly begin: (call: DebuggedCall) => void;
  readonly fail: (error: unknown) => void;
  functionName: string;
  /** Orders are done one after the other. */
  last: Promise<unknown>;
}

const entries = new WeakMap<HostedSession, Map<number, Entry>>();

/** Whichever comes first, the request that begins a run or an order for it. */
function entryOf(hosted: HostedSession, run: number): Entry {
  const all = entries.get(hosted) ?? new Map<number, Entry>();
  entries.set(hosted, all);
  const known = all.get(run);
  if (known !== undefined) return known;
  let [begin, fail]: [Entry['begin'], Entry['fail']] = [() => undefined, () => undefined];
  const begun = new Promise<DebuggedCall>((resolve, reject) => {
    [begin, fail] = [resolve, reject];
  });
  // Orders hear of it.
  begun.catch(() => undefined);
  const entry: Entry = { begun, begin, fail, functionName: '', last: begun };
  all.set(run, entry);
  return entry;
}

/** Holds a debugging run for orders, until it is closed or the signal aborts. */
export async function holdDebugRun(
  hosted: HostedSession,
  { run, functionName }: Begin,
  context: {
    readonly inputs: readonly HostInput[];
    readonly signal: AbortSignal;
    readonly states: HostStates | undefined;
    /** The most bytes of host memory that its snapshots take. */
    readonly checkpointBytes?: number | undefined;
  },
): Promise<void> {
  const { inputs, signal, states, checkpointBytes } = context;
  const entry = entryOf(hosted, run);
  entry.functionName = functionName;
  let call: DebuggedCall | undefined;
  try {
    // It needs the weights, though between orders nothing of it is under way.
    await hosted.shared?.hold(signal);
    call = new DebuggedCall(hosted.machine, { functionName, inputs, states, checkpointBytes });
    entry.begin(call);
    await untilAborted(call.closed, signal);
  } catch (error) {
    entry.fail(error);
    throw error;
  } finally {
    entries.get(hosted)?.delete(run);
    await call?.close(signal.aborted ? signal.reason : closedError());
  }
}

/** Does what a page asks of a debugging run. Aborted, what is under way stops at the next instruction. */
export async function orderDebugRun(
  hosted: HostedSession,
  { run, order }: Ordered,
  signal: AbortSignal,
): Promise<Answer> {
  const isKnown = order.do === 'start' || entries.get(hosted)?.has(run) === true;
  if (!isKnown) throw closedError();
  const entry = entryOf(hosted, run);
  const call = await entry.begun;
  if (order.do === 'pause') {
    call.pause();
    return { debug: {} };
  }
  if (order.do === 'close') {
    await call.close(closedError());
    return { debug: {} };
  }
  const stop = (): void => call.pause();
  const work = (): Promise<Answer> => {
    signal.throwIfAborted();
    signal.addEventListener('abort', stop, { once: true });
    return hosted.device.share(() => carryOut(hosted, { entry, call, order }), signal);
  };
  const done = entry.last.then(work, work);
  entry.last = done;
  try {
    return await done;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

interface Carried {
  readonly entry: Entry;
  readonly call: DebuggedCall;
  readonly order: DebugOrder;
}

async function carryOut(hosted: HostedSession, { entry, call, order }: Carried): Promise<Answer> {
  const stopped = async (going: Promise<DebugStop>): Promise<Answer> => {
    const stop = await going;
    const { result } = call;
    if (stop.reason !== 'end' || result === undefined) return { debug: { stop } };
    // Whoever delivers it drops it, but one may step back and come here again.
    hosted.machine.retain(result);
    const results = await hosted.deliver(
      { functionName: entry.functionName, keep: 'host' },
      result,
    );
    return { debug: { stop }, results };
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
      return { debug: { breakpoints: call.setBreakpoints(order.breakpoints) } };
    case 'registers':
      return { debug: { registers: call.registers(order.frame) } };
    case 'value':
      return { debug: { value: await call.value(order.frame, order.register, order.path) } };
    case 'memory':
      return { debug: { memory: call.memory() } };
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
