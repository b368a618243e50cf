import { Executable } from '../../bytecode/file/executable-file.ts';
import type { ExecutableData } from '../../bytecode/executable.ts';
import { allocate } from '../../core/bytes/allocate.ts';
import { DeviceError, UnsupportedError, UsageError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { shortList } from '../../core/short-list.ts';
import { VERSION } from '../../core/version.ts';
import type { AskType } from '../../worker/compile/compile-protocol.ts';
import { requested } from '../../worker/host/describe-place.ts';
import { loadProgram } from '../../worker/sources/load-program.ts';
import {
  type CompileTables,
  compileTables,
  type LoadContext,
} from '../../worker/host/loaded-program.ts';
import type { ControlReply, ControlRequest } from '../../worker/protocol/control-request.ts';
import type { Dims } from '../../worker/protocol/dispatch-sizes.ts';
import type { LoadProgress, LoadRequest } from '../../worker/protocol/load-request.ts';
import type { LoadedSession } from '../../worker/protocol/loaded-session.ts';
import type { CallId, HandleId, Reply, SessionId } from '../../worker/protocol/reply.ts';
import type { RunRequest, WireProfile } from '../../worker/protocol/run-request.ts';
import type { SessionMemory } from '../../worker/protocol/session-memory.ts';
import type {
  OwnTables,
  SessionService,
  WorkerInfo,
} from '../../worker/protocol/session-service.ts';
import type {
  CallPage,
  WireResult,
  WireTensor,
  WireValue,
} from '../../worker/protocol/wire-value.ts';
import { PROGRAM_NUMBERS } from '../../worker/host/within-ceilings.ts';
import { textOf, tupleOf } from '../values/checked-values.ts';
import type { RemoteDevice } from '../device-service.ts';
import {
  type CallOptions,
  isRemoteFunction,
  type RemoteFunction,
  RemoteTensor,
} from '../values/remote-handles.ts';
import type { RpcFunction, RpcInput, RpcTuple, RpcValue } from '../values/rpc-value.ts';
import { malformed } from '../values/wire-values.ts';
import { pageCallee } from './page-calls.ts';
import { RemoteDebugRuns } from './remote-debug.ts';
import type { WatchedRemote, WatchRequest } from './remote-watch.ts';
import {
  fromRpcResults,
  type SessionCall,
  type SessionEnds,
  toRpcValues,
} from './session-messages.ts';

/** The part of a server of devices that sessions need. */
export interface SessionDoor {
  readonly devices: readonly RemoteDevice[];
  /** Sends a program unless it is there, and opens a session of it. */
  open(
    program: Uint8Array,
    options: {
      readonly device: number;
      /** Limits of the session, as JSON. */
      readonly limits: string;
      /** Names of functions of the page that the program may call, as JSON, and what calls them. */
      readonly functions: string | null;
      readonly page: RpcFunction | null;
      readonly signal: AbortSignal;
      readonly onProgress: (progress: { loaded: number; total: number }) => void;
    },
  ): Promise<RpcValue>;
}

interface OpenSession {
  readonly remote: RemoteFunction;
  readonly handles: Map<HandleId, RemoteTensor | RemoteFunction>;
  readonly executable: ExecutableData;
  readonly debugRuns: RemoteDebugRuns;
  /** Opens a session of another program with the same device and limits. */
  readonly openBeside: WatchedRemote['open'];
}

/** Sessions on served devices, for a page that talks to them as to its worker. */
export class RemoteService implements SessionService {
  readonly #door: SessionDoor;
  readonly #tables: CompileTables | undefined;
  readonly #sessions = new Map<SessionId, OpenSession>();
  readonly #calls = new Map<CallId, AbortController>();
  #nextSession = 1;
  #nextHandle = 1;

  constructor(door: SessionDoor, tables: OwnTables = {}) {
    this.#door = door;
    this.#tables = compileTables(tables, false);
  }

  async handshake(): Promise<WorkerInfo> {
    return { version: VERSION };
  }

  async configure(): Promise<void> {
    throw notRemote('the options of a worker');
  }

  load(
    call: CallId,
    request: LoadRequest,
    onProgress: ((progress: LoadProgress) => void) | undefined,
    callPage?: CallPage,
  ): Promise<Reply<LoadedSession>> {
    return this.#answer(call, (signal) => {
      const context = {
        signal,
        onProgress: onProgress ?? (() => undefined),
        tables: this.#tables,
        askType: callPage && pageTypes(callPage),
      };
      return this.#load(request, context, callPage);
    });
  }

  /** The program is read and a model compiled on this side: the other one gets a verified executable. */
  async #load(
    request: LoadRequest,
    context: LoadContext,
    callPage: CallPage | undefined,
  ): Promise<LoadedSession> {
    if (request.pin !== undefined) throw notRemote('the option pin');
    if (request.priority !== undefined) throw notRemote('the option priority');
    const device = this.#deviceIndex(request.device);
    const { signal, onProgress } = context;
    const handles: OpenSession['handles'] = new Map();
    const { executable, bytes } = await readProgram(request, context);
    const limits = limitsOf(request);
    const { functions = [], nodeTypes = {} } = request;
    const names = JSON.stringify({ functions, nodes: Object.keys(nodeTypes) });
    const opened = await this.#door.open(bytes, {
      device,
      limits,
      functions: callPage ? names : null,
      page: callPage ? pageCallee(callPage, this.#ends(handles, callPage)) : null,
      signal,
      onProgress: ({ loaded, total }) => onProgress({ phase: 'upload', loaded, total }),
    });
    const [, description] = tupleOf(opened).fields;
    const remote = sessionIn(opened);
    const session = this.#nextSession++;
    const openBeside: WatchedRemote['open'] = async (program, signal = NEVER) => {
      const [onProgress, functions, page] = [() => undefined, null, null];
      return sessionIn(
        await this.#door.open(program, { device, limits, functions, page, signal, onProgress }),
      );
    };
    const debugRuns = new RemoteDebugRuns();
    this.#sessions.set(session, { remote, handles, executable, debugRuns, openBeside });
    const place = parsed(description) as Omit<LoadedSession, 'session'>;
    const { device: wanted } = request;
    const reason = wanted === 'auto' ? 'It is the first device of the server.' : requested(wanted);
    return { session, ...place, device: { ...place.device, reason } };
  }

  run(call: CallId, request: RunRequest, callPage?: CallPage): Promise<Reply<WireResult[]>> {
    return this.#answer(call, async (signal) =>
      this.#results(request.session, await this.#run('run', request, { signal, callPage })),
    );
  }

  profile(call: CallId, request: RunRequest, callPage?: CallPage): Promise<Reply<WireProfile>> {
    return this.#answer(call, async (signal) => {
      const { session } = request;
      const profile = await this.#run('profile', request, { signal, callPage });
      const [results, measured] = tupleOf(profile).fields;
      const rest = parsed(measured) as Omit<WireProfile, 'results'>;
      return { ...rest, results: this.#results(session, results) };
    });
  }

  warmup(call: CallId, session: SessionId, dims: Dims): Promise<Reply<null>> {
    return this.#answer(call, async (signal) => {
      await this.#invoke(session, ['warmup', JSON.stringify(dims)], { signal });
      return null;
    });
  }

  read(call: CallId, session: SessionId, handle: HandleId): Promise<Reply<WireTensor>> {
    return this.#answer(call, (signal) => this.#read(session, handle, signal));
  }

  async #read(session: SessionId, handle: HandleId, signal: AbortSignal): Promise<WireTensor> {
    const kept = tensorIn(this.#opened(session).handles, handle);
    const read = await this.#invoke(session, ['read', kept], { signal });
    const [result] = this.#results(session, read);
    if (result?.value.kind === 'tensor') return result.value;
    throw malformed('a value that is not a tensor');
  }

  memory(call: CallId, session: SessionId): Promise<Reply<SessionMemory>> {
    return this.#answer(
      call,
      async (signal) =>
        parsed(await this.#invoke(session, ['memory'], { signal })) as SessionMemory,
    );
  }

  listing(call: CallId, session: SessionId): Promise<Reply<string>> {
    return this.#answer(call, async (signal) =>
      textOf(await this.#invoke(session, ['listing'], { signal })),
    );
  }

  control(call: CallId, session: SessionId, request: ControlRequest): Promise<Reply<ControlReply>> {
    return this.#answer(call, async (signal) => {
      if (LOCAL.has(request.kind)) throw notThere(request.kind);
      const { debugRuns } = this.#opened(session);
      switch (request.kind) {
        case 'trace':
        case 'verify':
        case 'ranges':
          return this.#watch(session, request, signal);
        case 'debug': {
          const sent = [
            'debug',
            request.functionName,
            this.#values(session, request.args),
          ] as const;
          await debugRuns.hold(request.run, this.#invoke(session, sent, { signal }), signal);
          return { calls: [], results: [], note: '' };
        }
        case 'debug order':
          return debugRuns.order(request, signal, (results) => this.#results(session, results));
        // Pictures are prepared on this side, where they are; only elements cross.
        case 'prepare':
        case 'hold':
        case 'pixels':
        case 'drop': {
          const { answerPictures } = await import('../../worker/pictures/answer-pictures.ts');
          const owner = { key: this.#opened(session), hosted: undefined };
          return { calls: [], results: await answerPictures(owner, request, signal), note: '' };
        }
        default:
      }
      const { args, ...rest } = request;
      const { bytes, ...plain } = rest.kind === 'restore' ? rest : { ...rest, bytes: undefined };
      const file = bytes && new HostTensor('uint8', [bytes.byteLength], bytes);
      const sent = ['control', JSON.stringify(plain), this.#values(session, args), file] as const;
      const [results, reply] = tupleOf(await this.#invoke(session, sent, { signal })).fields;
      const parts = parsed(reply) as Omit<ControlReply, 'results'>;
      return { ...parts, results: this.#results(session, results) };
    });
  }

  /** Watched from this side, where what is compared with runs too. */
  async #watch(
    session: SessionId,
    request: WatchRequest,
    signal: AbortSignal,
  ): Promise<ControlReply> {
    const { executable, remote, openBeside: open } = this.#opened(session);
    const values = this.#values(session, request.args);
    const read = (handle: HandleId): Promise<WireTensor> => this.#read(session, handle, signal);
    const { watchRemote } = await import('./remote-watch.ts');
    const watched = { executable, session: remote, open, read };
    return watchRemote(watched, request, { values, signal });
  }

  async release(session: SessionId, handle: HandleId): Promise<void> {
    const handles = this.#sessions.get(session)?.handles;
    handles?.get(handle)?.release();
    handles?.delete(handle);
  }

  /** The other side aborts what runs. */
  dispose(call: CallId, session: SessionId): Promise<Reply<boolean>> {
    return this.#answer(call, async () => {
      const opened = this.#sessions.get(session);
      this.#sessions.delete(session);
      opened?.debugRuns.end(sessionOver());
      for (const handle of opened?.handles.values() ?? []) handle.release();
      opened?.remote.release();
      return false;
    });
  }

  async cancel(call: CallId): Promise<void> {
    this.#calls.get(call)?.abort();
  }

  /** Rejects with the errors themselves: those of sessions have classes of their own. */
  async #answer<T>(call: CallId, work: (signal: AbortSignal) => Promise<T>): Promise<Reply<T>> {
    const controller = new AbortController();
    this.#calls.set(call, controller);
    try {
      return { ok: true, value: await work(controller.signal) };
    } finally {
      this.#calls.delete(call);
    }
  }

  #opened(session: SessionId): OpenSession {
    const opened = this.#sessions.get(session);
    if (opened === undefined) throw sessionOver();
    return opened;
  }

  #invoke(
    session: SessionId,
    [name, ...args]: readonly [SessionCall, ...RpcInput[]],
    options: CallOptions,
  ): Promise<RpcValue> {
    return this.#opened(session).remote.invoke([name, ...args], options);
  }

  #run(
    name: SessionCall,
    { session, functionName, args, keep = 'host', donate, callee }: RunRequest,
    { signal, callPage }: { signal: AbortSignal; callPage: CallPage | undefined },
  ): Promise<RpcValue> {
    const values = this.#values(session, args, callPage);
    const isNamed = typeof keep !== 'string';
    const names = JSON.stringify({ donate, ...(isNamed && { keep }) });
    const options = { signal, keep: isNamed ? 'host' : keep } as const;
    const called = callee && functionIn(this.#opened(session).handles, callee);
    const sent = called === undefined ? [] : [called];
    return this.#invoke(session, [name, functionName, values, names, ...sent], options);
  }

  #values(session: SessionId, args: readonly WireValue[], callPage?: CallPage): RpcTuple {
    return toRpcValues(args, this.#ends(this.#opened(session).handles, callPage));
  }

  #results(session: SessionId, results: RpcValue | undefined): WireResult[] {
    return fromRpcResults(results, this.#ends(this.#opened(session).handles));
  }

  /** `callPage` calls functions of the page that values name. */
  #ends(handles: OpenSession['handles'], callPage?: CallPage): SessionEnds {
    const ends: SessionEnds = {
      toHandle: ({ handle }) => tensorIn(handles, handle),
      fromHandle: (tensor) => {
        if (!(tensor instanceof RemoteTensor)) throw malformed('a tensor that is not a result');
        const { dtype, shape } = tensor;
        return { kind: 'handle', handle: this.#hold(handles, tensor), dtype, shape };
      },
      toFunction: ({ handle }) => functionIn(handles, handle),
      toPage: ({ name, call = callPage }) => {
        if (call === undefined) throw new UsageError(`The page gave no function ${name}.`);
        return pageCallee(call, ends, name);
      },
      fromFunction: (callee) => {
        if (!isRemoteFunction(callee)) throw malformed("a function that is not the program's");
        return { kind: 'closure', handle: this.#hold(handles, callee) };
      },
    };
    return ends;
  }

  #hold(handles: OpenSession['handles'], held: RemoteTensor | RemoteFunction): HandleId {
    const handle = this.#nextHandle++;
    handles.set(handle, held);
    return handle;
  }

  #deviceIndex(wanted: LoadRequest['device']): number {
    const { devices } = this.#door;
    const index = wanted === 'auto' ? 0 : devices.findIndex(({ kind }) => kind === wanted);
    if (devices[index] !== undefined) return index;
    throw new DeviceError({
      where: `device '${wanted}'`,
      got: `a server of ${shortList(devices.map(({ name }) => name)) || 'no devices'}`,
      expected: 'one that serves such a device',
    });
  }
}

