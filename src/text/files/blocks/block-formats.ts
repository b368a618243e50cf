import type { BlockFormat } from './block-format.ts';
import { IQ4_NL, IQ4_XS } from './iq4-blocks.ts';
import { Q2_K, Q3_K, Q4_K, Q5_K, Q6_K } from './k-blocks.ts';
import { Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 } from './legacy-blocks.ts';
import { MXFP4 } from './mxfp4.ts';

const BLOCK_FORMATS: Readonly<Record<string, BlockFormat>> = {
  Q4_0,
  Q4_1,
  Q5_0,
  Q5_1,
  Q8_0,
  Q2_K,
  Q3_K,
  Q4_K,
  Q5_K,
  Q6_K,
  IQ4_NL,
  IQ4_XS,
  MXFP4,
};

const FLOATS = ['F32', 'F16', 'BF16'];

/** The types of stored tensors that Weft reads. */
export const READABLE_TYPES: readonly string[] = [...FLOATS, ...Object.keys(BLOCK_FORMATS)];

/** The blocks of a type of stored tensors; undefined where its elements are numbers of their own. */
export function blockFormat(type: string): BlockFormat | undefined {
  return Object.hasOwn(BLOCK_FORMATS, type) ? BLOCK_FORMATS[type] : undefined;
}
