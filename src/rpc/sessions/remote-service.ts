import type { ExecutableData } from '../../bytecode/executable.ts';
import { Executable } from '../../bytecode/file/executable-file.ts';
import { Deferred } from '../../core/async/deferred.ts';
import { allocate } from '../../core/bytes/allocate.ts';
import { UnsupportedError, UsageError } from '../../core/errors.ts';
import { VERSION } from '../../core/version.ts';
import type { AskType } from '../../worker/compile/compile-protocol.ts';
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
import type { CallPage, WireResult, WireTensor } from '../../worker/protocol/wire-value.ts';
import type { WorkerPicture } from '../../worker/pictures/worker-picture.ts';
import { loadProgram } from '../../worker/sources/load-program.ts';
import type { DebugRequest } from '../../worker/tools/debug-session.ts';
import { isWatching, OpenTools, type ToolName } from '../../worker/tools/tools.ts';
import type { ShipProgress } from '../executable-store.ts';
import type { SendOptions } from '../values/remote-handles.ts';
import type { Check } from '../values/checked-values.ts';
import {
  controlReply,
  loadedSession,
  sessionMemory,
  TOOL_ANSWERS,
  wireProfile,
} from './checked-replies.ts';
import { SERVED_TOOLS } from './checked-requests.ts';
import { offerFunctions, offerPage, wireResults, wireTensor } from './checked-values.ts';
import type { SessionCall, SessionDoor } from './session-door.ts';

interface OpenSession {
  readonly executable: ExecutableData;
  /** The request that opened it, by which a session of another program is opened beside it. */
  readonly request: LoadRequest;
  /** Debugging runs, which settle when the server knows of them. */
  readonly debugged: Map<number, Deferred>;
  /** Those that run on this side. */
  readonly tools: OpenTools;
  /** Those that are held on this side. */
  readonly pictures: Map<number, WorkerPicture>;
}

type ToolRequest = Extract<ControlRequest, { kind: 'tool' }>;

/**
 * Sessions on served devices, for a page that talks to them as to its worker. The server has the same service behind its checks:
 * calls go there as they are, but for what this side does itself. It reads programs and compiles models, prepares pictures, and
 * compares and traces runs, which the server then has stand after each kernel.
 */
