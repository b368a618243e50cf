/** See {@link PrecisionOption.precision}. */
export type Precision = 'full' | 'fast';

export const PRECISIONS: readonly Precision[] = ['full', 'fast'];

/** How exactly devices multiply by weights of a few bits. */
export interface PrecisionOption {
  /**
   * How activations are multiplied by weights of 4 or 8 bits (`matmul_nbits`). `full`, the default: as float32. `fast`:
   * devices may round each block of activations to integers of 8 bits first, as llama.cpp does, which is an error of up to a
   * 254th of the block's largest element; `wasm` does so, other devices compute the same either way.
   */
  readonly precision?: Precision | undefined;
}
