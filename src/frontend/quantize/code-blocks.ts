import type { BlockCodes } from './decode-blocks.ts';
import { type ErrorFeedback, roundWithFeedback } from './samples/error-feedback.ts';

interface BlockFormat {
  readonly bits: 4 | 8;
  /** Elements of a row that share a scale. */
  readonly blockSize: number;
  /** True if half of the range of codes stands for 0; otherwise each block has a zero point. */
  readonly isSymmetric: boolean;
  /** Rounds a scale to how it is stored. */
  readonly roundScale: (scale: number) => number;
  /** How errors of a row carry over, where samples of what it is multiplied by say so. */
  readonly feedback?: ErrorFeedback | undefined;
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
  for (let row = 0; row < rows; row++) {
    const own: BlockScale[] = [];
    for (let block = 0; block < blocks; block++) {
      const i = row * blocks + block;
      const begin = row * columns + block * blockSize;
      const best = bestScale(
        values,
        [begin, Math.min(begin + blockSize, (row + 1) * columns)],
        format,
      );
      own.push(best);
      scales[i] = best.scale;
      if (zeros) put(zeros, (row * zerosOfRow * 8) / bits + block, best.zero, bits);
      else if (best.zero !== half) throw new Error('internal: a zero point of a symmetric block');
    }
    codeRow(codes, own, { values, row, columns, ...format });
  }
  return { bits, blockSize, columns, codes, scales, zeros };
}

interface Row extends BlockFormat {
  readonly values: ArrayLike<number>;
  readonly row: number;
  readonly columns: number;
}

/** Writes the codes of a row whose blocks have these scales. */
function codeRow(
  codes: Uint8Array,
  scales: readonly BlockScale[],
  { values, row, columns, bits, blockSize, feedback }: Row,
): void {
  const first = row * scales.length * blockSize;
  const coders = scales.map((scale) => coder(scale, bits));
  const zeroOf = (k: number): number => scales[Math.floor(k / blockSize)]?.zero ?? 0;
  const write = (value: number, k: number): number => {
    const block = Math.floor(k / blockSize);
    const code = coders[block]?.(value) ?? 0;
    put(codes, first + k, code, bits);
    return (code - zeroOf(k)) * (scales[block]?.scale ?? 0);
  };
  const elements = Float64Array.from({ length: columns }, (_, k) => values[row * columns + k] ?? 0);
  if (feedback === undefined) elements.forEach(write);
  else roundWithFeedback(elements, feedback, write);
  // Codes that fill the last block of a row stand for 0.
  for (let k = columns; k < scales.length * blockSize; k++) put(codes, first + k, zeroOf(k), bits);
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
