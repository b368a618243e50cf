import { ASYNC_DISPOSE } from '../core/async/dispose-symbols.ts';
import { transfer } from 'comlink';
import { UsageError } from '../core/errors.ts';
import type { PausedCall, PauseOptions } from '../core/contracts/paused-call.ts';
import type { KernelSource } from '../core/contracts/kernel-source.ts';
import type { RunTimelines } from '../core/contracts/run-timeline.ts';
import type {
  ControlReply,
  ControlRequest,
  RunComparison,
} from '../worker/protocol/control-request.ts';
import type { Dims } from '../worker/protocol/dispatch-sizes.ts';
import type {
  FunctionInfo,
  LoadedSession,
  Placement,
  SessionDevice,
  ValueInfo,
} from '../worker/protocol/loaded-session.ts';
import type { CallId, HandleId, Reply, SessionId } from '../worker/protocol/reply.ts';
import type { KernelProfile, RunRequest } from '../worker/protocol/run-request.ts';
import type { SessionMemory } from '../worker/protocol/session-memory.ts';
import type { SessionService } from '../worker/protocol/session-service.ts';
import type { ToolAnswer, ToolName, ToolRequest } from '../worker/tools/tools.ts';
import type { CallPage, WireResult } from '../worker/protocol/wire-value.ts';
import { loadSession } from './load-session.ts';
import { bindInputs } from './values/bind-inputs.ts';
import { checkOptions, requireCount, requireKind, requireMaker } from '../core/check-options.ts';
import { isServiceWorker, requireImport } from '../core/require-import.ts';
import { type CallOptions, Connection, type Send } from './start/connection.ts';
import type { GpuBufferLike } from '../core/contracts/gpu-like.ts';
import type { DeviceTensor } from './values/device-tensor.ts';
import type { GpuTensor } from './values/gpu-buffers.ts';
import { arePlain, type Inputs, type WiredValue } from './values/input-value.ts';
import type { Checkpoints } from './snapshots/checkpoints.ts';
import type {
  CheckpointOptions,
  ResumedState,
  SnapshotOptions,
} from './snapshots/control-options.ts';
import { loadSnapshots } from './snapshots/snapshot-store.ts';
import type { SnapshotStore } from '../snapshots/store-types.ts';
import {
  LOAD_OPTIONS,
  PAUSE_OPTIONS,
  RESUME_OPTIONS,
  type LoadOptions,
  type ResumeOptions,
  RUN_OPTIONS,
  type RunOptions,
} from './session-options.ts';
import type { CompareOptions, SessionComparison } from './tools/compare-session.ts';
import type { DebugOptions, DebugRun } from './tools/debug-session.ts';
import type { SessionSource } from './source.ts';
import { Tensor } from './values/tensor.ts';
import type { TimelineOptions } from './tools/timeline-session.ts';
import type { TraceOptions, TracedValue } from './tools/trace-session.ts';
import type { TuneOptions, TuningReport } from './tools/tune-session.ts';
import type { AskAboutRun, RunQuestion, ToolReply } from './tools/ask-tool.ts';
import type { OverflowOptions, OverflowReport, VerifyOptions } from './tools/verify-session.ts';
import { SPARE_MEMORY } from './values/spare-memory.ts';
import type { OutputValue } from './values/session-value.ts';
import { fromWire, handlesIn, toWire } from './values/wire-values.ts';

/** The result of a profiled run, and its times. */
export interface Profile {
  /** The results of the run, by name. */
  readonly outputs: Record<string, Tensor>;
  /** Launches in order. */
  readonly kernels: readonly KernelProfile[];
  /** From the call until the device is idle. */
  readonly totalMs: number;
  /** Bytecode instructions that were executed. */
  readonly instructions: number;
}

/**
 * A program loaded on a device, ready to run. All methods may be called at any time and several at
 * once. They reject with the signal's reason when it aborts, with UsageError after
 * {@link Session.dispose}, with WorkerError when the worker is gone and with DeviceLostError when
 * the device is; load the session again then.
 */
