/** Every tensor of the data section starts at a multiple of this many bytes. */
export const TENSOR_ALIGNMENT = 256;

export interface ByteRange {
  readonly byteOffset: number;
  readonly byteLength: number;
}

/** A piece of the data section: with a file, one that has been checked against its hash. */
export interface DataBlock {
  /** Where the block begins in the data section, in bytes. */
  readonly byteOffset: number;
  readonly bytes: Uint8Array;
}

/** Rounds up to a multiple of {@link TENSOR_ALIGNMENT}; right beyond 2^32 too. */
export function alignTensor(byteOffset: number): number {
  return Math.ceil(byteOffset / TENSOR_ALIGNMENT) * TENSOR_ALIGNMENT;
}

/** Lays tensors out in the order given, without gaps but for alignment. The one layout that the verifier accepts. */
export function layoutTensors(byteLengths: readonly number[]): ByteRange[] {
  let end = 0;
  return byteLengths.map((byteLength) => {
    const byteOffset = alignTensor(end);
    end = byteOffset + byteLength;
    return { byteOffset, byteLength };
  });
}

/** The length of a data section of ranges laid out so: where the last one ends. */
export function dataByteLengthOf(ranges: readonly ByteRange[]): number {
  const last = ranges.at(-1);
  return last === undefined ? 0 : last.byteOffset + last.byteLength;
}
