import type {
  OperatorDeparture,
  RunComparison,
  ValueDeparture,
} from '../runtime/compare/compare-runs.ts';
import type { ValueRange } from '../runtime/compare/measure-ranges.ts';
import type {
  Breakpoint,
  DebugDetail,
  DebugMemory,
  DebugStop,
  DebugValue,
  SetBreakpoint,
} from '../runtime/debug/debug-types.ts';
import type { TracedPlace } from '../runtime/compare/trace-run.ts';
import type { Importers } from '../frontend/onnx/importers.ts';
import type { Operators } from '../ops/operators.ts';
import type { CompileLimits } from '../core/compile-limits.ts';
import type { CompileModeOption } from '../core/compile-mode.ts';
import type { PrecisionOption } from '../core/precision.ts';
import type { RatesOfBoth } from '../core/device-rates.ts';
import type { DrawnElements } from '../core/drawn-elements.ts';
import type { DType, TypedArray } from '../core/dtype.ts';
import type { ErrorData } from '../core/errors.ts';
import type { GpuBufferLike, PageGpuBuffer } from '../core/gpu-like.ts';
import type { KernelSource } from '../core/kernel-source.ts';
import type { NodeSignature, NodeTypes } from '../core/node-function.ts';
import type { PausedCall, PauseOptions } from '../core/paused-call.ts';
import type { PictureSource } from '../core/pictures/picture-source.ts';
import type { PictureSteps } from '../core/pictures/picture-steps.ts';
import type { Rectangle } from '../core/pictures/rectangle.ts';
import type { MachineLimits, ProgramLimits } from '../core/program-limits.ts';
import type { RunTimelines } from '../core/run-timeline.ts';
import type { Shape } from '../core/shape.ts';
import type { CacheType } from '../core/text-layout.ts';
import type { KindOf, ValueSide } from '../core/value-fold.ts';
import type { TuningStep } from '../device/device.ts';

export type { KernelPart, KernelSource } from '../core/kernel-source.ts';
export type { MachineLimits, ProgramLimits } from '../core/program-limits.ts';
export type * from '../core/run-timeline.ts';
export type { KernelTuning, TriedVariant } from '../device/device.ts';

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
  listing(call: CallId, session: SessionId): Promise<Reply<string>>;
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

/** Calls a function of the page by its name. Tensors come and go with their elements. */
export type CallPage = (
  name: string,
  args: readonly WireValue[],
  node?: PageNode,
) => Promise<Reply<WireValue>>;

/**
 * A call for a node of a model: its value, with null for inputs that it leaves out, or its type as JSON. Or word that
 * no program holds an object of the page any more.
 */
export type PageNode =
  | { readonly kind: 'drop' }
  | { readonly kind: 'run'; readonly attributes: WireAttributes }
  | { readonly kind: 'type'; readonly signature: WireSignature };

export type WireAttributes = Readonly<
  Record<string, number | string | readonly number[] | readonly string[] | WireTensor>
>;

export type WireSignature = Omit<NodeSignature, 'attributes'> & {
  readonly attributes: WireAttributes;
};

/** Signatures of functions of a page that compute nodes; null where the page has to be asked. */
export type PageNodeTypes = Readonly<Record<string, string | null>>;

