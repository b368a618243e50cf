import { float16ToNumber } from '../../../../core/tensor/float16.ts';
import type { BlockFormat, UnpackedBlock } from './block-format.ts';

/**
 * 256 codes of 2 bits in 16 groups: a scale and a minimum of 4 bits for each, 64 bytes of codes, then the float16 scales of scales
 * and of minimums.
 */
export const Q2_K: BlockFormat = {
  elements: 256,
  bytes: 84,
  group: 16,
  bits: 4,
  zero: 0,
  hasMinimums: true,
  unpack(view, at, { codes, scales, minimums }) {
    const scale = float16ToNumber(view.getUint16(at + 80, true));
    const least = float16ToNumber(view.getUint16(at + 82, true));
    for (let i = 0; i < 16; i++) {
      const byte = view.getUint8(at + i);
      scales[i] = scale * (byte & 15);
      minimums[i] = least * (byte >> 4);
    }
    for (let i = 0; i < 256; i++) codes[i] = twoBits(view, at + 16, i);
  },
};

/**
 * 256 codes of 3 bits in 16 groups: 32 bytes with the third bit of 8 codes each, 64 of the lower ones, 16 scales of 6 bits around
 * 32 in 12 bytes, then the float16 scale of scales.
 */
export const Q3_K: BlockFormat = {
  elements: 256,
  bytes: 110,
  group: 16,
  bits: 4,
  zero: 4,
  hasMinimums: false,
  unpack(view, at, { codes, scales }) {
    const scale = float16ToNumber(view.getUint16(at + 108, true));
    const byte = (i: number): number => view.getUint8(at + 96 + i);
    for (let i = 0; i < 16; i++) {
      const low = (byte(i & 7) >> (4 * (i >> 3))) & 15;
      const high = (byte(8 + (i & 3)) >> (2 * (i >> 2))) & 3;
      scales[i] = scale * ((low | (high << 4)) - 32);
    }
    for (let i = 0; i < 256; i++) {
      const high = (view.getUint8(at + (i & 31)) >> (i >> 5)) & 1;
      codes[i] = twoBits(view, at + 32, i) + 4 * high;
    }
  },
};

/**
 * 256 codes of 4 bits in 8 groups: a float16 scale of scales and one of minimums, 8 scales and 8 minimums of
 * 6 bits in 12 bytes, then codes, 64 to each 32 bytes, the first 32 in low bits.
 */
export const Q4_K: BlockFormat = {
  elements: 256,
  bytes: 144,
  group: 32,
  bits: 4,
  zero: 0,
  hasMinimums: true,
  unpack(view, at, into) {
    unpackScales(view, at, into);
    unpackNibbles(view, at + 16, into.codes);
  },
};

/**
 * Blocks as of Q4_K, with a fifth bit of each code: 32 bytes between scales and codes hold one bit
 * of 8 codes each.
 */
export const Q5_K: BlockFormat = {
  elements: 256,
  bytes: 176,
  group: 32,
  bits: 8,
  zero: 0,
  hasMinimums: true,
  unpack(view, at, into) {
    unpackScales(view, at, into);
    const { codes } = into;
    unpackNibbles(view, at + 48, codes);
    for (let i = 0; i < 256; i++) {
      const high = (view.getUint8(at + 16 + (i & 31)) >> (i >> 5)) & 1;
      codes[i] = (codes[i] ?? 0) + 16 * high;
    }
  },
};

/**
 * 256 codes of 6 bits in 16 groups: 128 bytes of low bits, 64 of the two high ones, 16 signed scales, then
 * the float16 scale of scales.
 */
export const Q6_K: BlockFormat = {
  elements: 256,
  bytes: 210,
  group: 16,
  bits: 8,
  zero: 32,
  hasMinimums: false,
  unpack(view, at, { codes, scales }) {
    const scale = float16ToNumber(view.getUint16(at + 208, true));
    for (let i = 0; i < 16; i++) scales[i] = scale * view.getInt8(at + 192 + i);
    for (let i = 0; i < 256; i++) {
      // Halves of 128 codes, in each of them four quarters of 32.
      const [half, quarter, place] = [i >> 7, (i >> 5) & 3, i & 31];
      const low = view.getUint8(at + 64 * half + 32 * (quarter & 1) + place);
      const high = view.getUint8(at + 128 + 32 * half + place);
      codes[i] = ((low >> (4 * (quarter >> 1))) & 15) | (((high >> (2 * quarter)) & 3) << 4);
    }
  },
};

/** Scales and minimums of 8 groups: those of the last four have their two high bits in the bytes of the first. */
function unpackScales(view: DataView, at: number, { scales, minimums }: UnpackedBlock): void {
  const scale = float16ToNumber(view.getUint16(at, true));
  const least = float16ToNumber(view.getUint16(at + 2, true));
  const byte = (i: number): number => view.getUint8(at + 4 + i);
  for (let i = 0; i < 4; i++) {
    scales[i] = scale * (byte(i) & 63);
    minimums[i] = least * (byte(i + 4) & 63);
    scales[i + 4] = scale * ((byte(i + 8) & 15) | ((byte(i) >> 6) << 4));
    minimums[i + 4] = least * ((byte(i + 8) >> 4) | ((byte(i + 4) >> 6) << 4));
  }
}

function unpackNibbles(view: DataView, at: number, codes: Uint8Array): void {
  for (let i = 0; i < 128; i++) {
    const byte = view.getUint8(at + i);
    const first = 64 * (i >> 5) + (i & 31);
    codes[first] = byte & 15;
    codes[first + 32] = byte >> 4;
  }
}

/** Halves of 128 codes in 32 bytes, of which each holds one of each quarter, two bits from the low ones up. */
function twoBits(view: DataView, at: number, i: number): number {
  return (view.getUint8(at + 32 * (i >> 7) + (i & 31)) >> (2 * ((i >> 5) & 3))) & 3;
}
