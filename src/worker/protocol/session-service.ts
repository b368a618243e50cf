import type { NodeTypes } from '../../core/contracts/node-function.ts';
import type { Importers } from '../../frontend/onnx/importers.ts';
import type { Operators } from '../../ops/operators.ts';
import type { ControlReply, ControlRequest } from './control-request.ts';
import type { Dims } from './dispatch-sizes.ts';
import type { LoadProgress, LoadRequest } from './load-request.ts';
import type { LoadedSession } from './loaded-session.ts';
import type { CallId, HandleId, Reply, SessionId } from './reply.ts';
import type { RunRequest, WireProfile } from './run-request.ts';
import type { SessionMemory } from './session-memory.ts';
import type { CallPage, WireResult, WireTensor } from './wire-value.ts';

/**
 * The messages of a page to whoever runs its sessions, its worker or a remote device: plain, structured-cloneable
 * data. Every call carries a number that the page chose, so that it can be cancelled while it is under way.
 */
export interface SessionService {
  /** The first call of a page. It is answered once the worker holds the lock. */
  handshake(greeting: Greeting): Promise<WorkerInfo>;
  /** Holds for the sessions that are loaded from now on. */
  configure(config: WorkerConfig): Promise<void>;
  load(
    call: CallId,
    request: LoadRequest,
    onProgress: ((progress: LoadProgress) => void) | undefined,
    callPage?: CallPage,
  ): Promise<Reply<LoadedSession>>;
  run(call: CallId, request: RunRequest, callPage?: CallPage): Promise<Reply<WireResult[]>>;
  profile(call: CallId, request: RunRequest, callPage?: CallPage): Promise<Reply<WireProfile>>;
  warmup(call: CallId, session: SessionId, dims: Dims): Promise<Reply<null>>;
  read(call: CallId, session: SessionId, handle: HandleId): Promise<Reply<WireTensor>>;
  memory(call: CallId, session: SessionId): Promise<Reply<SessionMemory>>;
  /** Pauses a session, lets it go on, stores it, or puts a snapshot into it. */
  control(call: CallId, session: SessionId, request: ControlRequest): Promise<Reply<ControlReply>>;
  release(session: SessionId, handle: HandleId): Promise<void>;
  /**
   * Resolves to whether a device of the worker still has work. Then terminating the worker would make
   * the browser's GPU process wait for that, maybe for ever.
   */
  dispose(call: CallId, session: SessionId): Promise<Reply<boolean>>;
  /** Stops a call that is under way; it then rejects with an AbortError. */
  cancel(call: CallId): Promise<void>;
}

/** What a page's own worker does beside. */
export interface WorkerService extends SessionService {
  /** Calls a method of the worker's reader of tokenizers and templates. */
  readText(method: string, ...args: readonly unknown[]): Promise<Reply<unknown>>;
}

export interface Greeting {
  /** Addresses of the other files of the package's worker. */
  readonly files: WorkerFiles | undefined;
  /**
   * The worker holds it for as long as it lives. The page queues for the same lock: it is granted when
   * the worker is gone, however it went. Undefined where there are no locks.
   */
  readonly lock: string | undefined;
}

export interface WorkerInfo {
  readonly version: string;
}

/** Name of a worker by which its script knows that it is to compile. */
export const COMPILER_NAME = 'weft-compiler';

/** Addresses of the worker's files by name; `main` is the one that a worker starts with. */
export type WorkerFiles = Readonly<Record<string, string>>;

/** How the sessions of a worker share its devices. */
export interface WorkerConfig {
  /** The most bytes that all of them hold on a device. */
  readonly memoryBudget?: number | undefined;
}

/** Operators and importers of one's own, as options have them. */
export interface OwnTables {
  readonly operators?: Operators | undefined;
  readonly importers?: Importers | undefined;
  readonly functions?: NodeTypes | undefined;
}

/** A server of devices, as its clients see it: what `connect` of `weft-vm/rpc` gives. */
export interface SessionProvider {
  /** The other side's name for itself. */
  readonly name: string;
  /** Resolves with the reason when the connection is over. */
  readonly closed: Promise<Error>;
  /** @internal What sessions on these devices talk to. */
  openService(tables?: OwnTables): Promise<SessionService>;
}