/** Operators and importers of one's own, as options have them. */
export interface OwnTables {
  readonly operators?: Operators | undefined;
  readonly importers?: Importers | undefined;
  /** Types of functions that compute nodes. */
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

export interface Greeting {
  /** Where the package's worker finds its other files. */
  readonly files: WorkerFiles | undefined;
  /**
   * The worker holds it for as long as it lives. The page queues for the same lock: it is granted when
   * the worker is gone, however it went. Undefined where there are no locks.
   */
  readonly lock: string | undefined;
}

export interface WorkerInfo {
  /** Of the package. */
  readonly version: string;
}

/** Name of a worker by which its script knows that it is to compile. */
export const COMPILER_NAME = 'weft-compiler';

/** Addresses of the worker's files by name; `main` is the one that a worker starts with. */
export type WorkerFiles = Readonly<Record<string, string>>;

export type CallId = number;
export type SessionId = number;
/** A tensor or a function that stays where the session runs, for the page. */
export type HandleId = number;

/** Values of symbolic dimensions by name. */
export type Dims = Readonly<Record<string, number>>;

/**
 * Intervals `[from, below]` of sizes, or a rule that makes them, by the names of a function and of an
 * input, and by axis.
 */
export type Dispatch = Readonly<Record<string, InputDispatch>>;

/** Intervals of sizes by the name of an input and by axis. */
export type InputDispatch = Readonly<Record<string, Readonly<Record<number, SizeIntervals>>>>;

/** Intervals of sizes; with `otherwise`, all other sizes run the model as it is instead of being refused. */
export type SizeIntervals =
  | SizeRule
  | { readonly intervals: SizeRule; readonly otherwise: 'generic' };

/**
 * Of a rule, `min` and `max`, which are included, come from the model where they are absent. The last interval
 * may be open: `[257, Infinity]`, `{ min: 257 }`, or `open: true` of a rule.
 */
export type SizeRule =
  | readonly (
      | readonly [from: number, below: number]
      | { readonly min: number; readonly max?: number }
    )[]
  | {
      readonly kind: 'uniform';
      readonly step: number;
      readonly min?: number;
      readonly max?: number;
      readonly open?: boolean;
    }
  | {
      readonly kind: 'logarithmic';
      readonly base?: number;
      readonly min?: number;
      readonly max?: number;
      readonly open?: boolean;
    };

export type Reply<T> =
  | {
      readonly ok: true;
      readonly value: T;
      /** Memory that a run's inputs came in, and what its results did not need. */
      readonly spares?: readonly ArrayBuffer[];
    }
  | { readonly ok: false; readonly error: ErrorData };

/** Where a session runs: on a GPU, or on the processor. */
export type DeviceKind = 'webgpu' | 'wasm' | 'host';

/** How the sessions of a worker share its devices. */
export interface WorkerConfig {
  /** The most bytes that all of them hold on a device. */
  readonly memoryBudget?: number | undefined;
}

export interface LoadRequest
  extends ProgramLimits,
    MachineLimits,
    CompileModeOption,
    PrecisionOption {
  readonly source: WireSource;
  readonly device: DeviceKind | 'auto';
  /** Fixes symbolic dimensions of an ONNX model while it is compiled. */
  readonly dims: Dims;
  /** Makes clones of functions of an ONNX model for intervals of sizes. */
  readonly dispatch?: Dispatch | undefined;
  /** Places parts of an ONNX model on both, by time. */
  readonly devices?: readonly ['webgpu', 'wasm'] | undefined;
  /** Of these devices; set where the model is compiled. */
  readonly rates?: RatesOfBoth | undefined;
  /** The most that compiling an ONNX model may take. */
  readonly compileLimits?: CompileLimits | undefined;
  /** Which checks a compiled ONNX model makes while it runs. */
  readonly check?: 'indices' | undefined;
  /** Keeps the weights on the device, whatever the budget of the worker. */
  readonly pin?: boolean | undefined;
  /** Its share of the device's time beside others. */
  readonly priority?: number | undefined;
  /** Threads of a device `wasm`. */
  readonly threads?: number | undefined;
  /** Names of functions that the page supplies. */
  readonly functions?: readonly string[] | undefined;
  /** Of those that compute nodes of a model. */
  readonly nodeTypes?: PageNodeTypes | undefined;
}

/**
 * A model in files of its own, which are read by ranges and kept: a `.weft` executable, any other program that
 * `Session.load` takes, or a language model that is compiled, by the end of its name `.onnx`, `.gguf`, `.safetensors` or
 * `.safetensors.index.json`.
 */
export interface FilesSource {
  readonly kind: 'files';
  /** Address of the model, beside which further files lie, or its name in `bytes`. */
  readonly url: string;
  /** The files, where they are there already, by name. */
  readonly bytes?: Readonly<Record<string, Uint8Array>> | undefined;
  /** Lets the browser keep downloads. */
  readonly cache: boolean;
  /** Hashes that files must have, by their names beside the model. */
  readonly integrity: Readonly<Record<string, string>>;
  /** How a language model is compiled; undefined for what is none. */
  readonly text?: TextModelOptions | undefined;
}

/** How a language model is made an executable. */
export interface TextModelOptions {
  /** Positions that it is to reach, up to the model's own number. */
  readonly contextLength?: number | undefined;
  /** Rounds its weights to blocks of codes. */
  readonly quantize?: 'q8_0' | 'q4_0' | undefined;
  /** Element type of its caches of keys and values; default: the one that the model names. */
  readonly cacheType?: CacheType | undefined;
}

export type WireSource =
  | FilesSource
  | {
      readonly kind: 'url';
      readonly url: string;
      /** The answer for the first reader, where this thread asked for it while the machine's files came. */
      readonly early?: Promise<Response>[] | undefined;
    }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'blob'; readonly blob: Blob }
  | {
      readonly kind: 'stream';
      readonly stream: ReadableStream<Uint8Array> | null;
      /** Absent for a stream that is no answer to a request. */
      readonly http?: HttpInfo | undefined;
      /** Among which it is, where they are kept. */
      readonly files?: FilesSource | undefined;
    };

