import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import type { CompileModeOption } from '../../core/contracts/compile-mode.ts';
import type { RatesOfBoth } from '../../core/contracts/device-rates.ts';
import type { PrecisionOption } from '../../core/contracts/precision.ts';
import type { MachineLimits, ProgramLimits } from '../../core/limits/program-limits.ts';
import type { Dims, Dispatch } from './dispatch-sizes.ts';
import type { DeviceKind } from './loaded-session.ts';
import type { WireSource } from './wire-source.ts';

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
  /** Speeds of these devices; set where the model is compiled. */
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
