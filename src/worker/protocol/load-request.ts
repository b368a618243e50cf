import { oneOf, type OptionKinds, THREADS_KIND } from '../../core/check-options.ts';
import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import { COMPILE_MODES, type CompileModeOption } from '../../core/contracts/compile-mode.ts';
import type { RatesOfBoth } from '../../core/contracts/device-rates.ts';
import { PRECISIONS, type PrecisionOption } from '../../core/contracts/precision.ts';
import type { MachineLimits, ProgramLimits } from '../../core/limits/program-limits.ts';
import type { Dims, Dispatch } from './dispatch-sizes.ts';
import type { DeviceKind } from './loaded-session.ts';
import type { WireSource } from './wire-source.ts';

/**
 * Options of a session that go to its worker as they are. One that is added here takes effect where the worker loads: those
 * of models in `compile/`, those of machines in `host/within-ceilings.ts`. Servers take it once `rpc/` has a check of it.
 */
export interface SentOptions extends ProgramLimits, CompileModeOption, PrecisionOption {
  /** Fixes symbolic dimensions of an ONNX model, such as `{ batch: 1 }`. */
  readonly dims?: Dims | undefined;
  /**
   * Makes clones of an ONNX model for intervals of sizes, chosen when it is called:
   * `{ main: { data: { 0: [[1, 2], [2, 8]] } } }`, or rules such as
   * `{ kind: 'logarithmic', min: 1, max: 512, base: 2 }`.
   */
  readonly dispatch?: Dispatch | undefined;
  /**
   * Places parts of an ONNX model beside WebGPU wherever a run then takes less time, copies counted, by measured
   * rates of both where there are such. Implies `device: 'webgpu'`. Default: only what WebGPU cannot run.
   */
  readonly devices?: readonly ['webgpu', 'wasm'] | undefined;
  /**
   * The most that compiling an ONNX model may take, for models that are not to be trusted, or that are
   * larger than the defaults allow. Beyond it a load rejects with CompileLimitError.
   */
  readonly compileLimits?: CompileLimits | undefined;
  /**
   * `indices`: an ONNX model also checks the indices that it computes, of Gather, Scatter and the like, and
   * a run with one out of bounds rejects with RuntimeError, which names the node. Each such operator then
   * waits for its indices and moves them to the processor and back. Constant indices and those of inputs
   * are always checked, before anything runs.
   */
  readonly check?: 'indices' | undefined;
  /** Keeps the weights on the device; see `configureWorker`. */
  readonly pin?: boolean | undefined;
  /**
   * Runs take turns with those of other sessions that have a priority or were loaded after
   * `configureWorker`, twice as many for twice the priority. Default 1.
   */
  readonly priority?: number | undefined;
  /**
   * Threads that share the work of the device `wasm`, the worker's own included: 1 to 64. Default: all
   * cores but one, at most 8; in a page that is not cross-origin isolated one, because threads have
   * memories of their own there, which take more memory and gain less. More than one need a worker:
   * else there is one; `Session.device` says how many there are. Sessions with as many share a
   * device.
   */
  readonly threads?: number | undefined;
}

/** A kind for each of them. */
export const SENT_OPTIONS: OptionKinds<SentOptions> = {
  dims: 'sizes',
  dispatch: 'object',
  devices: ['["webgpu", "wasm"]', (value) => String(value) === 'webgpu,wasm'],
  compileLimits: 'object',
  check: oneOf('indices'),
  byteBudget: 'bytes',
  programKernels: oneOf('allow', 'refuse'),
  workgroupLimit: 'positive',
  instructionLimit: 'positive',
  runTimeout: 'positive',
  deviceTimeout: 'positive',
  pin: 'boolean',
  priority: 'positive',
  threads: THREADS_KIND,
  compile: oneOf(...COMPILE_MODES),
  precision: oneOf(...PRECISIONS),
};

export interface LoadRequest extends SentOptions, MachineLimits {
  readonly source: WireSource;
  readonly device: DeviceKind | 'auto';
  readonly dims: Dims;
  /** Speeds of these devices; set where the model is compiled. */
  readonly rates?: RatesOfBoth | undefined;
  /** Names of functions that the page supplies. */
  readonly functions?: readonly string[] | undefined;
  /** Signatures and types of the functions that compute nodes of a model. */
  readonly nodeTypes?: PageNodeTypes | undefined;
}

/** Signatures of functions of a page that compute nodes; null where the page has to be asked. */
export type PageNodeTypes = Readonly<Record<string, string | null>>;

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
