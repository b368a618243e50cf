import { elementCount } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { isFloat } from '../elementwise/number-dtypes.ts';
import type { LoweringCall } from '../lowering.ts';

/** A product by weights of a few bits, whatever it is lowered to. */
export interface NbitsProblem {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly bits: number;
  readonly blocks: number;
  readonly blockSize: number;
  /** Where zero points are: nowhere, bit-packed as the codes are, or one float for each block. */
  readonly zeros: 'none' | 'packed' | 'floats';
  /** Bytes of bit-packed zero points in a row. */
  readonly zeroBytes: number;
}

export function nbitsProblem({
  inputs,
  attributes,
}: Pick<LoweringCall, 'inputs' | 'attributes'>): NbitsProblem {
  const [a, b, , zeros] = inputs;
  const [n = 0, blocks = 0] = b?.shape ?? [];
  return {
    m: elementCount(a?.shape.slice(0, -1) ?? []),
    n,
    k: a?.shape.at(-1) ?? 0,
    bits: intAttribute(attributes, 'bits'),
    blocks,
    blockSize: intAttribute(attributes, 'block_size'),
    zeros: zeros === undefined ? 'none' : isFloat(zeros.dtype) ? 'floats' : 'packed',
    zeroBytes: zeros?.shape.at(-1) ?? 0,
  };
}
