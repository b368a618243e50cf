/** The parts of a block before it becomes numbers. Element i is (code - zero) scale - minimum. */
export interface UnpackedBlock {
  /** A code for each element, in their order. */
  readonly codes: Uint8Array;
  /** A scale for each group of elements. */
  readonly scales: Float32Array;
  /** A summand to subtract for each group; unused by symmetric formats. */
  readonly minimums: Float32Array;
}

/**
 * A format of blocks, as ggml lays them out. Products of codes and scales are exact in float32 in all of
 * these formats, so that ggml's order of operations and ours give the same bits.
 */
export interface BlockFormat {
  readonly elements: number;
  readonly bytes: number;
  /** Elements that share a scale. */
  readonly group: number;
  readonly bits: 4 | 8;
  /** The code that stands for 0. */
  readonly zero: number;
  /** True if groups have minimums. */
  readonly hasMinimums: boolean;
  /** Unpacks the block that begins at a byte. */
  readonly unpack: (view: DataView, at: number, into: UnpackedBlock) => void;
}
