import { constant } from '../../../compiler/ir/build.ts';
import { HostTensor } from '../../../core/host-tensor.ts';
import type { WeightQuantizer } from '../../../frontend/text/weight-quantizer.ts';
import { decodeElements } from '../../files/blocks/decode-elements.ts';
import { floats } from './tensor-calls.ts';
import type { Matrix, StoredMatrix } from './weight.ts';

interface QuantizedOptions {
  /** In the file. */
  readonly name: string;
  /** Whether it has a row for each token. */
  readonly isVocabulary: boolean;
  readonly quantizer: WeightQuantizer;
}

/** A matrix of stored elements, rounded to blocks of codes; in float32 where these do not divide its rows. */
export function quantizedMatrix(
  bytes: Uint8Array,
  { rows, columns, type, where }: StoredMatrix,
  { name, isVocabulary, quantizer }: QuantizedOptions,
): Matrix {
  const values = decodeElements(bytes, { type, count: rows * columns, where });
  const coded = quantizer.quantize(name, values, { columns, isVocabulary });
  if (coded === undefined) {
    return { kind: 'dense', rows, columns, elements: floats([rows, columns], values) };
  }
  const { bits, codes, scales } = coded;
  const blocks = scales.length / rows;
  const blockSize = columns / blocks;
  const shape = [rows, blocks, (blockSize * bits) / 8];
  return {
    kind: 'blocks',
    rows,
    columns,
    bits,
    blockSize,
    codes: constant(new HostTensor('uint8', shape, codes)),
    scales: floats([rows, blocks], scales),
    zeros: undefined,
  };
}
