import { DeviceError, errorToData, UsageError } from '../core/errors.ts';
import type { Device } from '../device/device.ts';
import type { HostFunction, HostStates } from '../runtime/index.ts';
import { VirtualMachine } from '../runtime/virtual-machine.ts';
import { type CreateDevice, DevicePool } from './device-pool.ts';
import { HostedSession } from './hosted-session.ts';
import { type LoadContext, loadProgram } from './load-program.ts';
import type {
  CallId,
  ControlReply,
  ControlRequest,
  DeviceKind,
  Dims,
  HandleId,
  LoadedSession,
  LoadProgress,
  LoadRequest,
  Reply,
  RunRequest,
  SessionDevice,
  SessionId,
  SessionMemory,
  SessionService,
  WireProfile,
  WireResult,
  WireTensor,
  WorkerConfig,
} from './protocol.ts';
import type { SessionDevices } from './shared-use.ts';
import type { SessionSharing } from './sharing/session-sharing.ts';
import type { CreateMachine, SharedSession } from './sharing/shared-session.ts';

export interface SessionHostOptions {
  readonly createDevice: CreateDevice;
  /** Packed functions that programs may call, by name. */
  readonly functions?: Readonly<Record<string, HostFunction>> | undefined;
  /** What these functions keep, stored with snapshots under these names. */
  readonly states?: HostStates | undefined;
}

interface ActiveCall {
  readonly controller: AbortController;
  readonly session: SessionId | undefined;
  readonly done: Promise<unknown>;
}

/** The sessions of one worker (or page): joins programs, machines and devices. */
export class SessionHost implements SessionService {
  readonly #pool: DevicePool;
  readonly #functions: Readonly<Record<string, HostFunction>>;
  readonly #states: HostStates | undefined;
  readonly #sessions = new Map<SessionId, HostedSession>();
  readonly #calls = new Map<CallId, ActiveCall>();
  #nextSession = 1;
  /** Loaded when a session is to share its device. */
  #sharing: Promise<SessionSharing> | undefined;

  constructor({ createDevice, functions = {}, states }: SessionHostOptions) {
    this.#pool = new DevicePool(createDevice);
    this.#functions = functions;
    this.#states = states;
  }

  async holdLock(name: string): Promise<void> {
    await new Promise<void>((resolve) => {
      const forever = (): Promise<never> => {
        resolve();
        return new Promise(() => undefined);
      };
      // Never settles: the lock goes back when the worker ends.
      void navigator.locks.request(name, forever);
    });
  }

  async configure(config: WorkerConfig): Promise<void> {
    (await this.#openSharing()).configure(config);
  }

  load(
    call: CallId,
    request: LoadRequest,
    onProgress: ((progress: LoadProgress) => void) | undefined,
  ): Promise<Reply<LoadedSession>> {
    return this.#answer(call, undefined, (signal) =>
      this.#load(request, { signal, onProgress: onProgress ?? (() => undefined) }),
    );
  }