export class RemoteService implements SessionService {
  readonly #door: SessionDoor;
  readonly #tables: CompileTables | undefined;
  readonly #sessions = new Map<SessionId, OpenSession>();
  readonly #calls = new Map<CallId, AbortController>();

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
    const { signal, onProgress } = context;
    const { executable, bytes } = await readProgram(request, context);
    const loaded = await this.#open(bytes, request, {
      signal,
      callPage,
      onProgress: (progress) => onProgress({ phase: 'upload', ...progress }),
    });
    // The bytes of the source are not kept.
    const source = { kind: 'stored', hash: '' } as const;
    const alone = { ...request, source, functions: undefined, nodeTypes: undefined };
    this.#sessions.set(loaded.session, {
      executable,
      request: alone,
      debugged: new Map(),
      tools: new OpenTools(),
      pictures: new Map(),
    });
    return loaded;
  }

  /** Opens a session of a program, with the device and the limits of a request. */
  async #open(
    program: Uint8Array,
    request: LoadRequest,
    {
      signal,
      callPage,
      onProgress,
    }: {
      readonly signal: AbortSignal | undefined;
      readonly callPage?: CallPage | undefined;
      readonly onProgress?: (progress: ShipProgress) => void;
    },
  ): Promise<LoadedSession> {
    const source = { kind: 'stored', hash: await this.#door.ship(program, { signal, onProgress }) };
    const page = callPage && offerPage(callPage);
    const discard = (late: unknown): void => {
      void this.#drop('dispose', [loadedSession(late, 'session').session]);
    };
    const options = { signal, discard };
    const loaded = await this.#door.call('load', [{ ...request, source }, page], options);
    return loadedSession(loaded, 'session');
  }

  run(call: CallId, request: RunRequest, callPage?: CallPage): Promise<Reply<WireResult[]>> {
    const discard = (late: unknown): void => {
      for (const { value } of wireResults(late, 'run')) {
        if ('handle' in value) void this.release(request.session, value.handle);
      }
    };
    return this.#ask(call, 'run', runArguments(request, callPage), discard);
  }

  profile(call: CallId, request: RunRequest, callPage?: CallPage): Promise<Reply<WireProfile>> {
    return this.#ask(call, 'profile', runArguments(request, callPage));
  }

  warmup(call: CallId, session: SessionId, dims: Dims): Promise<Reply<null>> {
    return this.#ask(call, 'warmup', [session, dims]);
  }

  read(call: CallId, session: SessionId, handle: HandleId): Promise<Reply<WireTensor>> {
    return this.#ask(call, 'read', [session, handle]);
  }

  memory(call: CallId, session: SessionId): Promise<Reply<SessionMemory>> {
    return this.#ask(call, 'memory', [session]);
  }

  /** A call that the server answers as a worker does. */
  #ask<Name extends keyof typeof REPLIES>(
    call: CallId,
    name: Name,
    args: readonly unknown[],
    discard?: (late: unknown) => void,
  ): Promise<Reply<ReturnType<(typeof REPLIES)[Name]>>> {
    return this.#answer(call, async (signal) => {
      const reply = await this.#door.call(name, args, { signal, ...(discard && { discard }) });
      return REPLIES[name](reply, name) as ReturnType<(typeof REPLIES)[Name]>;
    });
  }

  control(call: CallId, session: SessionId, request: ControlRequest): Promise<Reply<ControlReply>> {
    return this.#answer(call, async (signal) => {
      switch (request.kind) {
        case 'draw':
        case 'adopt':
        case 'expose':
          throw notThere(request.kind);
        case 'tool':
          return this.#askTool(session, request, signal);
        // Pictures are prepared on this side, where they are; only elements cross.
        case 'prepare':
        case 'sample':
        case 'hold':
        case 'pixels':
        case 'drop': {
          const { answerPictures } = await import('../../worker/pictures/answer-pictures.ts');
          const owner = { held: this.#opened(session).pictures, hosted: undefined };
          return { calls: [], results: await answerPictures(owner, request, signal), note: '' };
        }
        default:
          return this.#control(session, request, { signal });
      }
    });
  }

  async #control(
    session: SessionId,
    request: ControlRequest,
    options: SendOptions,
  ): Promise<ControlReply> {
    offerFunctions(request.args);
    return controlReply(await this.#door.call('control', [session, request], options), 'reply');
  }

  async #askTool(
    session: SessionId,
    request: ToolRequest,
    signal: AbortSignal,
  ): Promise<ControlReply> {
    const tool = request.tool as ToolName;
    if (isWatching(tool)) return this.#watch(session, request, signal);
    if (!SERVED_TOOLS.includes(tool)) throw notThere(tool);
    const send = () => this.#control(session, request, { signal });
    const reply = await (tool === 'debug' ? this.#debug(session, request, signal) : send());
    const check: Check<unknown> | undefined = TOOL_ANSWERS[tool];
    return check ? { ...reply, answer: check(reply.answer, 'answer') } : reply;
  }

  async #debug(
    session: SessionId,
    request: ToolRequest,
    signal: AbortSignal,
  ): Promise<ControlReply> {
    const { run, order } = request.request as DebugRequest;
    const begins = order === undefined;
    const sent = this.#debugged(session, run, begins || order.do === 'start');
    // An order comes behind the request that begins the run, whose tensors may take longer.
    if (!begins) {
      await sent?.promise;
      return this.#control(session, request, { signal });
    }
    try {
      return await this.#control(session, request, { signal, onSent: () => sent?.resolve() });
    } finally {
      sent?.resolve();
      this.#sessions.get(session)?.debugged.delete(run);
    }
  }

  /** `begins`: whichever comes first, the run or the order that starts it. */
  #debugged(session: SessionId, run: number, begins: boolean): Deferred | undefined {
    const { debugged } = this.#opened(session);
    if (begins && !debugged.has(run)) debugged.set(run, new Deferred());
    return debugged.get(run);
  }

  /** Watched from this side, where what is compared with runs too. */
  async #watch(
    session: SessionId,
    { tool, request, args }: ToolRequest,
    signal: AbortSignal,
  ): Promise<ControlReply> {
    const { executable, request: load, tools } = this.#opened(session);
    offerFunctions(args);
    const { watchRemote } = await import('./remote-watch.ts');
    const door = this.#door;
    const open = async (program: Uint8Array, ended: AbortSignal | undefined) =>
      (await this.#open(program, load, { signal: ended })).session;
    const read = async (handle: HandleId) =>
      wireTensor(await door.call('read', [session, handle], { signal }), 'read');
    const program = watchRemote({ executable, session, door, open, read, args, signal });
    const { answer, results = [] } = await tools.ask(tool as ToolName, request, program);
    return { calls: [], results, note: '', answer };
  }

  async release(session: SessionId, handle: HandleId): Promise<void> {
    await this.#drop('release', [session, handle]);
  }

  /** The other side aborts what runs. */
  async dispose(_: CallId, session: SessionId): Promise<Reply<boolean>> {
    if (this.#sessions.delete(session)) await this.#drop('dispose', [session]);
    return { ok: true, value: false };
  }

  /** Frees something of the server. It is free too where the connection is gone. */
  async #drop(name: SessionCall, args: readonly unknown[]): Promise<void> {
    await this.#door.call(name, args).catch(() => undefined);
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
    if (opened === undefined) throw new UsageError('The session was disposed.');
    return opened;
  }
}

/** What comes back of calls that pass through, checked. */
const REPLIES = {
  run: (value: unknown, name: string) => [...wireResults(value, name)],
  profile: wireProfile,
  warmup: () => null,
  read: wireTensor,
  memory: sessionMemory,
};

/** A run as it is sent: memory for its results stays here. */
function runArguments(request: RunRequest, callPage: CallPage | undefined): readonly unknown[] {
  offerFunctions(request.args);
  return [{ ...request, room: undefined }, callPage && offerPage(callPage)];
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

function notRemote(got: string): UnsupportedError {
  return new UnsupportedError({
    where: 'Session.load with remote',
    got,
    expected: 'options of the session',
    remedy: 'The server decides how its device is shared.',
  });
}

/** What to do in place of requests that need the memory of this side, a canvas, or a device of one's own. */
const REMEDIES: Readonly<Record<string, string>> = {
  draw: 'Read the tensor, and draw its elements.',
  tune: 'Tune where the device is lent: the choices apply to all its users.',
};

function notThere(where: string): UnsupportedError {
  return new UnsupportedError({
    where,
    got: 'a remote device',
    expected: 'a local device',
    remedy:
      REMEDIES[where] ??
      'Load the program on a device of this machine, or ask where the device is lent.',
  });
}
