import type { Lowering } from '../lowering.ts';
import { lowerConvInteger, lowerMatmulInteger } from './integer-lowering.ts';
import { lowerMatmulNbits } from './matmul-nbits-lowering.ts';
import type { QuantizationName } from './quantization-ops.ts';

export const QUANTIZATION_WEBGPU = {
  matmul_integer: lowerMatmulInteger,
  conv_integer: lowerConvInteger,
  matmul_nbits: lowerMatmulNbits,
} satisfies Partial<Record<QuantizationName, Lowering>>;
