import type { Executable } from '../../bytecode/file/executable-file.ts';
import { Deferred } from '../../core/async/deferred.ts';
import { foldParts } from '../../core/contracts/value-fold.ts';
import { withinRunTime } from '../../core/async/within-run-time.ts';
import { abortError, errorFromData, UsageError } from '../../core/errors.ts';
import type { MachineOptions } from '../../runtime/link/load-machine.ts';
import { TensorValue } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { withArguments } from '../../worker/host/call-arguments.ts';
import { HandleTable } from '../../worker/host/held-values.ts';
import type { LoadedProgram } from '../../worker/host/loaded-program.ts';
import { SessionHost } from '../../worker/host/session-host.ts';
import {
  PROGRAM_NUMBERS,
  type RequestLimits,
  withinCeilings,
} from '../../worker/host/within-ceilings.ts';
import type { ControlReply, ControlRequest } from '../../worker/protocol/control-request.ts';
import type { LoadedSession } from '../../worker/protocol/loaded-session.ts';
import type { CallId, HandleId, Reply, SessionId } from '../../worker/protocol/reply.ts';
import type { RunRequest } from '../../worker/protocol/run-request.ts';
import { type CallPage, WIRE_SIDE, type WireResult } from '../../worker/protocol/wire-value.ts';
import type { DebugRequest } from '../../worker/tools/debug-session.ts';
import type { ConnectionMemory } from '../connection-memory.ts';
import { storedIn, tooManyModules } from '../executable-store.ts';
import type { DeviceServiceOptions } from '../served-device.ts';
import type { RpcLimits } from '../limits.ts';
import { type Check, count, optional, text } from '../values/checked-values.ts';
import { tooManyHandles } from '../values/handle-table.ts';
import type { CallContext, RpcFunction } from '../values/rpc-value.ts';
import { malformed } from '../values/wire-values.ts';
import {
  controlRequest,
  indices,
  loadRequest,
  runRequest,
  sizes,
  watchRequest,
} from './checked-requests.ts';
import { callPage } from './checked-values.ts';
import { type HeldRun, HeldRuns, runOver } from './held-runs.ts';
import { ServedDevices } from './served-devices.ts';
import { ServedWatch } from './served-watch.ts';
import type { SessionCall } from './session-door.ts';

interface ServedSessionsOptions extends DeviceServiceOptions {
  readonly memory: ConnectionMemory;
  /** The functions that programs may call by name. */
  readonly functions: (machine: () => VirtualMachine) => MachineOptions['functions'];
  /** Modules that are loaded beside the sessions. */
  readonly modules: () => number;
}

/** Snapshots of a debugging run, in the memory of the server. */
const CHECKPOINT_BYTES = 64 * 2 ** 20;

/** What a session needs beside the host. */
interface OpenSession {
  /** Of a run, and of the orders together of one that is held, in milliseconds. */
  readonly runTimeout: number | undefined;
  /** Runs that stand until the other side has them go on. */
  readonly held: Set<HeldRun>;
  /** Those that are debugged, by their numbers. */
  readonly debugged: Map<number, DebuggedRun>;
}

interface DebuggedRun {
  readonly held: HeldRun;
  /** Settles when it takes orders. */
  readonly started: Deferred;
}

type Calls = Record<
  SessionCall,
  (args: readonly unknown[], context: CallContext) => Promise<unknown>
>;

/** The sessions of one who may use the devices: the host of a worker, behind checks of what arrives and limits. */
export class ServedSessions {
  readonly #options: ServedSessionsOptions;
  readonly #devices: ServedDevices;
  readonly #host: SessionHost;
  readonly #handles: CountedHandles;
  readonly #heldRuns: HeldRuns;
  readonly #open = new Map<SessionId, OpenSession>();
  readonly #calls: Calls;
  #loading = 0;
  #nextCall: CallId = 1;
  #isDisposed = false;