/** A signal that is not aborted. */
const NEVER = new AbortController().signal;

function sessionOver(): UsageError {
  return new UsageError('The session was disposed.');
}

/** The function that stands for a session that was opened. */
function sessionIn(opened: RpcValue): RemoteFunction {
  const [remote] = tupleOf(opened).fields;
  if (isRemoteFunction(remote)) return remote;
  throw malformed('a value that is not a session');
}

function tensorIn(handles: OpenSession['handles'], handle: HandleId): RemoteTensor {
  const kept = handles.get(handle);
  if (kept instanceof RemoteTensor) return kept;
  throw disposed('DeviceTensor');
}

function functionIn(handles: OpenSession['handles'], handle: HandleId): RemoteFunction {
  const kept = handles.get(handle);
  if (isRemoteFunction(kept)) return kept;
  throw disposed('function of a program');
}

function disposed(where: string): UsageError {
  return new UsageError({ where, got: 'a handle that was disposed of', expected: 'a live one' });
}

function pageTypes(callPage: CallPage): AskType {
  return async (node) =>
    (await import('../../worker/compile/wire-nodes.ts')).askPage(callPage, node);
}

async function readProgram(
  request: LoadRequest,
  context: LoadContext,
): Promise<{ readonly executable: ExecutableData; readonly bytes: Uint8Array }> {
  const { executable, blocks } = await loadProgram(request, context);
  const { dataByteLength } = executable;
  const data = allocate(dataByteLength, () => new Uint8Array(dataByteLength));
  for await (const { byteOffset, bytes } of blocks) data.set(bytes, byteOffset);
  return { executable, bytes: new Executable(executable, data).toBytes() };
}

