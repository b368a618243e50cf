/** The rows of a matrix as the operator MatMulNBits of com.microsoft reads them. */
export interface BlockCodes {
  readonly bits: 4 | 8;
  readonly blockSize: number;
  /** Elements of a row; the last block of a row may have fewer than the others. */
  readonly columns: number;
  /** (rows, blocks, blockSize * bits / 8): codes from the low bits up. */
  readonly codes: Uint8Array<ArrayBuffer>;
  /** (rows, blocks) */
  readonly scales: Float32Array<ArrayBuffer>;
  /** (rows, ceil(blocks * bits / 8)): the code that stands for 0, from the low bits up; undefined for half of the range. */
  readonly zeros: Uint8Array<ArrayBuffer> | undefined;
}

/** The elements that codes stand for, (rows, columns). */
export function decodeBlocks({
  bits,
  blockSize,
  columns,
  codes,
  scales,
  zeros,
}: BlockCodes): Float32Array<ArrayBuffer> {
  const blocks = Math.ceil(columns / blockSize);
  const rows = blocks === 0 ? 0 : scales.length / blocks;
  const zerosOfRow = Math.ceil((blocks * bits) / 8);
  const values = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    for (let block = 0; block < blocks; block++) {
      const at = row * blocks + block;
      const scale = scales[at] ?? 0;
      const zero = zeros
        ? get(zeros, (row * zerosOfRow * 8) / bits + block, bits)
        : 2 ** (bits - 1);
      const count = Math.min(blockSize, columns - block * blockSize);
      const begin = row * columns + block * blockSize;
      for (let k = 0; k < count; k++) {
        values[begin + k] = (get(codes, at * blockSize + k, bits) - zero) * scale;
      }
    }
  }
  return values;
}

function get(bytes: Uint8Array, index: number, bits: number): number {
  if (bits === 8) return bytes[index] ?? 0;
  return ((bytes[index >> 1] ?? 0) >> (4 * (index & 1))) & 15;
}
