import type { WeightQuantizer } from '../../../frontend/text/weight-quantizer.ts';
import { decodeElements } from '../../files/blocks/decode-elements.ts';
import { blockMatrix, denseMatrix, type Matrix, type StoredMatrix } from './weight.ts';

interface QuantizedOptions {
  /** The name of the tensor in the file. */
  readonly name: string;
  /** True if it has a row for each token. */
  readonly isVocabulary: boolean;
  readonly quantizer: WeightQuantizer;
}

/** A matrix of stored elements, rounded to blocks of codes; in float32 where these do not divide its rows. */
export function quantizedMatrix(
  bytes: Uint8Array,
  stored: StoredMatrix,
  { name, isVocabulary, quantizer }: QuantizedOptions,
): Matrix {
  const { rows, columns, type, where } = stored;
  const values = decodeElements(bytes, { type, count: rows * columns, where });
  const coded = quantizer.quantize(name, values, { columns, isVocabulary });
  return coded === undefined ? denseMatrix(stored, values) : blockMatrix(stored, coded);
}
