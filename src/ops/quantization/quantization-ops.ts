import { dequantize } from './dequantize.ts';
import { convInteger } from './conv-integer.ts';
import { matmulInteger } from './matmul-integer.ts';
import { gatherMatmulNbits, matmulNbits } from './matmul-nbits.ts';
import { quantize } from './quantize.ts';

export const QUANTIZATION_OPS = [
  quantize,
  dequantize,
  matmulInteger,
  convInteger,
  matmulNbits,
  gatherMatmulNbits,
] as const;

export type QuantizationName = (typeof QUANTIZATION_OPS)[number]['name'];