/** The needed part of a Response, which itself cannot be posted. */
export interface HttpInfo {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  /** Of the body as it is read; undefined while unknown. */
  readonly byteLength: number | undefined;
}

export function httpInfo({ url, status, statusText, headers }: Response): HttpInfo {
  // Of a compressed body the header counts the compressed bytes.
  const length = headers.has('content-encoding') ? 0 : Number(headers.get('content-length'));
  return { url, status, statusText, byteLength: length > 0 ? length : undefined };
}

/**
 * How far a load is. Phases overlap: kernels compile and weights go up while bytes still arrive.
 * `download` and `upload` count bytes (`total` is undefined while unknown), `verify` goes from 0
 * to 1, `compile` counts the compiler's passes for an ONNX model, then kernels.
 */
export interface LoadProgress {
  /** The step that is counted. */
  readonly phase: 'download' | 'verify' | 'compile' | 'upload';
  /** Bytes, passes or kernels that are done. */
  readonly loaded: number;
  /** How many there are in all; undefined while that is unknown. */
  readonly total: number | undefined;
}

export interface LoadedSession {
  readonly session: SessionId;
  readonly functions: readonly FunctionInfo[];
  readonly device: SessionDevice;
  readonly placements: readonly Placement[];
}

/** A node that runs elsewhere than on the session's device, or by its operator's reference on `wasm`. */
export interface Placement {
  /** Its name in the model, or file, line and column of a program; of a reference the kernel's name. */
  readonly node: string;
  /** The operator of the node. */
  readonly operator: string;
  /** Where it runs. */
  readonly device: 'host' | 'wasm';
  /** The cause, in words that follow "because". */
  readonly reason: string;
}

/** A function of the executable that a page can call. */
export interface FunctionInfo {
  readonly name: string;
  readonly params: readonly ValueInfo[];
  readonly results: readonly ValueInfo[];
}

/**
 * An input or output. A dimension is a number, a name (equal names are equal numbers), `?` when
 * nothing is known of it, or an expression over names such as `(n + 1)`.
 */
export interface ValueInfo {
  /** The name by which `run` takes or gives it. */
  readonly name: string;
  /** The dtype of a tensor, or what else it is. */
  readonly dtype: DType | 'int' | 'float' | 'any';
  /** The type in full, such as `List[Tensor[(?,), float32]]`; only where `dtype` is `any` but more is known. */
  readonly type?: string;
  /** Dimensions of a tensor, the outermost first; none for other values. */
  readonly shape: readonly (number | string)[];
}

/** The device that a session really runs on. */
export interface SessionDevice {
  /** WebGPU, WebAssembly or the host. */
  readonly kind: DeviceKind;
  /** Name of the adapter, such as `SwiftShader`; `wasm` or `host` on a processor. */
  readonly name: string;
  /** The maker of the adapter, as WebGPU names it. */
  readonly vendor: string;
  /** The family of the adapter, as WebGPU names it. */
  readonly architecture: string;
  /** The class of adapters that kernels are planned for. */
  readonly adapterClass: string;
  /**
   * Threads that share the work of `wasm`; 1 elsewhere. They start with the first work that is worth it:
   * where that fails, sessions that are loaded later have 1.
   */
  readonly threads: number;
  /** Why the session runs there: a sentence. */
  readonly reason: string;
  /**
   * Why `device: 'auto'` could not have WebGPU on graphics hardware, or not WebAssembly in its place; says
   * which directive a policy lacks that forbids it.
   */
  readonly fallbackReason?: string | undefined;
}