export class Session {
  /** Inputs of `main`, or of the first function when there is no `main`, in order. */
  readonly inputs: readonly ValueInfo[];
  /** Outputs of `main`, in order; empty where there is no `main`. */
  readonly outputs: readonly ValueInfo[];
  /** Names of the functions that {@link Session.run} can call. */
  readonly functions: readonly string[];
  /** The device that the session really runs on. */
  readonly device: SessionDevice;
  /** Nodes that run elsewhere than on the device, or slowly there, and why. */
  readonly placements: readonly Placement[];
  readonly #connection: Connection;
  readonly #id: SessionId;
  readonly #functions: ReadonlyMap<string, FunctionInfo>;
  readonly #closed = new AbortController();
  readonly #inFlight = new Set<(reason: unknown) => void>();
  #disposal: Promise<void> | undefined;
  /** The content of a snapshot; see {@link Session.resume}. */
  readonly resumed: ResumedState | undefined;

  /**
   * Loads an executable and goes on with a snapshot of it, on any device: runs that were in flight
   * continue at once, see {@link Session.resumed}. Rejects as {@link Session.load} does (also with
   * the names of packed functions that this side lacks), with FormatError for a snapshot that was cut
   * or changed, with UsageError for another executable than the one that ran, and with
   * UnsupportedError where the snapshot cannot go on here.
   */
  static async resume(
    bytes: Uint8Array | ArrayBuffer,
    given: ResumeOptions,
  ): Promise<Session & { readonly resumed: ResumedState }> {
    checkOptions('Session.resume', given, RESUME_OPTIONS);
    const { executable, paused, ...options } = given;
    // A run that goes on in its middle tells no sizes before its next launch.
    const session = await Session.load(executable, { compile: 'ahead', ...options });
    try {
      const { restore } = await loadSnapshots();
      const { signal } = options;
      return Object.assign(session, { resumed: await restore(session, bytes, { paused, signal }) });
    } catch (error) {
      await session.dispose();
      throw error;
    }
  }

  /**
   * Loads a `.weft` executable or an `.onnx` model from a URL, bytes, a Blob, a stream or a
   * Response. Rejects with DownloadError, FormatError, VerifyError, UnsupportedError, UsageError,
   * DeviceError or OutOfMemoryError, and with `cache` with StorageError.
   */
  static async load(source: SessionSource, options: LoadOptions = {}): Promise<Session> {
    requireCount('Session.load', arguments, 2);
    checkOptions('Session.load', options, LOAD_OPTIONS);
    if (isServiceWorker()) await requireImport();
    return loadSession(source, options, (connection, loaded) => new Session(connection, loaded));
  }

  private constructor(connection: Connection, loaded: LoadedSession) {
    requireMaker('Session.load', connection instanceof Connection);
    const { session, functions, device, placements } = loaded;
    this.#connection = connection;
    this.#id = session;
    this.#functions = new Map(functions.map((info) => [info.name, info]));
    this.device = device;
    this.placements = placements;
    this.functions = functions.map((info) => info.name);
    const main = this.#functions.get('main') ?? functions[0];
    this.inputs = main?.params ?? [];
    this.outputs = main?.results ?? [];
  }

