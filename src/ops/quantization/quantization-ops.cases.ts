import { inlineCases } from '../inline-parts.ts';
import type { OpCases } from '../op-cases.ts';
import { convIntegerCases } from './conv-integer.cases.ts';
import { dequantize } from './dequantize.ts';
import { matmulIntegerCases } from './matmul-integer.cases.ts';
import { matmulNbitsCases } from './matmul-nbits.cases.ts';
import type { QuantizationName } from './quantization-ops.ts';
import { quantize } from './quantize.ts';

export const QUANTIZATION_CASES = {
  ...inlineCases([quantize, dequantize]),
  matmul_integer: matmulIntegerCases,
  conv_integer: convIntegerCases,
  matmul_nbits: matmulNbitsCases,
} satisfies Omit<Record<QuantizationName, OpCases>, 'quantize' | 'dequantize'>;