  constructor(options: ServedSessionsOptions) {
    const { devices, limits, store, memory, clock } = options;
    this.#options = options;
    this.#devices = new ServedDevices(devices);
    this.#heldRuns = new HeldRuns(limits, clock);
    this.#handles = new CountedHandles(() => this.#checkHandles());
    this.#host = new SessionHost({
      devices: this.#devices,
      clock,
      limits: programLimits(limits),
      handles: this.#handles,
      loadProgram: async ({ source }) => {
        if (source.kind !== 'stored') throw malformed('a program that was not sent');
        return programOf(storedIn(store, source.hash));
      },
      createMachine: async (executable, { main, host }, machine) => {
        const created: VirtualMachine = await VirtualMachine.create(executable, {
          ...machine,
          devices: host === main ? [main.device] : [main.device, host.device],
          functions: { ...options.functions(() => created), ...machine.functions },
          createAllocator: (on) => memory.allocator(on, machine.byteBudget),
          log: () => undefined,
        });
        return created;
      },
    });
    this.#calls = this.#service();
  }

  get size(): number {
    return this.#open.size + this.#loading;
  }

  /** Calls a method by its name. Rejects with ProtocolError for what no page sends. */
  async call([name, ...args]: readonly unknown[], context: CallContext): Promise<unknown> {
    // It may have been cancelled while this code was loaded: nobody would be told any more.
    context.signal.throwIfAborted();
    const known = text(name, 'name');
    if (!Object.hasOwn(this.#calls, known)) throw malformed('a call that no session has');
    return this.#calls[known as SessionCall](args, context);
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const session of this.#open.keys()) void this.#dispose(session);
  }

  /** Arguments are taken before anything is awaited, as the host does. */
  #service(): Calls {
    const host = this.#host;
    return {
      load: (args, context) => this.#load(args, context),
      run: this.#running(
        (...args) => host.run(...args),
        (results) => results,
      ),
      profile: this.#running(
        (...args) => host.profile(...args),
        ({ results }) => results,
      ),
      warmup: async ([session, sent], context) => {
        const [id, dims] = [count(session, 'session'), sizes(sent, 'sizes')];
        const { runTimeout } = this.#opened(id);
        const { clock } = this.#options;
        const run = (signal: AbortSignal) =>
          this.#ask({ ...context, signal }, (call) => host.warmup(call, id, dims));
        return withinRunTime(run, context.signal, { runTimeout, clock });
      },
      read: this.#asking([count, count], (...args) => host.read(...args)),
      memory: this.#asking([count], (...args) => host.memory(...args)),
      control: (args, context) => this.#control(args, context),
      constants: async ([session, sent]) => {
        const { machine, device } = host.session(count(session, 'session'));
        const { values } = machine.internals().constants;
        const tensors = indices(sent, 'indices').map((index) => {
          const value = values[index];
          if (value instanceof TensorValue) return value;
          throw malformed('a constant that is no tensor');
        });
        return device.share(() => machine.read(tensors));
      },
      watch: async ([session, sent]) => this.#watch(count(session, 'session'), sent),
      release: async ([session, handle]) => {
        await host.release(count(session, 'session'), count(handle, 'handle'));
        return null;
      },
      dispose: async ([session]) => this.#dispose(count(session, 'session')),
    };
  }

  async #load([sent, page]: readonly unknown[], context: CallContext): Promise<LoadedSession> {
    const request = loadRequest(sent, 'request');
    const given = pageOf(page);
    const { limits, modules, store, onEvent } = this.#options;
    if (this.size + modules() >= limits.modules) throw tooManyModules(limits.modules);
    this.#checkHandles();
    const { hash } = request.source;
    storedIn(store, hash);
    onEvent?.({ kind: 'load', hash, device: this.#devices.find(request.device).info.name });
    const load = (call: CallId) => this.#host.load(call, request, undefined, given);
    this.#loading++;
    const loaded = await this.#ask(context, load).finally(() => this.#loading--);
    const { runTimeout } = withinCeilings(request, limits);
    this.#open.set(loaded.session, { runTimeout, held: new Set(), debugged: new Map() });
    // Nobody would end it.
    context.ifUnsent?.(() => void this.#dispose(loaded.session));
    if (this.#isDisposed) void this.#dispose(loaded.session);
    return loaded;
  }

  async #control([session, sent]: readonly unknown[], context: CallContext): Promise<ControlReply> {
    const id = count(session, 'session');
    const request = controlRequest(sent, 'request');
    if (request.kind === 'tool' && request.tool === 'debug')
      return this.#debug(id, request, context);
    const reply = await this.#ask(context, (call) => this.#host.control(call, id, request));
    this.#given(id, reply.results, context);
    return reply;
  }

  /** A debugging run, which is answered when it is over, or an order for one. */
  async #debug(
    id: SessionId,
    request: Extract<ControlRequest, { kind: 'tool' }>,
    { signal }: CallContext,
  ): Promise<ControlReply> {
    const debug = request.request as DebugRequest;
    const { run } = debug;
    const { debugged } = this.#opened(id);
    const hosted = this.#host.session(id);
    if (debug.order !== undefined) {
      const order = (): Promise<ControlReply> => hosted.control(request, { signal });
      const known = debugged.get(run);
      if (known !== undefined) return known.held.order(() => known.started.promise.then(order));
      // It would wait for a run that never comes.
      if (debug.order.do === 'start') throw malformed('the start of a run that was not begun');
      return order();
    }
    if (debugged.has(run)) throw malformed('a debugging run of a number that is in use');
    const held = this.#begin(id);
    const started = new Deferred();
    debugged.set(run, { held, started });
    signal.addEventListener('abort', () => held.end(abortError(signal)), { once: true });
    // Orders that wait come behind what begins the run at once.
    const options = { checkpointBytes: CHECKPOINT_BYTES, onHeld: () => started.resolve() };
    const running = hosted.control(request, { signal: held.signal, ...options });
    try {
      return await this.#last(id, held, this.#watched(debug, running));
    } finally {
      debugged.delete(run);
    }
  }

  /** A run that stands after each kernel: the function that takes orders for it, whose release ends it. */
  #watch(id: SessionId, sent: unknown): RpcFunction {
    const request = watchRequest(sent, 'request');
    const held = this.#begin(id);
    const hosted = this.#host.session(id);
    const run = new ServedWatch(hosted, { ...request, held });
    const running = withArguments({ session: hosted }, request, (inputs) => run.run(inputs));
    this.#last(id, held, this.#watched(request, running)).catch(() => undefined);
    return run.callee;
  }

  #begin(id: SessionId): HeldRun {
    const { held, runTimeout } = this.#opened(id);
    const run = this.#heldRuns.begin(runTimeout);
    held.add(run);
    return run;
  }

  #last<T>(id: SessionId, held: HeldRun, running: Promise<T>): Promise<T> {
    return held.last(running).finally(() => this.#open.get(id)?.held.delete(held));
  }

  #opened(id: SessionId): OpenSession {
    const opened = this.#open.get(id);
    if (opened === undefined) throw new UsageError('The session was disposed.');
    return opened;
  }

  async #dispose(session: SessionId): Promise<boolean> {
    const open = this.#open.get(session);
    this.#open.delete(session);
    for (const held of open?.held ?? []) held.end(runOver());
    const reply = await this.#host.dispose(this.#nextCall++, session);
    return reply.ok && reply.value;
  }

  /** Runs a function, and tells who serves. */
  #running<T>(
    run: (call: CallId, request: RunRequest, page: CallPage | undefined) => Promise<Reply<T>>,
    resultsOf: (value: T) => readonly WireResult[],
  ): Calls[SessionCall] {
    return async ([sent, page], context) => {
      const request = runRequest(sent, 'request');
      const given = pageOf(page);
      const reply = this.#ask(context, (call) => run(call, request, given));
      const value = await this.#watched(request, reply);
      this.#given(request.session, resultsOf(value), context);
      return value;
    };
  }

  /** Checks arguments, and passes them to the host. */
  #asking<Args extends readonly unknown[], T>(
    checks: { readonly [Index in keyof Args]: Check<Args[Index]> },
    send: (call: CallId, ...args: Args) => Promise<Reply<T>>,
  ): Calls[SessionCall] {
    return async (sent, context) => {
      const args = checks.map((check, i) => check(sent[i], `argument ${i}`)) as unknown as Args;
      return this.#ask(context, (call) => send(call, ...args));
    };
  }

  /** A call of the host, which ends with that of the connection. Rejects with the error of the session. */
  async #ask<T>({ signal }: CallContext, send: (call: CallId) => Promise<Reply<T>>): Promise<T> {
    const call = this.#nextCall++;
    signal.addEventListener('abort', () => void this.#host.cancel(call), { once: true });
    const reply = await send(call);
    if (reply.ok) return reply.value;
    throw errorFromData(reply.error);
  }

  /** Handles among results go again where these cannot be sent. */
  #given(session: SessionId, results: readonly WireResult[], { ifUnsent }: CallContext): void {
    ifUnsent?.(() => {
      const drop = foldParts(WIRE_SIDE.partsOf, (value) => {
        if ('handle' in value) void this.#host.release(session, value.handle);
      });
      for (const { value } of results) drop(value);
    });
  }

  async #watched<T>(
    { functionName: name }: { functionName: string },
    work: Promise<T>,
  ): Promise<T> {
    const { onEvent } = this.#options;
    onEvent?.({ kind: 'call', function: name });
    try {
      return await work;
    } finally {
      onEvent?.({ kind: 'done', function: name });
    }
  }

  /** Sessions are held for the other side as well as what they keep. */
  #checkHandles(): void {
    const { handles } = this.#options.limits;
    if (this.#handles.size + this.size >= handles) throw tooManyHandles(handles);
  }
}

/** Handles of which there are so many as `check` allows. */
class CountedHandles extends HandleTable {
  readonly #check: () => void;
  readonly #taken = new Set<HandleId>();

  constructor(check: () => void) {
    super();
    this.#check = check;
  }

  get size(): number {
    return this.#taken.size;
  }

  override take(): HandleId {
    this.#check();
    const handle = super.take();
    this.#taken.add(handle);
    return handle;
  }

  override drop(handle: HandleId): void {
    this.#taken.delete(handle);
    super.drop(handle);
  }
}

const pageOf = (page: unknown) => optional(callPage)(page, 'page');

function programOf(executable: Executable): LoadedProgram {
  async function* blocks() {
    yield* executable.blocks();
  }
  return { executable, blocks: blocks() };
}

/** The limits of programs among those of a connection, as the host takes them. */
function programLimits(limits: RpcLimits): RequestLimits {
  const numbers = Object.fromEntries(PROGRAM_NUMBERS.map((name) => [name, limits[name]]));
  return { programKernels: limits.programKernels, ...numbers };
}
