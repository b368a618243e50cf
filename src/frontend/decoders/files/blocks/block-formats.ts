import type { BlockFormat } from './block-format.ts';
import { Q2_K, Q3_K, Q4_K, Q5_K, Q6_K } from './k-blocks.ts';
import { Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, unpackHalves } from './legacy-blocks.ts';
import { float16ToNumber } from '../../../../core/tensor/float16.ts';

/**
 * The numbers that the 16 codes stand for, plus 128: closer to each other near 0 (`kvalues_iq4nl`
 * of ggml).
 */
const IQ4_CODES = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113].map(
  (x) => x + 128,
);

/** Laid out as Q4_0, with codes that are not evenly spaced. */
const IQ4_NL: BlockFormat = {
  elements: 32,
  bytes: 18,
  group: 32,
  bits: 8,
  zero: 128,
  hasMinimums: false,
  unpack(view, at, { codes, scales }) {
    scales[0] = float16ToNumber(view.getUint16(at, true));
    unpackHalves(view, at + 2, codes, { table: IQ4_CODES });
  },
};

/**
 * 256 such codes in 8 groups: the float16 scale of scales, then 8 scales of 6 bits around 32, their two high bits in 2 bytes and
 * the low ones in 4.
 */
const IQ4_XS: BlockFormat = {
  elements: 256,
  bytes: 136,
  group: 32,
  bits: 8,
  zero: 128,
  hasMinimums: false,
  unpack(view, at, { codes, scales }) {
    const scale = float16ToNumber(view.getUint16(at, true));
    const high = view.getUint16(at + 2, true);
    for (let i = 0; i < 8; i++) {
      const low = (view.getUint8(at + 4 + (i >> 1)) >> (4 * (i & 1))) & 15;
      scales[i] = scale * ((low | (((high >> (2 * i)) & 3) << 4)) - 32);
      unpackHalves(view, at + 8 + 16 * i, codes, { first: 32 * i, table: IQ4_CODES });
    }
  },
};

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
