import type { BlockFormat } from './block-format.ts';
import { unpackHalves } from './legacy-blocks.ts';

/** Twice the values of float4e2m1 by their bits, counted from -128 so that they are codes of bytes. */
const CODES = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12].map((x) => x + 128);

/**
 * 32 elements of float4e2m1 with a power of two as their scale, in one byte before them (OCP Microscaling
 * Formats, MX v1.0). The scale is halved, because the codes are doubled.
 */
export const MXFP4: BlockFormat = {
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
