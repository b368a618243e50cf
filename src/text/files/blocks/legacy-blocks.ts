import { float16ToNumber } from '../../../core/float16.ts';
import type { BlockFormat } from './block-format.ts';

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
    for (let i = 0; i < 16; i++) {
      const byte = view.getUint8(at + 2 + i);
      codes[i] = byte & 15;
      codes[i + 16] = byte >> 4;
    }
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
