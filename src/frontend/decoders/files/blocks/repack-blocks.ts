import type { BlockFormat, UnpackedBlock } from './block-format.ts';
import { eachBlock } from './each-block.ts';

/** Rows of codes in blocks, as the operator `matmul_nbits` reads them. */
export interface BlockCodes {
  readonly bits: 4 | 8;
  /** Elements of a block along a row. */
  readonly blockSize: number;
  /** (rows, blocks, blockSize * bits / 8): codes from the low bits up. */
  readonly codes: Uint8Array<ArrayBuffer>;
  /** (rows, blocks). */
  readonly scales: Float32Array<ArrayBuffer>;
  /** The code of 0 in each block, (rows, blocks); half the range where absent. */
  readonly zeros: Float32Array<ArrayBuffer> | undefined;
}

/**
 * Blocks of a file as codes of 4 or 8 bits: element i of a block is (code - zero) scale.
 *
 * Formats without minimums lose nothing: each element is the same float32. With minimums (Q4_K, Q5_1) codes
 * and scales are the same, and the minimum becomes the zero point minimum / scale, rounded once: an element
 * moves by at most a rounding of float32 of its minimum, which is what one addition of a product loses.
 */
export function repackBlocks(bytes: Uint8Array, format: BlockFormat): BlockCodes {
  const { bits, elements, group, hasMinimums } = format;
  const count = (bytes.byteLength / format.bytes) * elements;
  const codes = new Uint8Array((count * bits) / 8);
  const scales = new Float32Array(count / group);
  const zeros = hasMinimums ? new Float32Array(count / group) : undefined;
  // Symmetric codes are counted from half of their range, which is the zero that goes without saying.
  const shift = hasMinimums ? 0 : 2 ** (bits - 1) - format.zero;
  eachBlock(bytes, format, (block, index) => {
    const first = (index * elements) / group;
    if (zeros !== undefined) zeros.set(zeroPoints(block, group), first);
    scales.set(block.scales, first);
    for (let i = 0; i < elements; i += 8 / bits) {
      const low = (block.codes[i] ?? 0) + shift;
      const high = bits === 4 ? (block.codes[i + 1] ?? 0) + shift : 0;
      codes[((index * elements + i) * bits) / 8] = low | (high << 4);
    }
  });
  return { bits, blockSize: group, codes, scales, zeros };
}

/** The zero points of groups. One without a scale is a constant: its minimum becomes the scale, -1 its elements. */
function zeroPoints({ codes, scales, minimums }: UnpackedBlock, group: number): Float32Array {
  return scales.map((scale, i) => {
    const minimum = minimums[i] ?? 0;
    if (scale !== 0) return minimum / scale;
    codes.fill(0, i * group, (i + 1) * group);
    scales[i] = minimum;
    return 1;
  });
}
