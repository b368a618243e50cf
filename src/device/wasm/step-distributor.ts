import type { LoadedCode } from './module-compiler.ts';
import type { StepAccess, StepPlan } from './step-plan.ts';
import type { WasmBuffer, WasmMemory } from './memory/wasm-memory.ts';

/** The order of launches where some are not over when `launch` returns. */
export interface LaunchOrder {
  /** True while no launch is unfinished. */
  readonly isIdle: boolean;
  /** While it is set, all are over at once. */
  isPaused: boolean;
  /** Does something after all that was submitted before: at once where that is over. */
  submit(task: () => void): void;
  /** The result of such a task. Rejects with the first error of tasks since the last one that asked. */
  finish<T>(task: () => T): Promise<T>;
  /** Resolves after all that was submitted, however that went. */
  settle(): Promise<void>;
  /** Bytes of the memory at the moment, from an address on. */
  view(address: number, byteLength: number): Uint8Array;
}

/**
 * Has parts of steps done by threads that have memories of their own. Their results arrive later: what is
 * launched meanwhile waits, and whoever reads waits for it.
 */
export interface StepDistributor extends LaunchOrder {
  /** Threads that work at the moment, or will, this one included. */
  readonly threadCount: number;
  /** Submits runs of a step. Undefined where it is not worth sharing. */
  distribute(step: DistributableStep): RunStep | undefined;
  /** Resolves when threads are there, where that is to be awaited before steps run. */
  ready(): Promise<void>;
  dispose(): void;
}

export type CreateDistributor = (memory: WasmMemory) => StepDistributor;

export interface DistributableStep {
  readonly plan: StepPlan & { readonly access: StepAccess };
  readonly code: LoadedCode;
}

/** With the arguments of the step's function, of which some are addresses of constants. */
export type RunStep = (
  args: readonly number[],
  constants: readonly (StepConstant | undefined)[],
) => void;

/** A part of a constant, or its packed form: the bytes stay the same while the buffer lives. */
export interface StepConstant {
  readonly buffer: WasmBuffer;
  /** Its place in the buffer, and its layout. */
  readonly name: string;
}