  /**
   * Runs a function. `inputs` are tensors, handles, pictures (for inputs of shape [1, C, H, W] or
   * [1, H, W, C]) and, for int and float parameters, plain numbers. Resolves to the results by
   * name; for a function that returns other things than tensors, name their types:
   * `run<number>(…)`. Rejects with UsageError that lists all wrong names, with ShapeError that
   * lists all wrong types, and with RuntimeError when the program fails.
   */
  run(
    inputs: Inputs,
    options: RunOptions & { keep: 'device' },
  ): Promise<Record<string, DeviceTensor>>;
  run<const Name extends string>(
    inputs: Inputs,
    options: RunOptions & { keep: readonly Name[] },
  ): Promise<Record<Name, DeviceTensor> & Record<string, Tensor | DeviceTensor>>;
  run<Output extends OutputValue = Tensor>(
    inputs: Inputs,
    options?: RunOptions,
  ): Promise<Record<string, Output>>;
  async run(inputs: Inputs, options: RunOptions = {}): Promise<Record<string, OutputValue>> {
    requireCount('run', arguments, 2);
    const results = await this.#request(inputs, options, {
      send: (service, call, request, callPage) => service.run(call, request, callPage),
      discard: (late, service) => {
        for (const handle of handlesIn(late)) void service.release(this.#id, handle);
      },
    });
    return this.#outputs(results);
  }

  /** Runs a function and times its kernels. No other run of the device overlaps with it. */
  async profile(inputs: Inputs, options: RunOptions = {}): Promise<Profile> {
    const host = { ...options, keep: 'host' as const };
    const { results, ...measured } = await this.#request(inputs, host, {
      send: (service, call, request, callPage) => service.profile(call, request, callPage),
    });
    return { ...measured, outputs: (await this.#outputs(results)) as Record<string, Tensor> };
  }

  /**
   * Runs `main` once on zeros, so that the first real run finds everything planned. `dims` gives
   * symbolic dimensions; those not given are 1.
   */
  async warmup(dims: Dims = {}, options: { signal?: AbortSignal } = {}): Promise<void> {
    requireKind('warmup', 'object', ['dims', dims]);
    checkOptions('warmup', options, { signal: 'signal' });
    await this.#call(options.signal, (service, call) => service.warmup(call, this.#id, dims));
  }

  /**
   * Holds all runs between two instructions, and new ones before their first; resolves to the runs
   * when all are held. Rejects with UsageError for a place that does not exist.
   */
  async pause(options: PauseOptions = {}): Promise<readonly PausedCall[]> {
    checkOptions('pause', options, PAUSE_OPTIONS);
    const { signal, ...place } = options;
    const { calls } = await this.control({ kind: 'pause', ...place, args: [] }, { signal });
    return calls;
  }

  /** Lets all runs go on. Without effect on a session that is not paused. */
  async continue(): Promise<void> {
    await this.control({ kind: 'continue', args: [] });
  }

  /**
   * The bytes of a paused session, for {@link Session.resume}: all runs with what they refer to, and
   * what `options` name, which must live until then. Rejects with UsageError when the session is not
   * paused.
   */
  async snapshot(options: SnapshotOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return (await loadSnapshots()).takeSnapshot(this, options);
  }

  /**
   * Keeps the latest snapshot in a store: every so often, and when the page is hidden. The session is
   * paused for the time of each.
   */
  async checkpointTo(store: SnapshotStore, options: CheckpointOptions = {}): Promise<Checkpoints> {
    return new (await loadSnapshots()).Checkpoints(this, store, options);
  }

  /**
   * Pauses while the page is hidden, until the signal is aborted. When it is seen again all runs go
   * on, whoever paused them.
   */
  async pauseWhenHidden(options: { signal?: AbortSignal } = {}): Promise<void> {
    (await loadSnapshots()).pauseWhenHidden(this, options);
  }

  /**
   * Measures variants of kernels on the device, for the sizes of `dims` and of the latest runs, and uses
   * the fastest from now on: here, in later sessions of the worker, and in those of later visits. Takes
   * seconds, in which runs wait, unless `idle`. Rejects with OutOfMemoryError, DeviceLostError or the
   * signal's reason; what was chosen until then stays.
   */
  async tune(options: TuneOptions = {}): Promise<TuningReport> {
    return (await import('./tools/tune-session.ts')).tuneSession(this, options);
  }

  /**
   * Runs a function once as it is, beside the same instructions in float32 on the host, with the same weights, and
   * names the first value that is further from that of float32 than `tolerance`: the kernel, its nodes, the numbers.
   * No other run uses the device meanwhile; the host has the weights too. Takes as long as the host does. Of a session on a
   * remote device the host is this side, in the thread of the connection, which reads the weights back; other runs go on. Rejects
   * with UnsupportedError for inputs that are neither tensors nor ints, and for programs that take float16 apart into bits; with
   * UsageError for programs that call functions of JavaScript.
   */
  async verify(inputs: Inputs, options: VerifyOptions = {}): Promise<RunComparison> {
    return (await import('./tools/verify-session.ts')).verifySession(
      this.#asking(options),
      inputs,
      options,
    );
  }

  /**
   * Runs a function once on this device and on another one beside it, the same instructions with the same weights, and names the
   * first value that departs from what the other one has by more than `tolerance`: the kernel, its nodes, the numbers, and of a
   * fused kernel the first operator that departs without fusion. It finds what a device, a driver or a kernel does wrong, where
   * {@link verify} finds what float16 does. `against` may be another session or values from elsewhere. No other run uses the
   * device meanwhile. Rejects as `verify` does.
   */
  async compare(inputs: Inputs, options: CompareOptions = {}): Promise<SessionComparison> {
    const { compareSession } = await import('./tools/compare-session.ts');
    return compareSession(this.#asking(options), inputs, options);
  }

  /**
   * Runs a function once, and gives values that it computes on its way, in their order: those of `values`, names of the source,
   * or all that kernels give. Of a value within a fused kernel the operators of that kernel run again, one by one. No other run
   * uses the device meanwhile, but for that of a remote one. Rejects with UsageError for a name that the program has no place
   * for: the compiler leaves out what is constant. Otherwise it rejects as `run` does.
   */
  async trace(inputs: Inputs, options: TraceOptions = {}): Promise<readonly TracedValue[]> {
    return (await import('./tools/trace-session.ts')).traceSession(
      this.#asking(options),
      inputs,
      options,
    );
  }

  /**
   * Runs a function instruction by instruction: forth and back, with breakpoints, and with what its registers hold. Resolves when
   * the run stands before its first instruction; it goes on as it is told to, beside other runs, which it does not hold up. The
   * session's kernels, weights and device are its own too. Rejects as `run` does for wrong inputs. On a remote device the server
   * bounds how many such runs there are, and how long one stands still: then it rejects, or the next order does, with LimitError.
   */
  async debug(inputs: Inputs, options: DebugOptions = {}): Promise<DebugRun> {
    const { debugSession } = await import('./tools/debug-session.ts');
    return debugSession(this, this.#asking(options), { inputs, options });
  }

  /**
   * Runs a function on samples in float32 on the host, with the same weights, and names the values that it stores as
   * float16 and that are near the limit of float16 or beyond. Rejects as `verify` does.
   */
  async overflows(
    samples: Iterable<Inputs>,
    options: OverflowOptions = {},
  ): Promise<OverflowReport> {
    return (await import('./tools/verify-session.ts')).findOverflows(
      this.#asking(options),
      samples,
      options,
    );
  }

  /**
   * Runs a function, once or several times, and tells what took how long: instructions, uploads, copies, readbacks, pipelines that
   * are compiled, and kernels, all on one clock, with what kernels compute and what the device can do. No other run uses the
   * device meanwhile. The first time on a device measures that, which takes some tenths of a second.
   */
  async timeline(inputs: Inputs, options: TimelineOptions = {}): Promise<RunTimelines> {
    return (await import('./tools/timeline-session.ts')).timelineSession(
      this.#asking(options),
      inputs,
      options,
    );
  }

  /**
   * A tensor that lies in a buffer of the page's, for a session on the page's own device (`gpu` of `Session.load`): nothing is
   * copied. `byteOffset` is a multiple of 256, and the usage has STORAGE and COPY_SRC. The buffer stays the page's: a run reads what
   * it holds when the run begins, behind all that was submitted before. Destroy or map it only after disposing of the tensor. A run that
   * the tensor is donated to may write there. Rejects with UsageError for a buffer that does not fit or is of another device, and with
   * UnsupportedError for a session on another device.
   */
  async fromGpuBuffer(buffer: GpuBufferLike, tensor: GpuTensor): Promise<DeviceTensor> {
    return (await import('./values/gpu-buffers.ts')).fromGpuBuffer(this, buffer, tensor);
  }

  /** Memory that the session holds now. */
  memory(): Promise<SessionMemory> {
    return this.#call(undefined, (service, call) => service.memory(call, this.#id));
  }

  /** The executable as text. */
  async listing(): Promise<string> {
    return this.#answer('listing', {});
  }

  /**
   * The code that the device runs for a kernel, a primitive function of the listing: the shaders of its launches, or the
   * loop nests of a processor. It is that of the latest call where sizes vary. Rejects with UsageError for a name that is
   * no kernel's, with UnsupportedError while only a call could tell the sizes.
   */
  async kernelSource(kernel: string): Promise<KernelSource> {
    return this.#answer('source', { kernel });
  }

  /** Frees everything. Pending calls reject with UsageError. Idempotent. */
  dispose(): Promise<void> {
    this.#disposal ??= this.#dispose();
    return this.#disposal;
  }

  /**
   * As {@link dispose}, at the end of a block with `await using`. In a browser without the symbol this is
   * a method called "undefined", which harms nobody.
   */
  [ASYNC_DISPOSE](): Promise<void> {
    return this.dispose();
  }

  /** @internal What `snapshots/` asks of the worker. */
  control(
    request: ControlRequest,
    { signal, discard }: CallOptions<ControlReply> = {},
  ): Promise<ControlReply> {
    return this.#call(signal, (service, call) => service.control(call, this.#id, request), discard);
  }

  /** @internal */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** @internal Whether tensors of another session may be inputs. The worker knows whether it has the same device. */
  accepts(owner: object): boolean {
    const connection = this.#connection;
    if (owner === this) return true;
    return !connection.remote && owner instanceof Session && owner.#connection === connection;
  }

  /** @internal See {@link DeviceTensor.read}. */
  async readHandle(handle: HandleId, signal: AbortSignal | undefined): Promise<Tensor> {
    const read = await this.#call(signal, (service, call) => service.read(call, this.#id, handle));
    return new Tensor(read.dtype, read.data, read.shape);
  }

  /** @internal Calls a function among results. */
  callHandle(request: Omit<RunRequest, 'session'>, callPage: CallPage | undefined) {
    return this.#call(undefined, (service, call) =>
      service.run(call, { ...request, session: this.#id }, callPage),
    );
  }

  /** @internal See {@link DeviceTensor.dispose}. */
  releaseHandle(handle: HandleId): void {
    this.#connection.post((service) => service.release(this.#id, handle));
  }

  async #outputs(results: readonly WireResult[]): Promise<Record<string, OutputValue>> {
    return (
      fromWire(results, this) ??
      (await import('./values/program-function.ts')).fromWireWithFunctions(results, this)
    );
  }

  async #dispose(): Promise<void> {
    const reason = new UsageError('The session was disposed.');
    this.#closed.abort(reason);
    for (const stop of this.#inFlight) stop(reason);
    try {
      this.#connection.isBusy = await this.#connection.call((service, call) =>
        service.dispose(call, this.#id),
      );
    } catch {
      // The worker is gone, and the session with it.
    } finally {
      this.#connection.release();
    }
  }

  async #call<T>(
    signal: AbortSignal | undefined,
    send: Send<T>,
    discard?: CallOptions<T>['discard'],
  ): Promise<T> {
    this.#closed.signal.throwIfAborted();
    // Of its own for each call: as many as like may have the same signal.
    const own = signal && AbortSignal.any([signal]);
    return this.#connection.call(send, { signal: own, inFlight: this.#inFlight, discard });
  }

  async #answer<Name extends ToolName>(
    tool: Name,
    request: ToolRequest<Name>,
  ): Promise<ToolAnswer<Name>> {
    const { answerOf, askTool } = await import('./tools/ask-tool.ts');
    return answerOf(askTool(this, [tool, request]));
  }

  /** Asks a tool about a run on inputs. */
  #asking({
    function: functionName = 'main',
    signal,
  }: Omit<VerifyOptions, 'tolerance'>): AskAboutRun {
    return <Name extends ToolName>(inputs: Inputs, tool: Name, question: RunQuestion<Name>) =>
      this.#request(
        inputs,
        { function: functionName, signal },
        {
          send: (service, call, { args }) =>
            service.control(call, this.#id, {
              kind: 'tool',
              tool,
              request: { ...question, functionName },
              args,
            }),
        },
      ) as Promise<ToolReply<Name>>;
  }

  /** Calls `send` with the request. Tensors are copied before anything is awaited. */
  async #request<T>(
    given: Inputs,
    options: RunOptions,
    { send, discard }: RequestOptions<T>,
  ): Promise<T> {
    checkOptions('run', options, RUN_OPTIONS);
    const { signal, function: name = 'main', transfer: move, ...rest } = options;
    const info = this.#functions.get(name);
    if (info === undefined) {
      const { explainFunction } = await import('./explain-inputs.ts');
      throw explainFunction(name, this.functions);
    }
    // JavaScript passes nothing where there are no inputs.
    const inputs = (given as Inputs | null | undefined) ?? {};
    if (inputs instanceof Tensor || ArrayBuffer.isView(inputs)) {
      throw (await import('./explain-inputs.ts')).explainTensor(info);
    }
    const plain = arePlain(inputs)
      ? inputs
      : (await import('./values/image-input.ts')).convertInputs(info, inputs, this);
    const binding = bindInputs(info, plain, this);
    if (binding.mismatches.length > 0 || Object.keys(plain).length > info.params.length) {
      const { explainInputs } = await import('./explain-inputs.ts');
      throw explainInputs(info, plain, binding);
    }
    const { args, transfers } = toWire(info, binding.values, { move });
    const { callPage }: Partial<WiredValue> = Object(
      binding.values.find((value) => Object(value).callPage),
    );
    const room = SPARE_MEMORY.takeRoom();
    transfers.push(...room);
    const request = { ...rest, session: this.#id, functionName: name, args, room };
    return this.#call(
      signal,
      (service, call) => send(service, call, transfer(request, transfers), callPage),
      discard,
    );
  }
}

interface RequestOptions<T> {
  readonly send: (
    service: SessionService,
    call: CallId,
    request: RunRequest,
    callPage: CallPage | undefined,
  ) => Promise<Reply<T>>;
  readonly discard?: CallOptions<T>['discard'];
}
