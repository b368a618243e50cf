import type { OpDefinition } from '../define-op.ts';
import { dequantize } from './dequantize.ts';
import { convInteger } from './conv-integer.ts';
import { matmulInteger } from './matmul-integer.ts';
import { matmulNbits } from './matmul-nbits.ts';
import { quantize } from './quantize.ts';

export const QUANTIZATION_OPS: readonly OpDefinition[] = [
  quantize,
  dequantize,
  matmulInteger,
  convInteger,
  matmulNbits,
];
