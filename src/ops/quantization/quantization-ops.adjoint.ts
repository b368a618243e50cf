import type { Adjoint } from '../adjoint/adjoint.ts';
import { formulaAdjoint } from '../adjoint/formula-adjoint.ts';
import { dequantize } from './dequantize.ts';
import { gatherMatmulNbitsAdjoint, matmulNbitsAdjoint } from './matmul-nbits.adjoint.ts';
import type { QuantizationName } from './quantization-ops.ts';

const { formula } = dequantize.scalar ?? {};

export const QUANTIZATION_ADJOINTS = {
  quantize: 'discrete',
  dequantize: formula === undefined ? 'zero' : formulaAdjoint(formula),
  matmul_integer: 'discrete',
  conv_integer: 'discrete',
  matmul_nbits: matmulNbitsAdjoint,
  gather_matmul_nbits: gatherMatmulNbitsAdjoint,
} satisfies Record<QuantizationName, Adjoint>;
