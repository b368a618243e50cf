import type { BlockFormat } from './block-format.ts';
import { IQ4_NL, IQ4_XS } from './iq4-blocks.ts';
import { Q2_K, Q3_K, Q4_K, Q5_K, Q6_K } from './k-blocks.ts';
import { Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, unpackHalves } from './legacy-blocks.ts';

/** Twice the values of float4e2m1 by their bits, counted from -128 so that they are codes of bytes. */
const CODES = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12].map((x) => x + 128);

/**
 * 32 elements of float4e2m1 with a power of two as their scale, in one byte before them (OCP Microscaling
 * Formats, MX v1.0). The scale is halved, because the codes are doubled.
 */
const MXFP4: BlockFormat = {
  elements: 32,
  bytes: 17,
  group: 32,
  bits: 8,
  zero: 128,
  hasMinimums: false,
  unpack(view, at, { codes, scales }) {
    scales[0] = 2 ** (view.getUint8(at) - 128);
    unpackHalves(view, at + 1, codes, { table: CODES });
  },
};

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
