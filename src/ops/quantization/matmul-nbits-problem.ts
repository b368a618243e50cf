import type { Attributes, ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { intAttribute } from '../attributes.ts';
import { isFloat } from '../elementwise/number-dtypes.ts';
import type { LoweringCall } from '../lowering/lowering.ts';

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
  /** How many matrices there are, of which each row has one by an index; undefined: one for all rows. */
  readonly matrices: number | undefined;
}

type NbitsCall = Pick<LoweringCall, 'inputs' | 'attributes'>;

/** The problem of `matmul_nbits`. */
export function nbitsProblem({ inputs, attributes }: NbitsCall): NbitsProblem {
  const [a, b, , zeros] = inputs;
  return problemOf(attributes, { a, b, zeros, matrices: undefined });
}

/** The problem of `gather_matmul_nbits`. */
export function gatheredNbitsProblem({ inputs, attributes }: NbitsCall): NbitsProblem {
  const [a, b, , , zeros] = inputs;
  return problemOf(attributes, { a, b, zeros, matrices: b?.shape[0] ?? 0 });
}

interface ProblemTypes {
  readonly a: ConcreteTensorType | undefined;
  readonly b: ConcreteTensorType | undefined;
  readonly zeros: ConcreteTensorType | undefined;
  readonly matrices: number | undefined;
}

function problemOf(attributes: Attributes, { a, b, zeros, matrices }: ProblemTypes): NbitsProblem {
  const [n = 0, blocks = 0] = b?.shape.slice(-3) ?? [];
  return {
    m: elementCount(a?.shape.slice(0, -1) ?? []),
    n,
    k: a?.shape.at(-1) ?? 0,
    bits: intAttribute(attributes, 'bits'),
    blocks,
    blockSize: intAttribute(attributes, 'block_size'),
    zeros: zeros === undefined ? 'none' : isFloat(zeros.dtype) ? 'floats' : 'packed',
    zeroBytes: zeros?.shape.at(-1) ?? 0,
    matrices,
  };
}
