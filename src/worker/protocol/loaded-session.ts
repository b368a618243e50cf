import type { DType } from '../../core/tensor/dtype.ts';
import type { SessionId } from './reply.ts';

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
  readonly operator: string;
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

/** Where a session runs: on a GPU, or on the processor. */
export type DeviceKind = 'webgpu' | 'wasm' | 'host';

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