/** Where results go, or the names of those that stay on the device. */
export type Keep = 'host' | 'device' | readonly string[];

export interface RunRequest {
  readonly session: SessionId;
  readonly functionName: string;
  /** In place of the name: a function that the page holds. */
  readonly callee?: HandleId | undefined;
  /** In the order of the function's parameters. */
  readonly args: readonly WireValue[];
  /** Default `host`. */
  readonly keep?: Keep | undefined;
  /** Names of parameters whose tensors on the device the run takes over. */
  readonly donate?: readonly string[] | undefined;
  /** Memory that results may come in. */
  readonly room?: readonly ArrayBuffer[];
}

export interface WireTensor {
  readonly kind: 'tensor';
  readonly dtype: DType;
  readonly shape: Shape;
  readonly data: TypedArray;
}

export interface WireHandle {
  readonly kind: 'handle';
  readonly handle: HandleId;
  readonly dtype: DType;
  readonly shape: Shape;
}

/** The form of each kind of value between page and worker; `never`: a page can neither give nor take it. */
export interface WireForms {
  readonly null: { readonly kind: 'null' };
  readonly int: { readonly kind: 'int'; readonly value: number };
  readonly float: { readonly kind: 'float'; readonly value: number };
  readonly string: { readonly kind: 'string'; readonly value: string };
  readonly dtype: never;
  readonly shape: { readonly kind: 'shape'; readonly value: Shape };
  readonly tensor: WireTensor;
  readonly handle: WireHandle;
  readonly adt: {
    readonly kind: 'adt';
    readonly tag: number;
    /** Where the type is known: the constructor by its name, or an empty text for a tuple. */
    readonly name?: string;
    readonly fields: readonly WireValue[];
  };
  /** A function of the program, which stays there. */
  readonly closure: { readonly kind: 'closure'; readonly handle: HandleId };
  /** A function of the page, by the name under which `call` calls it, which is that of the run if it is absent. */
  readonly packed: { readonly kind: 'packed'; readonly name: string; readonly call?: CallPage };
  /** An object of the page, by its number there. */
  readonly opaque: { readonly kind: 'opaque'; readonly name: string; readonly id: number };
  readonly storage: never;
  readonly heap: never;
  readonly vm: never;
}

export type WireValue = WireForms[KindOf<WireForms>];

export const WIRE_SIDE: ValueSide<WireForms> = {
  kindOf: ({ kind }) => kind,
  partsOf: (value) => (value.kind === 'adt' ? value.fields : undefined),
};

export interface WireResult {
  readonly name: string;
  readonly value: WireValue;
}

/** One kernel launch of a profiled run. */
export interface KernelProfile {
  /** Name of the primitive function. */
  readonly primitive: string;
  /** Name of the shader, or of the operator on the host. */
  readonly label: string;
  /** Workgroups of the launch along x, y and z. */
  readonly workgroups: readonly [number, number, number];
  /** Undefined where the adapter has no timestamps. */
  readonly durationMs: number | undefined;
}

export interface WireProfile {
  readonly results: readonly WireResult[];
  readonly kernels: readonly KernelProfile[];
  /** From the call until the device is idle. */
  readonly totalMs: number;
  /** Bytecode instructions that were executed. */
  readonly instructions: number;
}

export type { OperatorDeparture, RunComparison, TracedPlace, ValueDeparture, ValueRange };
export type * from '../runtime/debug/debug-types.ts';

