import type { ExecutableData } from '../../bytecode/executable.ts';
import { CLOCK, type Clock, sleep } from '../../core/async/clock.ts';
import { errorToData, UsageError } from '../../core/errors.ts';
import { VERSION } from '../../core/version.ts';
import type { LaunchOwner } from '../../device/device.ts';
import type { HostFunctions } from '../../runtime/link/host-function.ts';
import type { HostStates } from '../../runtime/snapshot/take-snapshot.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { sparesOf } from './buffers-in.ts';
import type { AskType } from '../compile/compile-protocol.ts';
import { describePlace } from './describe-place.ts';
import { HandleTable } from './held-values.ts';
import type { CalledPage } from './page-functions.ts';
import { HostedSession } from './hosted-session.ts';
import { loadProgram } from '../sources/load-program.ts';
import { LoadRecord } from './load-record.ts';
import type { CompileTables, LoadContext } from './loaded-program.ts';
import { checkCeilings, machineOptions, withinCeilings } from './within-ceilings.ts';
import type { MachineLimits, ProgramLimits } from '../../core/limits/program-limits.ts';
import type { ControlReply, ControlRequest } from '../protocol/control-request.ts';
import type { Dims } from '../protocol/dispatch-sizes.ts';
import type { LoadProgress, LoadRequest } from '../protocol/load-request.ts';
import type { LoadedSession } from '../protocol/loaded-session.ts';
import type { CallId, HandleId, Reply, SessionId } from '../protocol/reply.ts';
import type { RunRequest, WireProfile } from '../protocol/run-request.ts';
import type { SessionMemory } from '../protocol/session-memory.ts';
import type {
  Greeting,
  SessionService,
  WorkerConfig,
  WorkerFiles,
  WorkerInfo,
} from '../protocol/session-service.ts';
import type { CallPage, WireResult, WireTensor } from '../protocol/wire-value.ts';
import type { DecidedDevices, DeviceSource } from '../devices/opened-devices.ts';
import type { SessionDevices } from './shared-use.ts';
import type { SessionSharing } from '../sharing/session-sharing.ts';
import type { CreateMachine, SharedSession } from '../sharing/shared-session.ts';

declare global {
  /** Read by the loader of the package's worker (scripts/worker-files/loader.js). */
  var weftFiles: WorkerFiles | undefined;
}

interface SessionHostOptions {
  readonly devices: DeviceSource;
  /** Packed functions that programs may call, by name. */
  readonly functions?: HostFunctions | undefined;
  /** States of these functions, stored with snapshots under these names. */
  readonly states?: HostStates | undefined;
  /** Limits of every program, whatever its session asks for. */
  readonly limits?: (ProgramLimits & MachineLimits) | undefined;
  /** Default: models are compiled with the operators and importers that Weft has. */
  readonly tables?: CompileTables | undefined;
  readonly clock?: Clock | undefined;
  /** Default: programs are read from where the request says, and models compiled. */
  readonly loadProgram?: typeof loadProgram | undefined;
  /** Default: machines with the `functions`. */
  readonly createMachine?: CreateMachine | undefined;
  /** Handles of what sessions keep. Default: as many as like. */
  readonly handles?: HandleTable | undefined;
}

/** How long a disposal waits for calls that were aborted, and then for the device to be done. */
const LONGEST_WAIT_MS = 250;
const WAIT_STEP_MS = 20;

interface AnswerContext<T> {
  /** The session that is called, where there is one. */
  readonly session?: SessionId;
  /** See {@link Reply}. */
  readonly spares?: (value: T) => readonly ArrayBuffer[];
}

interface ActiveCall {
  readonly controller: AbortController;
  readonly session: SessionId | undefined;
  readonly done: Promise<unknown>;
}

/** The sessions of one worker (or page): joins programs, machines and devices. */
export class SessionHost implements SessionService {
  readonly #devices: DeviceSource;
  readonly #loadProgram: typeof loadProgram;
  readonly #create: CreateMachine;
  readonly #states: HostStates | undefined;
  readonly #ceilings: ProgramLimits & MachineLimits;
  readonly #tables: CompileTables | undefined;
  readonly #clock: Clock;
  readonly #sessions = new Map<SessionId, HostedSession>();
  readonly #handles: HandleTable;
  readonly #calls = new Map<CallId, ActiveCall>();
  #nextSession = 1;
  /** Loaded when a session is to share its device. */
  #sharing: Promise<SessionSharing> | undefined;

  constructor(options: SessionHostOptions) {
    const { functions = {}, states, limits = {}, clock = CLOCK } = options;
    checkCeilings(limits);
    this.#ceilings = limits;
    this.#tables = options.tables;
    this.#clock = clock;
    this.#devices = options.devices;
    this.#loadProgram = options.loadProgram ?? loadProgram;
    this.#create = options.createMachine ?? machinesWith(functions);
    this.#handles = options.handles ?? new HandleTable();
    this.#states = states;
  }

