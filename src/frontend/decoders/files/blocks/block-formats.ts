import type { BlockFormat, UnpackedBlock } from './block-format.ts';
import { float16ToNumber } from '../../../../core/tensor/float16.ts';

/**
 * 256 codes of 2 bits in 16 groups: a scale and a minimum of 4 bits for each, 64 bytes of codes, then the float16 scales of scales
 * and of minimums.
 */
const Q2_K: BlockFormat = {
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
const Q3_K: BlockFormat = {
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
const Q4_K: BlockFormat = {
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
const Q5_K: BlockFormat = {
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
const Q6_K: BlockFormat = {
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

/** The layout of a block of 32 codes. */
interface LegacyFormat {
  readonly bits: 4 | 5;
  /** True if a float16 behind the scale is added to each element: a minimum with the other sign. */
  readonly hasMinimums: boolean;
}

/** A float16 scale, perhaps a minimum, the fifth bits of codes that have one in 4 bytes, and the others in 16. */
function legacyBlocks({ bits, hasMinimums }: LegacyFormat): BlockFormat {
  const highAt = hasMinimums ? 4 : 2;
  const codesAt = bits === 5 ? highAt + 4 : highAt;
  return {
    elements: 32,
    bytes: codesAt + 16,
    group: 32,
    bits: bits === 5 ? 8 : 4,
    zero: hasMinimums ? 0 : 2 ** (bits - 1),
    hasMinimums,
    unpack(view, at, { codes, scales, minimums }) {
      scales[0] = float16ToNumber(view.getUint16(at, true));
      if (hasMinimums) minimums[0] = -float16ToNumber(view.getUint16(at + 2, true));
      unpackHalves(view, at + codesAt, codes);
      if (bits === 4) return;
      const high = view.getUint32(at + highAt, true);
      for (let i = 0; i < 32; i++) codes[i] = (codes[i] ?? 0) + 16 * ((high >>> i) & 1);
    },
  };
}

const Q4_0 = /* @__PURE__ */ legacyBlocks({ bits: 4, hasMinimums: false });
const Q4_1 = /* @__PURE__ */ legacyBlocks({ bits: 4, hasMinimums: true });
/** K-quants have it in rows that are no multiple of 256. */
const Q5_0 = /* @__PURE__ */ legacyBlocks({ bits: 5, hasMinimums: false });
const Q5_1 = /* @__PURE__ */ legacyBlocks({ bits: 5, hasMinimums: true });

/** 32 signed bytes behind a float16 scale. */
const Q8_0: BlockFormat = {
  elements: 32,
  bytes: 34,
  group: 32,
  bits: 8,
  zero: 128,
  hasMinimums: false,
  unpack(view, at, { codes, scales }) {
    scales[0] = float16ToNumber(view.getUint16(at, true));
    for (let i = 0; i < 32; i++) codes[i] = view.getInt8(at + 2 + i) + 128;
  },
};

interface Halves {
  /** The index in `codes` at which the first code goes. Default 0. */
  readonly first?: number;
  /** The codes that those of the file stand for. */
  readonly table?: readonly number[];
}

/** 32 codes of 4 bits: the first half in the low bits of 16 bytes, the second in the high ones. */
function unpackHalves(
  view: DataView,
  at: number,
  codes: Uint8Array,
  { first = 0, table }: Halves = {},
): void {
  for (let i = 0; i < 16; i++) {
    const byte = view.getUint8(at + i);
    const [low, high] = [byte & 15, byte >> 4];
    codes[first + i] = table?.[low] ?? low;
    codes[first + i + 16] = table?.[high] ?? high;
  }
}

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
