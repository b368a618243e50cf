import type { BlockFormat } from './block-format.ts';
import { Q2_K, Q3_K, Q4_K, Q5_K, Q6_K } from './k-blocks.ts';
import { float16ToNumber } from '../../../../core/tensor/float16.ts';

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