/** The limits of a request as JSON. JSON has no infinities: those are no limits. */
function limitsOf(request: LoadRequest): string {
  const limits: Record<string, unknown> = {};
  for (const name of PROGRAM_NUMBERS) {
    if (Number.isFinite(request[name])) limits[name] = request[name];
  }
  const { programKernels, compile, precision } = request;
  return JSON.stringify({ ...limits, programKernels, compile, precision });
}

/** The server's description of itself, as JSON. */
function parsed(value: RpcValue | undefined): unknown {
  return JSON.parse(textOf(value));
}

function notRemote(got: string): UnsupportedError {
  return new UnsupportedError({
    where: 'Session.load with remote',
    got,
    expected: 'options of the session',
    remedy: 'The server decides how its device is shared.',
  });
}

/** Requests that need the memory of this side, or a canvas. */
const LOCAL: ReadonlySet<ControlRequest['kind']> = new Set(['draw', 'adopt', 'expose']);

const REMEDIES: Partial<Record<ControlRequest['kind'], string>> = {
  draw: 'Read the tensor, and draw its elements.',
};

function notThere(where: ControlRequest['kind']): UnsupportedError {
  return new UnsupportedError({
    where,
    got: 'a remote device',
    expected: 'a local device',
    remedy:
      REMEDIES[where] ??
      'Load the program on a device of this machine, or ask where the device is lent.',
  });
}
