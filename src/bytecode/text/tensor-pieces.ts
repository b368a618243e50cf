import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { DataBlock } from '../file/data-layout.ts';

/** A tensor and where it begins in the data section. */
export interface TensorPiece {
  readonly byteOffset: number;
  readonly tensor: HostTensor;
}

/**
 * A data section that is not in memory as one array: its tensors in order. What lies in files is read
 * for each block, so that a section may be larger than memory.
 */
export class TensorPieces {
  readonly byteLength: number;
  readonly #pieces: readonly TensorPiece[];

  constructor(pieces: readonly TensorPiece[], byteLength: number) {
    this.#pieces = pieces;
    this.byteLength = byteLength;
  }

  /** The section in order and without gaps. */
  *blocks(blockByteLength: number): Generator<DataBlock, void> {
    let first = 0;
    for (let start = 0; start < this.byteLength; start += blockByteLength) {
      const end = Math.min(start + blockByteLength, this.byteLength);
      while (endOf(this.#pieces[first]) <= start) first++;
      yield { byteOffset: start, bytes: this.#block(first, start, end) };
    }
  }

  /** The bytes from `start` to `end`; pieces before `first` end before them. */
  #block(first: number, start: number, end: number): Uint8Array {
    const only = this.#pieces[first];
    if (only !== undefined && only.byteOffset <= start && endOf(only) >= end) {
      return only.tensor.storedBytes(start - only.byteOffset, end - start);
    }
    const bytes = new Uint8Array(end - start);
    for (let i = first; i < this.#pieces.length; i++) {
      const piece = this.#pieces[i];
      if (piece === undefined || piece.byteOffset >= end) break;
      const from = Math.max(start, piece.byteOffset);
      const byteLength = Math.max(0, Math.min(end, endOf(piece)) - from);
      bytes.set(piece.tensor.storedBytes(from - piece.byteOffset, byteLength), from - start);
    }
    return bytes;
  }

  /** The tensor of this number in the section. */
  tensor(index: number): HostTensor | undefined {
    return this.#pieces[index]?.tensor;
  }
}

/** Where a piece ends; there is always one that ends behind the begin of a block. */
function endOf(piece: TensorPiece | undefined): number {
  return piece === undefined ? Infinity : piece.byteOffset + piece.tensor.storedByteLength;
}
