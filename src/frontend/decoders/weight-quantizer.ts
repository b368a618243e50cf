import { UsageError } from '../../core/errors.ts';
import { float16ToNumber, numberToFloat16 } from '../../core/tensor/float16.ts';
import { decodeBlocks } from '../quantize/decode-blocks.ts';

/** Formats that weights can be rounded to, as llama.cpp names them. */
export const QUANTIZATIONS = ['q8_0', 'q4_0'] as const;

/** Blocks of 32 elements with a scale each, of codes of 8 or of 4 bits. */
export type Quantization = (typeof QUANTIZATIONS)[number];

/** Elements that share a scale. */
export const BLOCK_SIZE = 32;

/** Rows of codes, as the operator `matmul_nbits` reads them. */
export interface CodedRows {
  readonly bits: 4 | 8;
  /** (rows, blocks, 32 * bits / 8): codes from the low bits up; half the range is 0. */
  readonly codes: Uint8Array<ArrayBuffer>;
  /** (rows, blocks): float32 that float16 holds, as in files. */
  readonly scales: Float32Array<ArrayBuffer>;
}

/** Errors of rounded weights: root mean squares, relative to those of the weights. */
interface QuantizationReport {
  readonly matrices: number;
  /** The error of the elements of all matrices together. */
  readonly error: number;
  /** The matrix with the largest error of its own. */
  readonly worst: { readonly name: string; readonly error: number };
  /** Matrices whose rows are no multiple of 32 elements, which stay as they were. */
  readonly kept: readonly string[];
}

/** Rounds the matrices of a model, and sums up how far that moved them. */
export class WeightQuantizer {
  readonly format: Quantization;
  #matrices = 0;
  #squaredError = 0;
  #squaredSum = 0;
  #worst = { name: '', error: 0 };
  readonly #kept: string[] = [];

  /** Throws UsageError for a format that there is not. */
  constructor(format: Quantization) {
    if (!QUANTIZATIONS.includes(format)) {
      const expected = `one of ${QUANTIZATIONS.join(', ')}`;
      throw new UsageError({ where: 'quantize', got: JSON.stringify(format), expected });
    }
    this.format = format;
  }

  /**
   * The codes of a matrix (rows, columns), row by row; undefined where blocks do not divide its rows. Embeddings and what
   * gives the logits have 8 bits always, as llama.cpp keeps them finer than the rest.
   */
  quantize(
    name: string,
    values: ArrayLike<number>,
    { columns, isVocabulary }: { readonly columns: number; readonly isVocabulary: boolean },
  ): CodedRows | undefined {
    if (columns % BLOCK_SIZE !== 0) {
      this.#kept.push(name);
      return undefined;
    }
    const rows = quantizeRows(values, isVocabulary ? 'q8_0' : this.format);
    this.#add(name, values, rows);
    return rows;
  }

  get report(): QuantizationReport {
    const error = relative(this.#squaredError, this.#squaredSum);
    return { matrices: this.#matrices, error, worst: this.#worst, kept: this.#kept };
  }

  #add(name: string, values: ArrayLike<number>, rows: CodedRows): void {
    let [error, sum] = [0, 0];
    // Blocks divide rows, so that all of them can be read as one.
    const columns = values.length;
    const decoded = decodeBlocks({ ...rows, blockSize: BLOCK_SIZE, columns, zeros: undefined });
    for (let i = 0; i < values.length; i++) {
      const value = values[i] ?? 0;
      error += (value - (decoded[i] ?? 0)) ** 2;
      sum += value ** 2;
    }
    const own = relative(error, sum);
    this.#matrices++;
    this.#squaredError += error;
    this.#squaredSum += sum;
    if (own >= this.#worst.error) this.#worst = { name, error: own };
  }
}

const relative = (error: number, sum: number): number => (sum === 0 ? 0 : Math.sqrt(error / sum));

/**
 * Rows in blocks, rounded as ggml's `quantize_row_q8_0_ref` and `quantize_row_q4_0_ref` do: with 8 bits the element
 * farthest from 0 is 127 scales from it, with 4 bits it is code 0, which stands for -8 scales.
 */
function quantizeRows(values: ArrayLike<number>, format: Quantization): CodedRows {
  const bits = format === 'q8_0' ? 8 : 4;
  const codes = new Uint8Array((values.length * bits) / 8);
  const scales = new Float32Array(values.length / BLOCK_SIZE);
  for (let block = 0; block < scales.length; block++) {
    const begin = block * BLOCK_SIZE;
    const farthest = farthestFrom0(values, begin);
    const scale = Math.fround(bits === 8 ? Math.abs(farthest) / 127 : farthest / -8);
    const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
    scales[block] = float16ToNumber(numberToFloat16(scale));
    const at = (i: number): number => Math.fround((values[begin + i] ?? 0) * inverse);
    if (bits === 8) {
      for (let i = 0; i < BLOCK_SIZE; i++) codes[begin + i] = rounded(at(i)) + 128;
    } else {
      const code = (i: number): number => Math.min(15, Math.trunc(Math.fround(at(i) + 8.5)));
      for (let i = 0; i < BLOCK_SIZE; i += 2) codes[(begin + i) / 2] = code(i) | (code(i + 1) << 4);
    }
  }
  return { bits, codes, scales };
}

function farthestFrom0(values: ArrayLike<number>, begin: number): number {
  let farthest = 0;
  for (let i = begin; i < begin + BLOCK_SIZE; i++) {
    const value = values[i] ?? 0;
    if (Math.abs(value) > Math.abs(farthest)) farthest = value;
  }
  return farthest;
}

/** `roundf` of C: halves go away from 0. */
const rounded = (value: number): number => Math.sign(value) * Math.floor(Math.abs(value) + 0.5);
