import type { OpDefinition } from '../define-op.ts';
import { dequantize } from './dequantize.ts';
import { quantize } from './quantize.ts';

export const QUANTIZATION_OPS: readonly OpDefinition[] = [quantize, dequantize];
