import type { GpuDeviceLike, GpuLike } from '../core/contracts/gpu-like.ts';
import type { ServiceOptions } from '../worker/create-service.ts';
import type { PauseOptions } from '../core/contracts/paused-call.ts';
import type { MachineLimits } from '../core/limits/program-limits.ts';
import {
  type LoadProgress,
  SENT_OPTIONS,
  type SentOptions,
} from '../worker/protocol/load-request.ts';
import type { DeviceKind } from '../worker/protocol/loaded-session.ts';
import type { SessionProvider } from '../worker/protocol/session-service.ts';
import {
  either,
  fits,
  GPU_KIND,
  having,
  oneOf,
  type OptionKinds,
  THREADS_KIND,
} from '../core/check-options.ts';
import type { SessionFunctions } from './session-functions.ts';
import type { ExternalData, SessionSource } from './source.ts';

/** How and where a session is loaded. */
export interface LoadOptions extends SentOptions {
  /**
   * Default `auto`: WebGPU on graphics hardware, or `wasm` (kernels in WebAssembly, on the processor)
   * where that is faster or there is no such hardware, else WebGPU in software, else the host;
   * `Session.device` says what decided.
   */
  readonly device?: 'auto' | DeviceKind;
  /**
   * true, the default: the worker that the sessions of this page share. A function starts another
   * one, shared by the sessions that pass the same function and terminated with the last of them.
   * false: in this thread, which is also the default where there are no workers (Node).
   */
  readonly worker?: boolean | (() => Worker);
  /**
   * The folder that holds copies of the package's `dist/worker`, for pages whose bundler or policy needs
   * these files elsewhere.
   */
  readonly workerFiles?: string | URL;
  /**
   * Rejects with WorkerError when the worker has not answered so many milliseconds after it was started.
   * Default 30,000. Holds for the session that starts the worker.
   */
  readonly workerTimeout?: number;
  /** Aborts the load, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the progress of the load. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  /**
   * Keeps the file at an address, and those with its weights beside it, in the private files of the browser, where there are such:
   * a load that broke off goes on, the next one asks the server only whether the version (`ETag`) is still the same, and without a
   * connection what is whole is used. See {@link modelCache}. Default false: small files are well kept by HTTP.
   */
  readonly cache?: boolean;
  /**
   * The hash of the file at an address, or hashes of files by their names in its folder: `sha256-`, `sha384-` or `sha512-` and
   * base64. All bytes are checked before any is used; with `cache` a file that is kept is used without asking the server.
   */
  readonly integrity?: string | Readonly<Record<string, string>>;
  /**
   * For an ONNX model that comes as bytes or a Blob: gives the file of a name in which tensors of it lie, such as
   * `model.onnx_data`. Beside an address files are found without it.
   */
  readonly externalData?: ExternalData;
  /**
   * Limits of the machine that runs the program; a worker or a server that sets lower ones keeps to its own. A
   * run beyond them rejects with RuntimeError or OutOfMemoryError.
   */
  readonly limits?: MachineLimits;
  /**
   * Functions that the program calls by these names (`extern def`), wherever the session runs. Each call goes to
   * this thread and back. One that throws ends the run with its error. `{ type, run }` under a name such as
   * `my.domain::Op` computes the nodes of that operator of an ONNX model.
   */
  readonly functions?: SessionFunctions;
  /**
   * With `worker: false`: the WebGPU to use. Default `navigator.gpu`. With `device: 'webgpu'` too: a GPUDevice of the page's own,
   * whose textures and buffers need not be copied then: `preparePicturesOnDevice` of `weft-vm/tasks`, `session.fromGpuBuffer`,
   * `tensor.gpuBuffer`. It stays the page's, which alone destroys it.
   */
  readonly gpu?: GpuLike | GpuDeviceLike;
  /**
   * With `worker: false`: the operators that programs may call. With `remote`: those that a model is
   * compiled with. Default: the core operators.
   */
  readonly operators?: ServiceOptions['operators'];
  /** With `worker: false` or `remote`: importers for operators of ONNX models that Weft does not read. */
  readonly importers?: ServiceOptions['importers'];
  /**
   * Runs the session on a device of another page or process: what `connect` of `weft-vm/rpc` gives. The
   * source is read here, and an ONNX model compiled in this thread; then `device` chooses among what is
   * served, `auto` the first one. The options of workers mean nothing then.
   */
  readonly remote?: SessionProvider;
}

/** Where and how a model runs, for what loads its own session. */
export type PlaceOptions = Pick<
  LoadOptions,
  | 'device'
  | 'worker'
  | 'workerFiles'
  | 'workerTimeout'
  | 'threads'
  | 'precision'
  | 'gpu'
  | 'remote'
  | 'compileLimits'
>;

/** How a session goes on with a snapshot. */
export interface ResumeOptions extends LoadOptions {
  /** The very program that was running: a `.weft` file, or a model with the same options. */
  readonly executable: SessionSource;
  /** Leaves the session paused until {@link Session.continue}. */
  readonly paused?: boolean;
}

/** How one run is done. */
export interface RunOptions {
  /** Aborts the run, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** The function to call. Default `main`. */
  readonly function?: string;
  /** Where results go. `device`, or names of results: {@link DeviceTensor} handles of all, or of these. Default `host`. */
  readonly keep?: 'host' | 'device' | readonly string[];
  /**
   * Names of inputs whose {@link DeviceTensor}s the run takes over, so that it may change them in place. Using them
   * afterwards is an error, also when the run fails.
   */
  readonly donate?: readonly string[];
  /** Moves the data of input tensors to the worker instead of copying it: they are empty then. */
  readonly transfer?: boolean;
}

export const LOAD_OPTIONS: OptionKinds<LoadOptions> = {
  device: oneOf('auto', 'webgpu', 'wasm', 'host'),
  worker: either('boolean', 'function'),
  workerFiles: 'address',
  workerTimeout: 'milliseconds',
  signal: 'signal',
  onProgress: 'function',
  cache: 'boolean',
  integrity: either('text', 'object'),
  externalData: 'function',
  ...SENT_OPTIONS,
  limits: 'object',
  functions: 'object',
  gpu: GPU_KIND,
  operators: 'operators',
  importers: 'object',
  remote: having('what connect of weft-vm/rpc gives', 'openService'),
};

/** Kinds of {@link PlaceOptions}. */
export const PLACE_OPTIONS: OptionKinds<PlaceOptions> = {
  device: LOAD_OPTIONS.device,
  worker: LOAD_OPTIONS.worker,
  workerFiles: 'address',
  workerTimeout: 'milliseconds',
  threads: THREADS_KIND,
  precision: LOAD_OPTIONS.precision,
  gpu: GPU_KIND,
  remote: LOAD_OPTIONS.remote,
  compileLimits: 'object',
};

export const RESUME_OPTIONS: OptionKinds<ResumeOptions> = {
  ...LOAD_OPTIONS,
  executable: ['a program', (value) => value !== undefined],
  paused: 'boolean',
};

export const RUN_OPTIONS: OptionKinds<RunOptions> = {
  signal: 'signal',
  function: 'text',
  // Where the run is, lists are compared with names of the function.
  keep: either(oneOf('host', 'device'), 'names'),
  donate: 'names',
  transfer: 'boolean',
};

export const PAUSE_OPTIONS: OptionKinds<PauseOptions> = {
  at: [
    '{ function, instruction }',
    (at) => fits('text', Object(at).function) && fits('count from 0', Object(at).instruction),
  ],
  visit: 'count',
  signal: 'signal',
};
