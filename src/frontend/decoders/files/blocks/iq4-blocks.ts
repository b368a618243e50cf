import { float16ToNumber } from '../../../../core/tensor/float16.ts';
import type { BlockFormat } from './block-format.ts';
import { unpackHalves } from './legacy-blocks.ts';

/**
 * The numbers that the 16 codes stand for, plus 128: closer to each other near 0 (`kvalues_iq4nl`
 * of ggml).
 */
const CODES = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113].map(
  (x) => x + 128,
);

/** Laid out as Q4_0, with codes that are not evenly spaced. */
export const IQ4_NL: BlockFormat = {
  elements: 32,
  bytes: 18,
  group: 32,
  bits: 8,
  zero: 128,
  hasMinimums: false,
  unpack(view, at, { codes, scales }) {
    scales[0] = float16ToNumber(view.getUint16(at, true));
    unpackHalves(view, at + 2, codes, { table: CODES });
  },
};

/**
 * 256 such codes in 8 groups: the float16 scale of scales, then 8 scales of 6 bits around 32, their two high bits in 2 bytes and
 * the low ones in 4.
 */
export const IQ4_XS: BlockFormat = {
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
      unpackHalves(view, at + 8 + 16 * i, codes, { first: 32 * i, table: CODES });
    }
  },
};
