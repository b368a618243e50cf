import type { Shape } from '../../../core/tensor/shape.ts';

/** A tensor as the table of a model file has it: nothing of its elements is read yet. */
export interface StoredTensor {
  readonly name: string;
  /** Row-major, the longest stride first. */
  readonly shape: Shape;
  /** The name of its elements' type or of its blocks: `F16`, `Q4_K`. It need not be one that Weft reads. */
  readonly type: string;
  /** The place of the first element, in bytes from the start of its file. */
  readonly byteOffset: number;
  /** Bytes in the file; undefined where the type is unknown. */
  readonly byteLength: number | undefined;
  readonly file?: string | undefined;
}
