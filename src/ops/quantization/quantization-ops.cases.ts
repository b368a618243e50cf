import type { OpCases } from '../op-cases.ts';
import { convIntegerCases } from './conv-integer.cases.ts';
import { dequantizeCases } from './dequantize.cases.ts';
import { matmulIntegerCases } from './matmul-integer.cases.ts';
import { gatherMatmulNbitsCases, matmulNbitsCases } from './matmul-nbits.cases.ts';
import type { QuantizationName } from './quantization-ops.ts';
import { quantizeCases } from './quantize.cases.ts';

export const QUANTIZATION_CASES = {
  quantize: quantizeCases,
  dequantize: dequantizeCases,
  matmul_integer: matmulIntegerCases,
  conv_integer: convIntegerCases,
  matmul_nbits: matmulNbitsCases,
  gather_matmul_nbits: gatherMatmulNbitsCases,
} satisfies Record<QuantizationName, OpCases>;
