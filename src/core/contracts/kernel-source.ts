import type { Shape } from '../tensor/shape.ts';

/** The code that a device runs for a primitive function. */
export interface KernelSource {
  /** The name of the primitive function. */
  readonly kernel: string;
  /** Which references run over which values; a loop nest over WebAssembly's instructions; or WGSL. */
  readonly language: 'host' | 'wasm' | 'wgsl';
  /** Shapes of parameters, then of results, that the code is for. */
  readonly shapes: readonly Shape[];
  /**
   * `fixed`: all calls have these sizes. `latest`: the latest call had them. `sample`: they stand
   * in for those of calls to come.
   */
  readonly sizes: 'fixed' | 'latest' | 'sample';
  /** Launches or steps, in the order in which they run; none where the results have no elements. */
  readonly parts: readonly KernelPart[];
}

/** One launch of a shader, or one step of a processor. */
export interface KernelPart {
  /** Name of the shader, or of the operators of the step, as profiles have it. */
  readonly label: string;
  readonly code: string;
  /** Workgroups of the launch along x, y and z; absent on a processor. */
  readonly workgroups?: readonly [number, number, number];
}