  async handshake({ files, lock }: Greeting): Promise<WorkerInfo> {
    globalThis.weftFiles = files;
    if (lock !== undefined) await holdLock(lock);
    return { version: VERSION };
  }

  async configure(config: WorkerConfig): Promise<void> {
    (await this.#openSharing()).configure(config);
  }

  load(
    call: CallId,
    request: LoadRequest,
    onProgress: ((progress: LoadProgress) => void) | undefined,
    callPage?: CallPage,
  ): Promise<Reply<LoadedSession>> {
    return this.#answer(call, {}, (signal) =>
      this.#load(request, { signal, onProgress: onProgress ?? (() => undefined) }, callPage),
    );
  }

  run(call: CallId, request: RunRequest, callPage?: CallPage): Promise<Reply<WireResult[]>> {
    const { session } = request;
    const spares = (value: readonly WireResult[]) => sparesOf(request, value);
    return this.#answer(call, { session, spares }, (signal) =>
      this.session(session).run(request, signal, callPage),
    );
  }

  profile(call: CallId, request: RunRequest, callPage?: CallPage): Promise<Reply<WireProfile>> {
    return this.#answer(call, request, (signal) =>
      this.session(request.session).profile(request, signal, callPage),
    );
  }

  warmup(call: CallId, session: SessionId, dims: Dims): Promise<Reply<null>> {
    return this.#answer(call, { session }, async (signal) => {
      await this.session(session).warmup(dims, signal);
      return null;
    });
  }

  read(call: CallId, session: SessionId, handle: HandleId): Promise<Reply<WireTensor>> {
    return this.#answer(call, { session }, () => this.session(session).read(handle));
  }

  memory(call: CallId, session: SessionId): Promise<Reply<SessionMemory>> {
    return this.#answer(call, { session }, async () => this.session(session).memory());
  }

  control(call: CallId, session: SessionId, request: ControlRequest): Promise<Reply<ControlReply>> {
    return this.#answer(call, { session }, (signal) =>
      this.session(session).control(request, { signal, states: this.#states }),
    );
  }

  async release(session: SessionId, handle: HandleId): Promise<void> {
    this.#sessions.get(session)?.release(handle);
  }

  dispose(call: CallId, session: SessionId): Promise<Reply<boolean>> {
    return this.#answer(call, {}, async () => {
      const hosted = this.#sessions.get(session);
      if (hosted !== undefined) {
        this.#sessions.delete(session);
        await this.#stopCalls(session);
        await hosted.dispose();
      }
      return this.#isBusy();
    });
  }

  /** Aborts the calls of a session. Those that do not end, on a device that is stuck, are left alone. */
  async #stopCalls(session: SessionId): Promise<void> {
    const own = [...this.#calls.values()].filter((active) => active.session === session);
    for (const { controller } of own) controller.abort();
    const over = Promise.allSettled(own.map(({ done }) => done));
    await Promise.race([over, sleep(this.#clock, LONGEST_WAIT_MS)]);
  }

  /** Resolves to true if a device still has work after {@link LONGEST_WAIT_MS}. */
  async #isBusy(): Promise<boolean> {
    const begin = this.#clock.now();
    while (this.#devices.isBusy()) {
      if (this.#clock.now() - begin > LONGEST_WAIT_MS) return true;
      await sleep(this.#clock, WAIT_STEP_MS);
    }
    return false;
  }

  async cancel(call: CallId): Promise<void> {
    this.#calls.get(call)?.controller.abort();
  }

  async #answer<T>(
    call: CallId,
    { session, spares }: AnswerContext<T>,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<Reply<T>> {
    const controller = new AbortController();
    const done = (async () => work(controller.signal))();
    const active = { controller, session, done };
    this.#calls.set(call, active);
    try {
      const value = await done;
      return { ok: true, value, ...(spares && { spares: spares(value) }) };
    } catch (error) {
      return { ok: false, error: errorToData(error) };
    } finally {
      if (this.#calls.get(call) === active) this.#calls.delete(call);
    }
  }

  /** Throws UsageError for a session that is not there, or no more. */
  session(id: SessionId): HostedSession {
    const session = this.#sessions.get(id);
    if (session === undefined) throw new UsageError('The session was disposed.');
    return session;
  }

  /** The devices open while the first bytes arrive; whichever fails first stops the other. */
  async #load(
    requested: LoadRequest,
    { signal, onProgress }: LoadContext,
    callPage: CallPage | undefined,
  ): Promise<LoadedSession> {
    let request: LoadRequest = { ...requested, ...withinCeilings(requested, this.#ceilings) };
    const owner: LaunchOwner = { deviceTimeout: request.deviceTimeout, faults: 0 };
    const ended = new AbortController();
    // Not `AbortSignal.any`: Node keeps such a signal, and all that listens to it, until it is aborted.
    signal.addEventListener('abort', () => ended.abort(signal.reason), { once: true });
    const askType = callPage && pageTypes(callPage);
    const record = new LoadRecord();
    const observer = record.observe('program', onProgress);
    const context = { signal: ended.signal, onProgress: observer, tables: this.#tables, askType };
    const opening = this.#devices.open(request.device, request);
    let shared: SharedSession | undefined;
    let decided: DecidedDevices | undefined;
    try {
      // The parts of a model are placed by what these devices do.
      const both = request.devices && (await import('../auto/rates-of-both.ts'));
      if (both) request = { ...request, rates: await both.ratesOfBoth((await opening).main) };
      const [opened, read] = await Promise.all([opening, this.#loadProgram(request, context)]);
      const page = callPage && { callPage, session: undefined as HostedSession | undefined };
      const createMachine = page
        ? await this.#creatorWith(page, request, read.executable)
        : this.#createMachine;
      const operators = this.#tables?.operators;
      const load = { request, program: read, createMachine, operators };
      decided = (await opened.decide?.(opened, load)) ?? opened;
      decided = await this.#devices.fit(decided, request, read.executable);
      const devices = decided;
      const { main, host, program = read } = devices;
      const observer = devices.observer ?? (await both?.firstRuns(main));
      if (request.pin === true || request.priority !== undefined) void this.#openSharing();
      shared = await (await this.#sharing)?.share(
        { request, program, owner, createMachine },
        { main, host },
      );
      const { executable } = program;
      const placeOf = await describePlace(executable, { main, host }, devices);
      const machine = await createMachine(executable, devices, {
        ...machineOptions(request, owner),
        signal: context.signal,
        onProgress: record.observe('machine', onProgress, performance.now()),
        dataBlocks: program.blocks,
        dataHashes: program.dataHashes,
        ...(await shared?.begin(context.signal)),
      });
      record.endMs = performance.now();
      const hosted = new HostedSession(machine, {
        devices: { main, host },
        shared,
        runTimeout: request.runTimeout,
        clock: this.#clock,
        loaded: record,
        observer,
        table: this.#handles,
        // Tasks send pictures before their first run, without what looks inside a session and stores it.
        loadTools: async (kind) =>
          ['prepare', 'sample', 'hold', 'pixels', 'drop'].includes(kind)
            ? (await import('../pictures/answer-pictures.ts')).SessionPictures
            : (await import('../tools/session-tools.ts')).SessionTools,
      });
      if (page) page.session = hosted;
      shared?.loaded(hosted);
      const session = this.#nextSession++;
      this.#sessions.set(session, hosted);
      return { session, functions: hosted.functions, ...placeOf(machine) };
    } catch (error) {
      ended.abort();
      void shared?.dispose();
      await opening.then(
        (opened) => releaseDevices(decided ?? opened),
        () => undefined,
      );
      throw error;
    }
  }

  #openSharing(): Promise<SessionSharing> {
    this.#sharing ??= import('../sharing/session-sharing.ts').then(
      (sharing) =>
        new sharing.SessionSharing({
          openDevices: async (kind, options, executable) => {
            const opened = await this.#devices.open(kind, options);
            try {
              return await this.#devices.fit(opened, options, executable);
            } catch (error) {
              releaseDevices(opened);
              throw error;
            }
          },
          createMachine: (...args) => this.#createMachine(...args),
        }),
    );
    return this.#sharing;
  }

  #createMachine: CreateMachine = (executable, devices, options) =>
    devices.main.guard(this.#create(executable, devices, options));

  /** Makes machines whose programs call functions of a page too. */
  async #creatorWith(
    page: CalledPage,
    request: LoadRequest,
    { types }: ExecutableData,
  ): Promise<CreateMachine> {
    const { pageFunctions } = await import('./page-functions.ts');
    const functions = pageFunctions(request, page, types);
    return (executable, devices, options) =>
      this.#createMachine(executable, devices, { ...options, functions });
  }
}

/** Makes machines whose programs may call these functions. */
function machinesWith(functions: HostFunctions): CreateMachine {
  return (executable, { main, host }, options) =>
    VirtualMachine.create(executable, {
      ...options,
      devices: [main.device, host.device],
      functions: { ...functions, ...options.functions },
    });
}

/** The code for it comes with the first question. */
function pageTypes(callPage: CallPage): AskType {
  return async (node) => (await import('../compile/wire-nodes.ts')).askPage(callPage, node);
}

function releaseDevices({ main, host }: SessionDevices): void {
  main.release();
  host.release();
}

/** Holds a lock for as long as this thread lives. */
async function holdLock(name: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const forever = (): Promise<never> => {
      resolve();
      return new Promise(() => undefined);
    };
    // Never settles: the lock goes back when the worker ends.
    void navigator.locks.request(name, forever);
  });
}
