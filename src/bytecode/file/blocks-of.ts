import type { DataBlock } from './data-layout.ts';
import { DEFAULT_BLOCK_BYTE_LENGTH } from './file-format.ts';
import { TensorPieces } from '../text/tensor-pieces.ts';

/** A data section in order and without gaps. */
export function blocksOf(data: Uint8Array | TensorPieces): Iterable<DataBlock> {
  return data instanceof TensorPieces
    ? data.blocks(DEFAULT_BLOCK_BYTE_LENGTH)
    : [{ byteOffset: 0, bytes: data }];
}