/** `args` are the values that go with it: of a snapshot, what is stored beside the runs. */
export type ControlRequest = { readonly args: readonly WireValue[] } & (
  | ({ readonly kind: 'pause' } & Omit<PauseOptions, 'signal'>)
  | { readonly kind: 'continue' }
  /** The program without its weights, as the head of a `.weft` file. */
  | { readonly kind: 'program' }
  /** The code that the device runs for a kernel. */
  | { readonly kind: 'source'; readonly kernel: string }
  | {
      readonly kind: 'snapshot';
      /** Of `args`. */
      readonly names: readonly string[];
      readonly note: string;
      /** Pauses the session for the time of it; otherwise it must be paused. */
      readonly pausing: boolean;
      /** It stays in the worker, for `keep`. The `note` of the reply is its hash. */
      readonly isHeld?: boolean | undefined;
    }
  /** Saves the snapshot that is held in the store of this name in the private file system of the origin. */
  | { readonly kind: 'keep'; readonly store: string }
  | { readonly kind: 'restore'; readonly bytes: Uint8Array }
  /** The result of a run that a snapshot held, once. */
  | { readonly kind: 'result'; readonly index: number; readonly keep: Keep }
  /** Tunes one kernel; `idle`: while the device has nothing else to do. */
  | { readonly kind: 'tune'; readonly index: number; readonly idle?: boolean | undefined }
  /** Runs a function with `args` in float32, and remembers how large what is stored as float16 is, up to the last run. */
  | { readonly kind: 'ranges'; readonly functionName: string; readonly isLast: boolean }
  /** Runs a function with `args`, beside the same in float32 on the host, or as it is on another device. */
  | {
      readonly kind: 'verify';
      readonly functionName: string;
      readonly tolerance: number;
      readonly against?: 'host' | 'wasm' | undefined;
    }
  /** Makes one tensor of pictures, on the device; in a session that shares it, unless `keep` says so, for the page. */
  | {
      readonly kind: 'prepare';
      readonly pictures: readonly PreparedPicture[];
      readonly dtype: DType;
      readonly shape: Shape;
      readonly keep?: 'device' | undefined;
    }
  /** Holds a picture under a number that the page chose, for what it asks then. */
  | { readonly kind: 'hold'; readonly picture: number; readonly source: PictureSource }
  /** Pixels of a held picture, [rows, columns, 3] each: in rectangles, or of all of it. */
  | {
      readonly kind: 'pixels';
      readonly picture: number;
      readonly rectangles?: readonly Rectangle[] | undefined;
    }
  /** Frees a picture that is held. */
  | { readonly kind: 'drop'; readonly picture: number }
  /** Makes a tensor of a buffer of the page's, which stays where it is. In the page's thread alone, on the device that it brought. */
  | ({ readonly kind: 'adopt'; readonly buffer: GpuBufferLike } & TensorPlace)
  /** The buffer of the GPU that the tensor in `args` lies in. There too. */
  | { readonly kind: 'expose' }
  /** Draws the tensor in `args`. */
  | { readonly kind: 'draw'; readonly elements: DrawnElements }
  /** Runs a function with `args`, and gives values that are computed on the way. */
  | {
      readonly kind: 'trace';
      readonly functionName: string;
      /** Names of the source; undefined: all that kernels give. */
      readonly values?: readonly string[] | undefined;
      /** Leaves out names that the program has no place for, and does not refuse them. */
      readonly skips: boolean;
    }
  /** Runs a function with `args` so many times, and tells what took how long. */
  | { readonly kind: 'timeline'; readonly functionName: string; readonly runs: number }
  /** Begins a debugging run of a function with `args`, of a number that the page chose. Answered when it is over. */
  | { readonly kind: 'debug'; readonly run: number; readonly functionName: string }
  | { readonly kind: 'debug order'; readonly run: number; readonly order: DebugOrder }
);

/** A picture, or one that is held, and what becomes of it. */
export interface PreparedPicture {
  readonly source: PictureSource | HeldSource;
  /** Of the picture only this part. */
  readonly part?: Rectangle | undefined;
  readonly steps: PictureSteps;
}

/** The number of a picture that the session holds. */
export interface HeldSource {
  readonly held: number;
}

/** Where a tensor lies in a buffer. */
export interface TensorPlace {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly byteOffset: number;
}

