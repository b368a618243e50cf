import type { Lowering } from '../lowering.ts';
import { lowerConvInteger, lowerMatmulInteger } from './integer-lowering.ts';
import { lowerGatherMatmulNbits, lowerMatmulNbits } from './matmul-nbits-lowering.ts';
import type { QuantizationName } from './quantization-ops.ts';

export const QUANTIZATION_WEBGPU = {
  matmul_integer: lowerMatmulInteger,
  conv_integer: lowerConvInteger,
  matmul_nbits: lowerMatmulNbits,
  gather_matmul_nbits: lowerGatherMatmulNbits,
} satisfies Partial<Record<QuantizationName, Lowering>>;
