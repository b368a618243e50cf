import { float16ToNumber } from '../../../core/float16.ts';
import type { BlockFormat, UnpackedBlock } from './block-format.ts';

/** 32 codes of 4 bits behind a float16 scale: the first half in low bits, the second in high ones. */
export const Q4_0: BlockFormat = {
  elements: 32,
  bytes: 18,
  group: 32,
  bits: 4,
  zero: 8,
  hasMinimums: false,
  unpack(view, at, { codes, scales }) {
    scales[0] = float16ToNumber(view.getUint16(at, true));
    unpackHalves(view, at + 2, codes);
  },
};

/** As Q4_0, with a float16 behind the scale that is added to each element: a minimum with the other sign. */
export const Q4_1: BlockFormat = {
  elements: 32,
  bytes: 20,
  group: 32,
  bits: 4,
  zero: 0,
  hasMinimums: true,
  unpack(view, at, into) {
    unpackScaleAndMinimum(view, at, into);
    unpackHalves(view, at + 4, into.codes);
  },
};

/** As Q4_0, with a fifth bit of each code in 4 bytes between scale and codes. K-quants have it in rows that are no multiple of 256. */
export const Q5_0: BlockFormat = {
  elements: 32,
  bytes: 22,
  group: 32,
  bits: 8,
  zero: 16,
  hasMinimums: false,
  unpack(view, at, { codes, scales }) {
    scales[0] = float16ToNumber(view.getUint16(at, true));
    unpackHalves(view, at + 6, codes);
    addFifthBits(view, at + 2, codes);
  },
};

/** As Q4_1, with a fifth bit as in Q5_0. */
export const Q5_1: BlockFormat = {
  elements: 32,
  bytes: 24,
  group: 32,
  bits: 8,
  zero: 0,
  hasMinimums: true,
  unpack(view, at, into) {
    unpackScaleAndMinimum(view, at, into);
    unpackHalves(view, at + 8, into.codes);
    addFifthBits(view, at + 4, into.codes);
  },
};

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

/** The two halves of a block of 32 codes: the first in the low bits of 16 bytes, the second in the high ones. */
export function unpackHalves(view: DataView, at: number, codes: Uint8Array, first = 0): void {
  for (let i = 0; i < 16; i++) {
    const byte = view.getUint8(at + i);
    codes[first + i] = byte & 15;
    codes[first + i + 16] = byte >> 4;
  }
}

function unpackScaleAndMinimum(
  view: DataView,
  at: number,
  { scales, minimums }: UnpackedBlock,
): void {
  scales[0] = float16ToNumber(view.getUint16(at, true));
  minimums[0] = -float16ToNumber(view.getUint16(at + 2, true));
}

function addFifthBits(view: DataView, at: number, codes: Uint8Array): void {
  const bits = view.getUint32(at, true);
  for (let i = 0; i < 32; i++) codes[i] = (codes[i] ?? 0) + 16 * ((bits >>> i) & 1);
}
