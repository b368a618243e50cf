import { float16ToNumber } from '../../../../core/tensor/float16.ts';
import type { BlockFormat } from './block-format.ts';

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

export const Q4_0 = /* @__PURE__ */ legacyBlocks({ bits: 4, hasMinimums: false });
export const Q4_1 = /* @__PURE__ */ legacyBlocks({ bits: 4, hasMinimums: true });
/** K-quants have it in rows that are no multiple of 256. */
export const Q5_0 = /* @__PURE__ */ legacyBlocks({ bits: 5, hasMinimums: false });
export const Q5_1 = /* @__PURE__ */ legacyBlocks({ bits: 5, hasMinimums: true });

/** 32 signed bytes behind a float16 scale. */
export const Q8_0: BlockFormat = {
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
export function unpackHalves(
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
