import { checkOptions, having, type OptionKinds } from '../../core/check-options.ts';
import { UsageError } from '../../core/errors.ts';
import type { ExternalDataReader } from '../onnx/protobuf/external-data.ts';
import type { SampleMoments } from './samples/sample-moments.ts';

/** Bits that a weight may have: of a code, or of float16. */
export type WeightBits = 4 | 8 | 16;

/** How the weights of a model are rounded. */
export interface QuantizeOptions {
  /**
   * Bits of the codes of matrices: 8, which is the default, or 4. Convolutions have 8 always. 16: weights and arithmetic
   * become float16.
   */
  readonly bits?: WeightBits | undefined;
  /**
   * Only weights change, whatever `ranges` say; with 16 bits they are stored as float16, and all is computed in float32.
   * Default false.
   */
  readonly weightsOnly?: boolean | undefined;
  /** Elements of a matrix's column that share a scale: a power of two from 16 up. Default: 32. */
  readonly block?: number | undefined;
  /** True if half of the range of codes stands for 0. By default each block has a zero point. */
  readonly symmetric?: boolean | undefined;
  /** Nodes whose weights stay as they are, by name, or by their first output where they have none. */
  readonly keep?: readonly string[] | undefined;
  /**
   * The least and the largest element of values of the model's main graph, by name, as samples had them: those that
   * convolutions read and give are rounded to uint8 between them. Without a range a value stays float. With 16 bits: nodes
   * whose values come near the end of float16 stay in float32.
   */
  readonly ranges?: Readonly<Record<string, readonly [least: number, most: number]>> | undefined;
  /**
   * Moments of the inputs of convolutions and products in samples: codes are rounded so that errors
   * which these inputs would show cancel out.
   */
  readonly moments?: SampleMoments | undefined;
  /** Reads tensors that lie in other files than the model. */
  readonly externalData?: ExternalDataReader | undefined;
  /**
   * The name of the file that is to lie beside the result where that would be too large for one, 2 GB.
   * Default: `model.onnx.data`.
   */
  readonly dataFile?: string | undefined;
  /** The most bytes of a model without a file beside it. Default: what protobuf can read, 2 GB. */
  readonly maxByteLength?: number | undefined;
}

export interface CheckedOptions {
  readonly bits: WeightBits;
  readonly weightsOnly: boolean;
  readonly block: number;
  readonly symmetric: boolean;
  readonly keep: ReadonlySet<string>;
  readonly ranges: ReadonlyMap<string, readonly [least: number, most: number]>;
  readonly moments: SampleMoments | undefined;
  readonly externalData: ExternalDataReader | undefined;
  readonly dataFile: string;
  readonly maxByteLength: number;
}

const SMALLEST_BLOCK = 16;
const LARGEST_BLOCK = 2 ** 16;
/** Messages of protobuf end at 2 GiB; the nodes of a model are small. */
const MAX_BYTE_LENGTH = 2 ** 31 - 2 ** 26;

const QUANTIZE_OPTIONS: OptionKinds<QuantizeOptions> = {
  bits: 'number',
  weightsOnly: 'boolean',
  block: 'number',
  symmetric: 'boolean',
  keep: 'names',
  ranges: 'object',
  moments: having('SampleMoments', 'reached'),
  externalData: 'function',
  dataFile: 'text',
  maxByteLength: 'number',
};

/** Throws UsageError for bits or blocks that there are not. */
export function checkedOptions(options: QuantizeOptions): CheckedOptions {
  checkOptions<QuantizeOptions>('quantize', options, QUANTIZE_OPTIONS);
  const { bits = 8, block = 32, symmetric = false, moments, externalData } = options;
  const { dataFile = 'model.onnx.data', maxByteLength = MAX_BYTE_LENGTH } = options;
  const { weightsOnly = false } = options;
  if (bits !== 4 && bits !== 8 && bits !== 16) {
    throw new UsageError({
      where: 'quantize',
      got: `${String(bits)} bits`,
      expected: '4, 8 or 16',
    });
  }
  const isPower = Number.isInteger(Math.log2(block));
  if (!isPower || block < SMALLEST_BLOCK || block > LARGEST_BLOCK) {
    const expected = `a power of two from ${SMALLEST_BLOCK} to ${LARGEST_BLOCK}`;
    throw new UsageError({ where: 'quantize', got: `blocks of ${String(block)}`, expected });
  }
  const keep = new Set(options.keep);
  const ranges = new Map(Object.entries(options.ranges ?? {}));
  return {
    bits,
    weightsOnly,
    block,
    symmetric,
    keep,
    ranges,
    moments,
    externalData,
    dataFile,
    maxByteLength,
  };
}