/** The part of a buffer of the GPU that a tensor lies in. */
export interface GpuRange {
  /** Made by Weft on the page's device, with STORAGE, COPY_SRC and COPY_DST; or the page's own that the tensor was made of. */
  readonly buffer: PageGpuBuffer;
  /** Where the elements begin. */
  readonly byteOffset: number;
  /** How many bytes they take, in whole words. */
  readonly byteLength: number;
}

/** A command to a debugging run, or a question about it. */
export type DebugOrder =
  | {
      readonly do:
        | 'start'
        | 'step'
        | 'stepOver'
        | 'stepOut'
        | 'stepBack'
        | 'continue'
        | 'pause'
        | 'memory'
        | 'close';
    }
  | { readonly do: 'seek'; readonly executed: number }
  | { readonly do: 'setBreakpoints'; readonly breakpoints: readonly Breakpoint[] }
  | { readonly do: 'registers'; readonly frame: number }
  | {
      readonly do: 'value';
      readonly frame: number;
      readonly register: number;
      readonly path: readonly number[];
    };

/** The answer to an order; a field for each kind of answer. */
export interface DebugReply {
  readonly stop?: DebugStop;
  readonly breakpoints?: readonly SetBreakpoint[];
  readonly registers?: readonly DebugValue[];
  readonly value?: DebugDetail;
  readonly memory?: DebugMemory;
}

export interface ControlReply {
  /** Runs that are paused, or that go on. */
  readonly calls: readonly PausedCall[];
  /** The bytes of a snapshot (uint8), what was stored beside the runs, or results of a run. */
  readonly results: readonly WireResult[];
  readonly note: string;
  readonly source?: KernelSource | undefined;
  readonly tuning?: SessionTuning | undefined;
  readonly verification?: RunComparison | undefined;
  /** Where each of the results was computed. */
  readonly trace?: readonly TracedPlace[] | undefined;
  readonly ranges?: readonly ValueRange[] | undefined;
  readonly timeline?: RunTimelines | undefined;
  /** Where the tensor lies that was asked for. */
  readonly range?: GpuRange | undefined;
  /** The tensor that was drawn. */
  readonly bitmap?: ImageBitmap | undefined;
  readonly debug?: DebugReply | undefined;
}

export interface SessionTuning extends TuningStep {
  /** True if the choices outlive the worker. */
  readonly isStored: boolean;
}

/** Device memory of a session, in bytes. */
export interface SessionMemory {
  /** Weights and other constants. */
  readonly constantBytes: number;
  /** Tensors in use. */
  readonly liveBytes: number;
  /** Freed and kept for the next allocation. */
  readonly pooledBytes: number;
  /** Temporary memory of kernels, which all sessions on a device share. */
  readonly scratchBytes: number;
  /** The most that was ever held: constants, pool and scratch included. */
  readonly peakBytes: number;
  /** Results that are functions and that the page has not disposed of. */
  readonly functions: number;
  /** Of a session that shares its device: with a `priority`, `pin`, or `configureWorker`. */
  readonly sharing?: SharingCounters | undefined;
}

/** The effects that sharing a device had on a session so far. */
export interface SharingCounters {
  /** True if its weights stay on the device, whatever the budget. */
  readonly isPinned: boolean;
  /** Its share of turns beside other sessions. */
  readonly priority: number;
  /** True while its weights are on the device. */
  readonly isResident: boolean;
  /** Calls that found the weights on the device. */
  readonly hits: number;
  /** Calls whose weights had to come back first. */
  readonly misses: number;
  /** How often weights left the device. */
  readonly evictions: number;
  /** How often weights came back to the device. */
  readonly restores: number;
  /** Bytes of weights that left the device, in all. */
  readonly evictedBytes: number;
  /** Bytes of weights that came back, in all. */
  readonly restoredBytes: number;
  /** How often the session was built again after its device was lost. */
  readonly rebuilds: number;
  /** Calls that began again, after a loss or for want of memory. */
  readonly retries: number;
  /** Time that its calls had the device. */
  readonly deviceMs: number;
  /** Bytes that all sessions hold on the device now. */
  readonly heldBytes: number;
  /** The most bytes that all sessions held on the device at one time. */
  readonly peakHeldBytes: number;
  /** The most bytes that all sessions may hold; Infinity without a budget. */
  readonly budgetBytes: number;
}
