import { elementwiseReference } from '../elementwise/elementwise.reference.ts';
import type { OpReference } from '../op-reference.ts';
import { convIntegerReference } from './conv-integer.reference.ts';
import { dequantize } from './dequantize.ts';
import { matmulIntegerReference } from './matmul-integer.reference.ts';
import { gatherMatmulNbitsReference, matmulNbitsReference } from './matmul-nbits.reference.ts';
import type { QuantizationName } from './quantization-ops.ts';
import { quantize } from './quantize.ts';

export const QUANTIZATION_REFERENCES = {
  quantize: elementwiseReference(quantize),
  dequantize: elementwiseReference(dequantize),
  matmul_integer: matmulIntegerReference,
  conv_integer: convIntegerReference,
  matmul_nbits: matmulNbitsReference,
  gather_matmul_nbits: gatherMatmulNbitsReference,
} satisfies Record<QuantizationName, OpReference>;
