import type { BlockCodes } from './decode-blocks.ts';

/** How a matrix is coded in blocks. */
export interface BlockFormat {
  readonly bits: 4 | 8;
  /** Elements of a row that share a scale. */
  readonly blockSize: number;
  /** Whether half of the range of codes stands for 0; otherwise each block has a zero point. */
  readonly isSymmetric: boolean;
  /** A scale as it is stored. */
  readonly roundScale: (scale: number) => number;
}

/** Shares of the whole range that scales of 4 bits are tried for: to cut off a few elements may move all others less. */
const TRIED_SHARES = [1, 0.96, 0.92, 0.88, 0.84, 0.8, 0.76, 0.72];

/** How the elements of a block become codes. */
interface BlockScale {
  readonly scale: number;
  readonly zero: number;
}

/** Codes of a matrix (rows, columns), row by row: each block with the scale of those tried that moves its elements least. */
export function codeBlocks(
  values: ArrayLike<number>,
  columns: number,
  format: BlockFormat,
): BlockCodes {
  const { bits, blockSize, isSymmetric } = format;
  const rows = columns === 0 ? 0 : values.length / columns;
  const blocks = Math.ceil(columns / blockSize);
  const half = 2 ** (bits - 1);
  const codes = new Uint8Array((rows * blocks * blockSize * bits) / 8);
  const scales = new Float32Array(rows * blocks);
  const zerosOfRow = Math.ceil((blocks * bits) / 8);
  const zeros = isSymmetric ? undefined : new Uint8Array(rows * zerosOfRow);
  for (let i = 0; i < scales.length; i++) {
    const [row, block] = [Math.floor(i / blocks), i % blocks];
    const begin = row * columns + block * blockSize;
    const end = Math.min(begin + blockSize, (row + 1) * columns);
    const best = bestScale(values, [begin, end], format);
    scales[i] = best.scale;
    const code = coder(best, bits);
    for (let k = 0; k < blockSize; k++) {
      // What lies behind the last element of a row stands for 0.
      put(
        codes,
        i * blockSize + k,
        begin + k < end ? code(values[begin + k] ?? 0) : best.zero,
        bits,
      );
    }
    if (zeros) put(zeros, (row * zerosOfRow * 8) / bits + block, best.zero, bits);
    else if (best.zero !== half) throw new Error('internal: a zero point of a symmetric block');
  }
  return { bits, blockSize, columns, codes, scales, zeros };
}

function bestScale(
  values: ArrayLike<number>,
  [begin, end]: readonly [number, number],
  { bits, isSymmetric, roundScale }: BlockFormat,
): BlockScale {
  let [least, most] = [0, 0];
  for (let i = begin; i < end; i++) {
    const value = values[i] ?? 0;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  const half = 2 ** (bits - 1);
  if (least === 0 && most === 0) return { scale: 0, zero: half };
  const scaleOf = (share: number): BlockScale => {
    if (isSymmetric)
      return { scale: roundScale(share * symmetricScale(least, most, half)), zero: half };
    const scale = roundScale((share * (most - least)) / (2 * half - 1));
    const zero = Math.round((-share * least) / scale);
    return { scale, zero: Math.max(0, Math.min(2 * half - 1, zero)) };
  };
  const [first = 1, ...others] = TRIED_SHARES;
  let best = scaleOf(first);
  // A scale that is stored as 0 stands for nothing but zeros.
  if (best.scale === 0 || bits === 8) return best.scale === 0 ? { scale: 0, zero: half } : best;
  let error = squaredError(values, [begin, end], { ...best, bits });
  for (const share of others) {
    const tried = scaleOf(share);
    if (tried.scale === 0) continue;
    const own = squaredError(values, [begin, end], { ...tried, bits });
    if (own >= error) continue;
    [best, error] = [tried, own];
  }
  return best;
}

/** As ggml has it: with 8 bits the farthest element is 127 scales from 0, with 4 bits it is code 0, 8 scales below. */
function symmetricScale(least: number, most: number, half: number): number {
  if (half > 8) return Math.max(-least, most) / (half - 1);
  return (-least > most ? least : most) / -half;
}

function squaredError(
  values: ArrayLike<number>,
  [begin, end]: readonly [number, number],
  { scale, zero, bits }: BlockScale & { readonly bits: number },
): number {
  const last = 2 ** bits - 1;
  let sum = 0;
  for (let i = begin; i < end; i++) {
    const value = values[i] ?? 0;
    const code = Math.max(0, Math.min(last, Math.round(value / scale) + zero));
    sum += (value - (code - zero) * scale) ** 2;
  }
  return sum;
}

function coder({ scale, zero }: BlockScale, bits: number): (value: number) => number {
  const last = 2 ** bits - 1;
  if (scale === 0) return () => zero;
  return (value) => Math.max(0, Math.min(last, Math.round(value / scale) + zero));
}

/** Writes the code at an index, into zeros. */
function put(bytes: Uint8Array, index: number, code: number, bits: number): void {
  if (bits === 8) bytes[index] = code;
  else bytes[index >> 1] = (bytes[index >> 1] ?? 0) | (code << (4 * (index & 1)));
}