  run(call: CallId, request: RunRequest): Promise<Reply<WireResult[]>> {
    return this.#answer(call, request.session, (signal) =>
      this.#session(request.session).run(request, signal),
    );
  }

  profile(call: CallId, request: RunRequest): Promise<Reply<WireProfile>> {
    return this.#answer(call, request.session, (signal) =>
      this.#session(request.session).profile(request, signal),
    );
  }

  warmup(call: CallId, session: SessionId, dims: Dims): Promise<Reply<null>> {
    return this.#answer(call, session, async (signal) => {
      await this.#session(session).warmup(dims, signal);
      return null;
    });
  }

  read(call: CallId, session: SessionId, handle: HandleId): Promise<Reply<WireTensor>> {
    return this.#answer(call, session, () => this.#session(session).read(handle));
  }

  memory(call: CallId, session: SessionId): Promise<Reply<SessionMemory>> {
    return this.#answer(call, session, async () => this.#session(session).memory());
  }

  listing(call: CallId, session: SessionId): Promise<Reply<string>> {
    return this.#answer(call, session, async () => {
      const { executable } = this.#session(session);
      const { printExecutable } = await import('../bytecode/print.ts');
      return printExecutable(executable);
    });
  }

  control(call: CallId, session: SessionId, request: ControlRequest): Promise<Reply<ControlReply>> {
    return this.#answer(call, session, (signal) => {
      const hosted = this.#session(session);
      const loading = import('./control-session.ts');
      const done = hosted.withArguments(request, async (args) => {
        const { controlSession } = await loading;
        return controlSession(hosted, request, { args, signal, states: this.#states });
      });
      // Runs that come later do not overtake it.
      hosted.ready = loading;
      return done;
    });
  }

  async release(session: SessionId, handle: HandleId): Promise<void> {
    this.#sessions.get(session)?.release(handle);
  }

  dispose(call: CallId, session: SessionId): Promise<Reply<null>> {
    return this.#answer(call, undefined, async () => {
      const hosted = this.#sessions.get(session);
      if (hosted === undefined) return null;
      this.#sessions.delete(session);
      const own = [...this.#calls.values()].filter((active) => active.session === session);
      for (const { controller } of own) controller.abort();
      await Promise.allSettled(own.map(({ done }) => done));
      await hosted.dispose();
      return null;
    });
  }

  async cancel(call: CallId): Promise<void> {
    this.#calls.get(call)?.controller.abort();
  }

  async #answer<T>(
    call: CallId,
    session: SessionId | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<Reply<T>> {
    const controller = new AbortController();
    const done = (async () => work(controller.signal))();
    const active = { controller, session, done };
    this.#calls.set(call, active);
    try {
      return { ok: true, value: await done };
    } catch (error) {
      return { ok: false, error: errorToData(error) };
    } finally {
      if (this.#calls.get(call) === active) this.#calls.delete(call);
    }
  }

  #session(id: SessionId): HostedSession {
    const session = this.#sessions.get(id);
    if (session === undefined) throw new UsageError('The session was disposed.');
    return session;
  }

  /** The devices open while the first bytes arrive; whichever fails first stops the other. */
  async #load(request: LoadRequest, { signal, onProgress }: LoadContext): Promise<LoadedSession> {
    const failed = new AbortController();
    const context = { signal: AbortSignal.any([signal, failed.signal]), onProgress };
    const opening = this.#openDevices(request.device);
    let shared: SharedSession | undefined;
    try {
      const [devices, program] = await Promise.all([opening, loadProgram(request, context)]);
      const { main, host, fallbackReason } = devices;
      if (request.pin === true || request.priority !== undefined) void this.#openSharing();
      shared = await (await this.#sharing)?.share(request, program, { main, host });
      const { executable } = program;
      // Most programs run on one device.
      const placements =
        executable.metadata['placements'] === undefined
          ? []
          : (await import('./describe-placements.ts')).describePlacements(executable.metadata);
      const machine = await this.#createMachine(executable, devices, {
        byteBudget: request.byteBudget,
        compile: request.compile ?? 'on demand',
        signal: context.signal,
        onProgress,
        dataBlocks: program.blocks,
        dataHashes: program.dataHashes,
        ...(await shared?.begin(context.signal)),
      });
      const session = this.#nextSession++;
      const hosted = new HostedSession(executable, machine, { main, host });
      hosted.shared = shared;
      shared?.loaded(hosted);
      this.#sessions.set(session, hosted);
      const device = describeDevice(main.device, fallbackReason);
      return { session, functions: hosted.functions, device, placements };
    } catch (error) {
      failed.abort();
      void shared?.dispose();
      await opening.then(releaseDevices, () => undefined);
      throw error;
    }
  }

  #openSharing(): Promise<SessionSharing> {
    this.#sharing ??= import('./sharing/session-sharing.ts').then(
      (sharing) =>
        new sharing.SessionSharing({
          openDevices: (kind) => this.#openDevices(kind),
          createMachine: (...args) => this.#createMachine(...args),
        }),
    );
    return this.#sharing;
  }

  #createMachine: CreateMachine = (executable, { main, host }, options) =>
    main.guard(
      VirtualMachine.create(executable, {
        ...options,
        devices: [main.device, host.device],
        functions: this.#functions,
      }),
    );

  async #openDevices(wanted: DeviceKind | 'auto'): Promise<OpenedDevices> {
    const { main, fallbackReason } = await this.#openMain(wanted);
    try {
      return { main, host: await this.#pool.acquire('host'), fallbackReason };
    } catch (error) {
      main.release();
      throw error;
    }
  }

  async #openMain(wanted: DeviceKind | 'auto'): Promise<Omit<OpenedDevices, 'host'>> {
    if (wanted !== 'auto') return { main: await this.#pool.acquire(wanted) };
    try {
      return { main: await this.#pool.acquire('webgpu') };
    } catch (error) {
      if (!(error instanceof DeviceError)) throw error;
      return { main: await this.#pool.acquire('host'), fallbackReason: error.message };
    }
  }
}

interface OpenedDevices extends SessionDevices {
  readonly fallbackReason?: string | undefined;
}

function releaseDevices({ main, host }: SessionDevices): void {
  main.release();
  host.release();
}

function describeDevice({ kind, info }: Device, fallbackReason: string | undefined): SessionDevice {
  const { name, vendor, architecture, adapterClass } = info;
  return { kind, name, vendor, architecture, adapterClass, fallbackReason };
}
